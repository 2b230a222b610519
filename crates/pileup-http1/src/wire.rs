//! HTTP/1.1 on the wire: one request out, one answer in, on a stream of bytes. Nothing is kept that is not looked at.
//!
//! Framing follows RFC 9112; what is bounded is named here: the head of an answer, its headers, extensions and trailers of chunks.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, StatusCode};
use pileup_net::stream::{Rest, Stream};
use pileup_pacer::clock::now;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::time::Sleep;

use crate::chunks::{Chunks, Next};
use crate::error::Broken;
use crate::head::{Before, HEAD};
use crate::upload::Upload;

/// Most that is read at once.
const MOST: usize = 128 * 1024;
/// The same while few connections of the process do so: fewer and larger reads cost half the CPU time.
const MOST_OF_FEW: usize = 1024 * 1024;
/// How many those are.
const FEW: usize = 64;
/// From this size of the buffer on we are woken only when it can be filled, as long as twice as much is to come.
const WAKE: usize = 64 * 1024;
/// But at the latest when so much is there: a server that has to wait until a full buffer has been read is slower.
const WAKE_MOST: usize = MOST_OF_FEW / 2;
/// What is read at once to begin with; doubled whenever a read has filled it, up to `MOST` or `MOST_OF_FEW`.
const FIRST: usize = 2048;
/// Most memory that an idle connection keeps for reading.
const IDLE: usize = 16 * 1024;

/// How an answer begins that says that no request has come, but for its minor version.
const LATE: &[u8; 12] = b"HTTP/1.? 408";

/// How long to wait for the server's answer before the body is sent without it, as curl does.
const PATIENCE: Duration = Duration::from_secs(1);

/// What is looked at of the head of an answer.
#[derive(Debug, Default)]
pub(crate) struct Head {
    /// Status.
    pub(crate) status: StatusCode,
    /// Size that it states.
    pub(crate) stated: Option<u64>,
    /// The headers that are looked at later: Content-Range, Content-Type, Digest, Location.
    pub(crate) headers: Option<Box<HeaderMap>>,
}

/// How a body ends.
#[derive(Debug)]
enum Body {
    /// After so many more bytes.
    Sized(u64),
    /// As its chunks say.
    Chunked(Chunks),
    /// With the connection.
    Open,
}

/// A request on its way out.
struct Outgoing {
    /// Its head; kept to be used again.
    head: Vec<u8>,
    /// How much of it has left.
    at: usize,
    body: Upload,
    /// The piece of the body that is being written.
    piece: Bytes,
    /// Whether all has left, or the rest need not.
    done: bool,
    /// Whether the stream may still hold some of it back.
    held: bool,
    /// The body waits for the server's word, this long.
    waits: Option<Pin<Box<Sleep>>>,
    /// Since when it does, or did, ns since the epoch.
    asked: i64,
    /// When it was sent without such a word, ns since the epoch.
    unheard: Option<i64>,
}

/// Leave to have a large buffer, given back at the end: their memory does not grow with the number of clients.
struct Ticket;

static TICKETS: AtomicUsize = AtomicUsize::new(0);

