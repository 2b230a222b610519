//! One way of a connection: pieces come in, wait for their time, and go out in the order in which they came.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::net::Shutdown;
use std::rc::Rc;
use std::sync::atomic::Ordering;

use pileup_pacer::clock::now;
use socket2::SockRef;
use tokio::net::TcpStream;

use crate::link::piece;
use crate::local::{Local, PIECE};
use crate::path::{Path, UP};
use crate::trace::Note;
use crate::wire::{self, Pipe};

/// Pieces taken in before others get their turn.
const TURNS: usize = 8;

/// Bytes taken in at a time from which on a stream goes through a pipe, and below which it no longer does.
const MANY: usize = 128 * 1024;
const FEW: usize = 16 * 1024;

/// Why a connection ends before both of its ways do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// An end has reset it.
    Broken,
    /// As many bytes have passed as were to pass.
    Mark,
}

/// Something on its way.
struct Piece {
    /// When it is there.
    due: i64,
    /// What: bytes, and how many of them are out; or the end of the stream.
    what: What,
}

enum What {
    Bytes(Box<[u8]>, usize),
    /// So many bytes, in the pipe of the way.
    Piped(usize),
    End,
    Reset,
}

impl What {
    /// So many bytes more are out.
    fn forget(&mut self, size: usize) {
        match self {
            Self::Bytes(_, at) => *at += size,
            Self::Piped(left) => *left -= size,
            Self::End | Self::Reset => {}
        }
    }
}

/// What a way waits for.
enum Event {
    /// The first piece is due.
    Due,
    /// More can be read.
    Readable,
    /// More can be written.
    Writable,
    /// The line takes more.
    Free,
}

/// One way of a connection.
pub(crate) struct Flow {
    here: Rc<Local>,
    note: Note,
    way: usize,
    number: u64,
    /// What comes before counts as sent then, ns: over the distance the client would not be connected yet.
    sent: i64,
    queue: RefCell<VecDeque<Piece>>,
    queued: Cell<u64>,
    /// When the last piece is there, ns: nothing overtakes.
    last: Cell<i64>,
    pieces: Cell<u64>,
    /// Bytes that are out.
    out: Cell<u64>,
    /// Whether nothing more comes in.
    ended: Cell<bool>,
    /// Whether the other end takes nothing at the moment.
    blocked: Cell<bool>,
    /// Through which a stream goes that nothing holds up.
    pipe: RefCell<Option<Pipe>>,
    /// By how much the last piece of a question was late that has no answer yet, ns: both ways share it.
    asked: Rc<Cell<Option<i64>>>,
    /// Since when the other end takes something, ns: before, it is not the relay that is late.
    open: Cell<i64>,
}

impl Flow {
    /// Of the connection of this number, whose client counts as connected at `sent` (ns).
    pub(crate) fn new(
        here: Rc<Local>,
        note: Note,
        way: usize,
        (number, sent): (u64, i64),
        asked: Rc<Cell<Option<i64>>>,
    ) -> Self {
        Self {
            here,
            note,
            way,
            number,
            sent,
            queue: RefCell::default(),
            queued: Cell::new(0),
            last: Cell::new(0),
            pieces: Cell::new(0),
            out: Cell::new(0),
            ended: Cell::new(false),
            blocked: Cell::new(false),
            pipe: RefCell::default(),
            asked,
            open: Cell::new(0),
        }
    }

    /// Take in what comes, forever: nobody is there yet to pass it on to.
    pub(crate) async fn gather(&self, from: &TcpStream) -> Infallible {
        loop {
            if self.ended.get() || self.queued.get() >= self.here.shared.path().window {
                std::future::pending::<()>().await;
            }
            let _ = from.readable().await;
            self.read(from, None, &self.here.shared.path());
        }
    }

    /// Pass on until the end of the stream is out, or so many bytes are where there is a `mark`.
    pub(crate) async fn run(&self, from: &TcpStream, to: &TcpStream, mark: Option<u64>) -> Result<(), Ended> {
        self.open.set(now());
        loop {
            let event = self.next(from, to, &self.here.shared.path()).await;
            let path = self.here.shared.path(); // it may have changed meanwhile
            match event {
                Event::Readable if mark.is_none() => self.read(from, Some(to), &path),
                Event::Readable => self.read(from, None, &path),
                Event::Writable => {
                    self.blocked.set(false);
                    self.open.set(now());
                }
                Event::Free => {}
                Event::Due => {
                    if mark.is_some_and(|mark| self.out.get() >= mark) {
                        return Err(Ended::Mark);
                    }
                    if self.write(to, mark)? {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Take in and forget what comes, until the end of the stream.
    pub(crate) async fn swallow(&self, from: &TcpStream) {
        loop {
            let _ = from.readable().await;
            match from.try_read(&mut self.here.scratch.borrow_mut()) {
                Ok(0) => return,
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => return,
                _ => {}
            }
        }
    }

    async fn next(&self, from: &TcpStream, to: &TcpStream, path: &Path) -> Event {
        let due = self.queue.borrow().front().map(|piece| piece.due);
        let opens = self.here.links[self.way].opens(path.bandwidth);
        // Nothing is under way where nothing holds it up: what the other end does not take stays with the sender.
        let full = if path.holds_up(self.way) { self.queued.get() >= path.window } else { self.blocked.get() };
        let wants = !self.ended.get() && !full;
        let open = opens <= now();
        tokio::select! {
            biased;
            () = self.here.pacer.sleep_until(due.unwrap_or(0)), if due.is_some() && !self.blocked.get() => Event::Due,
            _ = to.writable(), if self.blocked.get() => Event::Writable,
            _ = from.readable(), if wants && open => Event::Readable,
            () = self.here.pacer.sleep_until(opens), if wants && !open => Event::Free,
        }
    }

    /// Take in what has come; what is due at once goes straight on, where there is somebody `to` pass it on to.
    fn read(&self, from: &TcpStream, to: Option<&TcpStream>, path: &Path) {
        if let Some(to) = to.filter(|_| self.is_open(path))
            && let Some(pipe) = self.pipe.take()
        {
            return self.pass(from, to, pipe, path);
        }
        let mut scratch = self.here.scratch.borrow_mut();
        let most = piece(path.bandwidth, PIECE);
        let mut taken = 0;
        for _ in 0..TURNS {
            match wire::read(from, &mut scratch[..most]) {
                Ok((0, _)) => return self.end(What::End, path),
                Ok((size, came)) => {
                    taken += size;
                    if !self.take(&scratch[..size], came, to, path) || size < most || path.bandwidth.is_some() {
                        break;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => return self.end(What::Reset, path),
            }
        }
        if taken >= MANY && to.is_some() && self.is_open(path) {
            self.pipe.replace(Pipe::new(&self.here.pipes));
        }
    }

    /// Whether what comes now may go on at once, and nobody wants to see it.
    fn is_open(&self, path: &Path) -> bool {
        let free = !path.holds_up(self.way) && !self.note.keeps() && self.queue.borrow().is_empty();
        free && self.last.get().max(self.sent) <= now()
    }

    /// Pass on what comes by the pipe, without a copy, until little comes.
    fn pass(&self, from: &TcpStream, to: &TcpStream, pipe: Pipe, path: &Path) {
        let mut taken = 0;
        for _ in 0..TURNS {
            match pipe.fill(from) {
                Ok(0) => return self.end(What::End, path),
                Ok(size) => {
                    taken += size;
                    if !self.drain(&pipe, to, size) {
                        self.pipe.replace(Some(pipe));
                        return;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => return self.end(What::Reset, path),
            }
        }
        if taken >= FEW {
            self.pipe.replace(Some(pipe));
        }
    }

    /// Pass on so many bytes that have come into the pipe. False when the other end does not take all: the rest waits in the pipe.
    fn drain(&self, pipe: &Pipe, to: &TcpStream, size: usize) -> bool {
        let time = now();
        self.last.set(time);
        self.note.piece(&self.here.shared.counts, self.way, (time, time), size, &[]);
        let mut left = size;
        while left > 0 {
            let Ok(passed) = pipe.drain(to, left) else {
                self.queued.set(self.queued.get() + left as u64);
                self.queue.borrow_mut().push_back(Piece { due: time, what: What::Piped(left) });
                return false; // the next try finds out why
            };
            left -= passed;
            self.passed(passed);
        }
        true
    }

    fn drained(&self, to: &TcpStream, size: usize) -> io::Result<usize> {
        self.pipe.borrow().as_ref().map_or(Err(io::ErrorKind::BrokenPipe.into()), |pipe| pipe.drain(to, size))
    }

    /// Take in a piece that came at `came`; false when no more should be taken at the moment.
    fn take(&self, bytes: &[u8], came: i64, to: Option<&TcpStream>, path: &Path) -> bool {
        let due = self.due(bytes.len(), came, path);
        self.note.piece(&self.here.shared.counts, self.way, (came, due), bytes.len(), bytes);
        let mut passed = 0;
        if let Some(to) = to.filter(|_| self.queue.borrow().is_empty() && due <= now()) {
            passed = to.try_write(bytes).unwrap_or(0);
            self.passed(passed);
            self.late(due);
        }
        if passed < bytes.len() {
            self.queued.set(self.queued.get() + (bytes.len() - passed) as u64);
            self.queue.borrow_mut().push_back(Piece { due, what: What::Bytes(bytes[passed..].into(), 0) });
        }
        passed == bytes.len() || (path.holds_up(self.way) && self.queued.get() < path.window)
    }

    /// When bytes that are here at `time` are there.
    fn due(&self, bytes: usize, time: i64, path: &Path) -> i64 {
        let k = self.pieces.get();
        self.pieces.set(k + 1);
        let left = self.here.links[self.way].book(bytes, path.bandwidth, time.max(self.sent));
        let due = left + path.draw(self.way, self.here.shared.seed, self.number, k);
        let due = due.max(self.last.get());
        self.last.set(due);
        due
    }

    fn end(&self, what: What, path: &Path) {
        let due = self.due(0, now(), path) + i64::try_from(path.slow_close).unwrap_or(0);
        self.ended.set(true);
        self.queue.borrow_mut().push_back(Piece { due, what });
    }

    fn passed(&self, bytes: usize) {
        self.out.set(self.out.get() + bytes as u64);
        self.here.shared.counts.bytes[self.way].fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Note that a piece which was due then has been passed on now.
    fn late(&self, due: i64) {
        let late = (now() - due.max(self.open.get())).max(0);
        if self.way == UP {
            self.asked.set(Some(late));
        } else if let Some(before) = self.asked.take() {
            self.here.shared.counts.late(before + late);
        }
    }

    /// Bring out what is due, at most up to the `mark`; true when that was the end.
    fn write(&self, to: &TcpStream, mark: Option<u64>) -> Result<bool, Ended> {
        let mut queue = self.queue.borrow_mut();
        let time = now();
        while let Some(first) = queue.front_mut().filter(|first| first.due <= time) {
            let (tried, left) = match &first.what {
                What::End => {
                    let _ = SockRef::from(to).shutdown(Shutdown::Write);
                    return Ok(true);
                }
                What::Reset => return Err(Ended::Broken),
                What::Bytes(bytes, at) => {
                    let most = mark.map_or(u64::MAX, |mark| mark - self.out.get());
                    if most == 0 {
                        return Err(Ended::Mark);
                    }
                    let rest = &bytes[*at..];
                    let some = rest.len().min(usize::try_from(most).unwrap_or(usize::MAX));
                    (to.try_write(&rest[..some]), rest.len())
                }
                What::Piped(size) => (self.drained(to, *size), *size),
            };
            match tried {
                Ok(size) => {
                    self.passed(size);
                    self.queued.set(self.queued.get() - size as u64);
                    if size < left {
                        first.what.forget(size);
                    } else {
                        self.late(first.due);
                        queue.pop_front();
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.blocked.set(true);
                    return Ok(false);
                }
                Err(_) => return Err(Ended::Broken),
            }
        }
        Ok(false)
    }
}