impl Ticket {
    fn take() -> Option<Self> {
        let taken = |count: usize| (count < FEW).then_some(count + 1);
        TICKETS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken).ok().map(|_| Self)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        TICKETS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What an exchange needs of a connection.
pub(crate) trait Duplex: AsyncRead + Unpin {
    /// Write of two pieces, one behind the other, what can be written now.
    fn poll_write(&mut self, context: &mut Context<'_>, one: &[u8], other: &[u8]) -> Poll<io::Result<usize>>;
    /// Wait for something to read; there may be nothing.
    fn poll_readable(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>>;
    /// Bring out what is still kept back.
    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>>;
    /// What has come while nothing was asked; `begin` gets the first bytes of it.
    fn rest(&mut self, context: &mut Context<'_>, begin: &mut [u8]) -> Rest;
    /// Bytes that have left and that the other end has not acknowledged.
    fn unacknowledged(&self) -> u64;
    /// Wake the reader only when so many bytes are there, or the stream ends: there must be as many to come.
    fn wake_at(&mut self, bytes: usize);
    /// Say that nothing more comes, as far as that can be said at once.
    fn say_end(&mut self, context: &mut Context<'_>);
}

impl Duplex for Stream {
    fn poll_write(&mut self, context: &mut Context<'_>, one: &[u8], other: &[u8]) -> Poll<io::Result<usize>> {
        Self::poll_write(self, context, one, other)
    }

    fn poll_readable(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Self::poll_readable(self, context)
    }

    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Self::poll_flush(self, context)
    }

    fn rest(&mut self, context: &mut Context<'_>, begin: &mut [u8]) -> Rest {
        Self::rest(self, context, begin)
    }

    fn unacknowledged(&self) -> u64 {
        Self::unacknowledged(self)
    }

    fn wake_at(&mut self, bytes: usize) {
        Self::wake_at(self, bytes);
    }

    fn say_end(&mut self, context: &mut Context<'_>) {
        Self::say_end(self, context);
    }
}

/// The two ends of one exchange after another.
pub(crate) struct Wire<S = Stream> {
    stream: S,
    input: Vec<u8>,
    begin: usize,
    end: usize,
    /// Whether the last read has filled the buffer, so that there may be more than fits.
    filled: bool,
    /// How many bytes wake us.
    wakes_at: usize,
    /// Leave to have a larger buffer than others.
    ticket: Option<Ticket>,
    /// Bytes of the heads of this answer that only said that it goes on.
    passed: usize,
    outgoing: Outgoing,
    body: Body,
    /// Length that the head of this answer states beside its chunks, and what they have had so far.
    beside: Option<u64>,
    chunked: u64,
    /// Whether the connection can take another request after this answer.
    keep: bool,
    /// Bytes of this request that have left.
    left: u64,
    /// Whether a byte of this answer has come.
    begun: bool,
    /// What the answer is to be read for.
    wanted: Wanted,
    /// The head before.
    before: Before,
}

/// What an answer is to be read for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wanted {
    /// Whether it is one without a body, whatever its head says (RFC 9110, 9.3.2).
    pub(crate) bodiless: bool,
    /// Further headers of it that are wanted.
    pub(crate) keeps: &'static [HeaderName],
}

impl<S: Duplex> Wire<S> {
    /// On a stream that is open.
    pub(crate) fn new(stream: S) -> Self {
        let outgoing = Outgoing {
            head: Vec::new(),
            at: 0,
            body: Upload::Empty,
            piece: Bytes::new(),
            done: true,
            held: false,
            waits: None,
            asked: 0,
            unheard: None,
        };
        Self {
            stream,
            input: Vec::new(),
            begin: 0,
            end: 0,
            filled: true,
            wakes_at: 1,
            ticket: None,
            passed: 0,
            outgoing,
            body: Body::Sized(0),
            beside: None,
            chunked: 0,
            keep: true,
            left: 0,
            begun: false,
            wanted: Wanted::default(),
            before: Before::default(),
        }
    }

    /// Whether a byte of the request has left.
    pub(crate) fn left(&self) -> bool {
        self.left > 0
    }

    /// Whether the other end has not read the request, of which no answer has come. An end in order acknowledges what had come before it: what it
    /// does not cannot have been read. A reset is what a system sends for a process that closes with something unread, or that is no more there.
    pub(crate) fn was_not_read(&self, broken: &Broken) -> bool {
        match broken {
            Broken::Io(cause) if cause.kind() == io::ErrorKind::ConnectionReset => true,
            _ => broken.is_end() && self.stream.unacknowledged() >= self.left,
        }
    }

    /// Since when the body is held back until the server says that it will have it, ns since the epoch; none: it is not.
    pub(crate) fn holds(&self) -> Option<i64> {
        self.outgoing.waits.as_ref().map(|_| self.outgoing.asked)
    }

    /// The time in which the body was held back in vain, reported once: (begin, end) in ns since the epoch.
    pub(crate) fn take_wait(&mut self) -> Option<(i64, i64)> {
        self.outgoing.unheard.take().map(|end| (self.outgoing.asked, end))
    }

    /// Whether a byte of the answer has come.
    pub(crate) fn begun(&self) -> bool {
        self.begun
    }

    /// What has come since the exchange before has ended so that another can follow.
    pub(crate) fn poll_rest(&mut self, context: &mut Context<'_>) -> Rest {
        if !self.is_over() {
            return Rest::Closed;
        }
        let mut begin = [0; LATE.len()];
        match self.stream.rest(context, &mut begin) {
            // that it had waited too long for a request is what a server may say before it closes (RFC 9110, 15.5.9)
            Rest::Unasked(_) if begin[..7] == LATE[..7] && begin[8..] == LATE[8..] => Rest::Closed,
            rest => rest,
        }
    }

    /// Whether some of the body is there already.
    pub(crate) fn has_more(&self) -> bool {
        self.begin < self.end
    }

    /// Whether more has come than the answer, which has ended.
    pub(crate) fn has_surplus(&self) -> bool {
        matches!(self.body, Body::Sized(0)) && self.begin < self.end
    }

    /// End the connection: read what is left (otherwise a close would be a reset), and signal that nothing more comes.
    pub(crate) fn end(&mut self, context: &mut Context<'_>) {
        let mut unread = [0; FIRST];
        let _ = Pin::new(&mut self.stream).poll_read(context, &mut ReadBuf::new(&mut unread));
        self.stream.say_end(context);
    }

    /// Whether the exchange has ended so that another could follow.
    pub(crate) fn is_over(&self) -> bool {
        self.keep && self.outgoing.done && !self.outgoing.held && matches!(self.body, Body::Sized(0))
    }

    /// Whether the exchange has, and nothing is left to find out about its answer.
    pub(crate) fn is_read(&self) -> bool {
        self.beside.is_none() && self.is_over()
    }

    /// Let go what only a large answer needed.
    pub(crate) fn rest(&mut self) {
        self.wake_at(1);
        if self.input.len() > IDLE {
            self.input = Vec::new();
            self.ticket = None;
            (self.begin, self.end) = (0, 0);
        }
    }

    /// Begin a request: `write` puts its head into an empty buffer. `asks`: its body waits until the server says that it
    /// will have it.
    pub(crate) fn begin(&mut self, write: impl FnOnce(&mut Vec<u8>), body: Upload, wanted: Wanted, asks: bool) {
        self.outgoing.head.clear();
        write(&mut self.outgoing.head);
        self.outgoing.at = 0;
        self.outgoing.body = body;
        self.outgoing.piece = Bytes::new();
        self.outgoing.done = false;
        self.outgoing.waits = asks.then(|| Box::pin(tokio::time::sleep(PATIENCE)));
        (self.outgoing.asked, self.outgoing.unheard) = (if asks { now() } else { 0 }, None);
        (self.left, self.begun, self.wanted) = (0, false, wanted);
        self.passed = 0;
        self.body = Body::Open;
    }

    /// Write what can be written.
    ///
    /// A server that will not have an upload says why and closes: its answer is there to be read when writing fails. So writing that fails so
    /// only ends; reading then finds the answer, or the same error.
    #[inline]
    fn poll_send(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        let out = &mut self.outgoing;
        while !out.done {
            let head = &out.head[out.at..];
            if head.is_empty() && out.waits.as_mut().is_some_and(|waits| waits.as_mut().poll(context).is_pending()) {
                break;
            }
            if out.piece.is_empty() && (head.is_empty() || out.waits.is_none()) {
                out.unheard = out.waits.take().map(|_| now()).or(out.unheard);
                if !matches!(out.body, Upload::Empty) {
                    out.piece = out.body.next().unwrap_or_default();
                }
            }
            if head.is_empty() && out.piece.is_empty() {
                out.done = true;
                break;
            }
            let written = match self.stream.poll_write(context, head, &out.piece) {
                Poll::Pending => return Ok(()),
                Poll::Ready(Ok(0)) => return Err(io::ErrorKind::WriteZero.into()),
                Poll::Ready(Ok(written)) => written,
                Poll::Ready(Err(cause)) => {
                    (out.done, self.keep) = (true, false);
                    let heard = matches!(cause.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset);
                    return if heard { Ok(()) } else { Err(cause) };
                }
            };
            self.left += written as u64;
            let of_head = written.min(head.len());
            out.at += of_head;
            if written > of_head {
                out.piece = out.piece.slice(written - of_head..);
            }
        }
        // TLS keeps what it has encrypted until it is flushed; plain TCP has nothing to do here
        let flushed = self.stream.poll_flush(context);
        self.outgoing.held = flushed.is_pending();
        if let Poll::Ready(Err(cause)) = flushed
            && !matches!(cause.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
        {
            return Err(cause);
        }
        Ok(())
    }

    /// Read more into the buffer; an end is an error.
    #[inline]
    fn poll_fill(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Broken>> {
        self.make_room();
        let room = self.input.len();
        let large = room >= WAKE && matches!(self.body, Body::Sized(left) if left >= 2 * room as u64);
        self.wake_at(if large { room.min(WAKE_MOST) } else { 1 });
        let mut buffer = ReadBuf::new(&mut self.input[self.end..]);
        let done = ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer));
        let read = buffer.filled().len();
        self.filled = buffer.remaining() == 0;
        Poll::Ready(match done {
            Err(cause) => Err(Broken::Io(cause)),
            Ok(()) if read == 0 => Err(Broken::end()),
            Ok(()) => {
                self.end += read;
                self.begun = true;
                Ok(())
            }
        })
    }

    /// Be woken only when so many bytes are there: fewer and larger reads of a large body.
    fn wake_at(&mut self, bytes: usize) {
        if self.wakes_at != bytes {
            self.wakes_at = bytes;
            self.stream.wake_at(bytes);
        }
    }

    /// Make room behind what is there, more than before when the last read has filled it: at most `MOST` in all, or
    /// `MOST_OF_FEW`.
    fn make_room(&mut self) {
        if self.begin == self.end {
            (self.begin, self.end) = (0, 0);
        } else if self.begin > 0 && self.end == self.input.len() {
            self.input.copy_within(self.begin..self.end, 0);
            (self.begin, self.end) = (0, self.end - self.begin);
        }
        if self.end == self.input.len() || (self.filled && self.end == 0) {
            let length = self.input.len() * 2;
            if length > MOST && self.ticket.is_none() {
                self.ticket = Ticket::take();
            }
            let most = if self.ticket.is_some() { MOST_OF_FEW } else { MOST };
            self.input.resize(length.clamp(FIRST, most), 0);
        }
    }

    /// Send, and read the head of the answer. Heads that only say that it goes on (1xx) are skipped.
    pub(crate) fn poll_head(&mut self, context: &mut Context<'_>) -> Poll<Result<Head, Broken>> {
        if !self.outgoing.done || self.outgoing.held {
            self.poll_send(context).map_err(Broken::Io)?;
            if self.begin == self.end {
                // the answer takes its time: until then there is nothing to try
                ready!(self.stream.poll_readable(context)).map_err(Broken::Io)?;
            }
        }
        loop {
            while self.begin < self.end {
                let there = &self.input[self.begin..self.end];
                let Some((length, status)) = self.before.read(there, self.wanted.keeps)? else { break };
                self.begin += length;
                if !(100..200).contains(&status) || status == 101 {
                    return Poll::Ready(self.take_head());
                }
                self.passed += length;
                if status == 100 && self.outgoing.waits.take().is_some() {
                    self.poll_send(context).map_err(Broken::Io)?;
                }
            }
            if self.passed + self.end - self.begin >= HEAD {
                return Poll::Ready(Err(Broken::TooLarge));
            }
            ready!(self.poll_fill(context))?;
        }
    }

    /// Take the head in that has just been read.
    fn take_head(&mut self) -> Result<Head, Broken> {
        let head = self.before.head();
        let status = StatusCode::from_u16(head.status).map_err(|_| Broken::NotHttp)?;
        self.keep = self.keep && head.keep && !head.closes && head.status != 101;
        if self.outgoing.waits.take().is_some() {
            // it answers without having seen the body, and does not want it
            (self.outgoing.done, self.keep) = (true, false);
        }
        (self.beside, self.chunked) = (head.stated.filter(|_| head.chunked), 0);
        self.body = if self.wanted.bodiless || matches!(head.status, 101 | 204 | 304) {
            Body::Sized(0)
        } else if head.coded {
            if head.chunked { Body::Chunked(Chunks::default()) } else { Body::Open }
        } else if let Some(stated) = head.stated {
            Body::Sized(stated)
        } else {
            Body::Open
        };
        if matches!(self.body, Body::Open) {
            self.keep = false;
        }
        let stated = if head.coded { None } else { head.stated };
        Ok(Head { status, stated, headers: head.headers.clone() })
    }

    /// The next piece of the body as a range of `bytes`; `None` at its end.
    pub(crate) fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<(usize, usize), Broken>>> {
        if !self.outgoing.done || self.outgoing.held {
            self.poll_send(context).map_err(Broken::Io)?;
        }
        loop {
            match self.next_piece() {
                Next::Piece(length) => {
                    let begin = self.begin;
                    self.begin += length;
                    return Poll::Ready(Some(Ok((begin, self.begin))));
                }
                Next::End => {
                    if self.beside.take().is_some_and(|stated| stated != self.chunked) {
                        self.keep = false;
                        return Poll::Ready(Some(Err(Broken::Contradiction)));
                    }
                    self.body = Body::Sized(0);
                    return Poll::Ready(None);
                }
                Next::Wrong => {
                    self.keep = false;
                    return Poll::Ready(Some(Err(Broken::NotHttp)));
                }
                Next::More => {}
            }
            if let Err(broken) = ready!(self.poll_fill(context)) {
                self.keep = false;
                if broken.is_end() && matches!(self.body, Body::Open) {
                    self.body = Body::Sized(0);
                    return Poll::Ready(None);
                }
                return Poll::Ready(Some(Err(broken)));
            }
        }
    }

    /// What of the buffer is body.
    fn next_piece(&mut self) -> Next {
        let there = &self.input[self.begin..self.end];
        match &mut self.body {
            Body::Sized(0) => Next::End,
            _ if there.is_empty() => Next::More,
            Body::Open => Next::Piece(there.len()),
            Body::Sized(left) => {
                let length = there.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= length as u64;
                Next::Piece(length)
            }
            Body::Chunked(chunks) => {
                let (skipped, next) = chunks.next(there);
                self.begin += skipped;
                if let Next::Piece(length) = next {
                    self.chunked += length as u64;
                }
                next
            }
        }
    }

    /// The bytes of a piece.
    pub(crate) fn bytes(&self, (begin, end): (usize, usize)) -> &[u8] {
        &self.input[begin..end]
    }
}
