//! Bytes to and from a server: what is written waits in one buffer, what is read comes piece by piece, and nothing of it is kept.
//!
//! Heads and short answers pass through the connection's `Input`. Data goes into one large buffer that all connections of a
//! thread share, for it is looked at before anything else happens on that thread: memory does not grow with clients, and stays in the caches.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pileup_net::stream::{Rest, Stream};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::TcpStream;

use crate::frame::Parsed;
use crate::input::Input;

/// What is read at once of data.
const LARGE: usize = 512 * 1024;
/// How much data must be there for the reader to be woken, while more than twice of it is to come. Half of what is read at once: a server that has
/// to wait until all of that has been read is slower.
const WAKE: usize = LARGE / 2;
/// Most memory that an idle connection keeps for writing.
const IDLE: usize = 4096;

/// Status of a message that nobody has asked for, as it is in a head.
const ATTENTION: [u8; 2] = 4001u16.to_be_bytes();

thread_local! {
    /// Where data lands.
    static DATA: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Why an answer did not come, or not to its end.
#[derive(Debug)]
pub(crate) enum Broken {
    /// It is none of the protocol.
    Garbage(&'static str),
    /// The stream has ended, or failed.
    Io(io::Error),
}

impl From<io::Error> for Broken {
    fn from(cause: io::Error) -> Self {
        Self::Io(cause)
    }
}

/// The two ends of a connection.
pub(crate) struct Wire {
    stream: Stream,
    input: Input,
    output: Vec<u8>,
    /// How much of it has left.
    sent: usize,
    /// Whether something that was written may still be kept back, encrypted.
    held: bool,
    /// Whether writing has failed: what is still in the output need not leave.
    mute: bool,
    /// Bytes that have left since `begin`.
    left: u64,
    /// Whether a byte has come since `begin`.
    begun: bool,
    /// How many bytes must be there for the reader to be woken.
    wakes_at: usize,
}

impl Wire {
    /// On a stream that is open.
    pub(crate) fn new(stream: Stream) -> Self {
        Self {
            stream,
            input: Input::new(),
            output: Vec::new(),
            sent: 0,
            held: false,
            mute: false,
            left: 0,
            begun: false,
            wakes_at: 1,
        }
    }

    /// The TCP connection below, before anything is encrypted on it; none where more has come than was read.
    pub(crate) fn into_tcp(self) -> Option<TcpStream> {
        match self.stream {
            Stream::Plain(tcp) if self.input.length() == 0 => Some(tcp),
            _ => None,
        }
    }

    /// An operation begins.
    pub(crate) fn begin(&mut self) {
        (self.left, self.begun) = (0, false);
    }

    /// Whether a byte has left since `begin`.
    pub(crate) fn left(&self) -> bool {
        self.left > 0
    }

    /// Whether a byte has come since `begin`.
    pub(crate) fn begun(&self) -> bool {
        self.begun
    }

    /// Where to write what should leave; it does with the next flush or read.
    pub(crate) fn output(&mut self) -> &mut Vec<u8> {
        &mut self.output
    }

    /// What has come since all was read. A message that a server may send by itself (kXR_attn) only ends the connection here; it is the server's
    /// right to send it. Only with `look` the kernel is asked whether more has come than was read.
    pub(crate) async fn at_rest(&mut self, look: bool) -> Rest {
        if self.mute || self.held || !self.output.is_empty() {
            return Rest::Closed;
        }
        let mut begin = [0; 4];
        let rest = match self.input.length() {
            0 if !look => Rest::Silent,
            0 => poll_fn(|context| Poll::Ready(self.stream.rest(context, &mut begin))).await,
            there => {
                let known = there.min(begin.len());
                begin[..known].copy_from_slice(&self.input.unseen()[..known]);
                Rest::Unasked(there)
            }
        };
        let message = matches!(rest, Rest::Unasked(there) if there < 4 || begin[2..] == ATTENTION);
        if message { Rest::Closed } else { rest }
    }

    /// Whether the server has not read what has left since `begin`, of which no answer has come. An end in order acknowledges what had come before
    /// it: what it does not cannot have been read. A reset is what a system sends for a process that closes with something unread, or that is no
    /// more there.
    pub(crate) fn was_not_read(&self, broken: &Broken) -> bool {
        match broken {
            Broken::Io(cause) if cause.kind() == io::ErrorKind::ConnectionReset => true,
            Broken::Io(cause) if cause.kind() == io::ErrorKind::UnexpectedEof => {
                self.stream.unacknowledged() >= self.left
            }
            _ => false,
        }
    }

    /// Say that nothing more comes.
    pub(crate) async fn end(&mut self) {
        poll_fn(|context| {
            self.stream.say_end(context);
            Poll::Ready(())
        })
        .await;
    }

    /// Data is asked for: read more at once.
    pub(crate) fn widen(&mut self) {
        self.input.widen();
    }

    /// Let memory go that only data, or much output, needed.
    pub(crate) fn rest(&mut self) {
        self.input.narrow();
        if self.output.capacity() > IDLE {
            self.output = Vec::new();
        }
    }

    /// Write all that waits.
    pub(crate) async fn flush(&mut self) -> Result<(), Broken> {
        poll_fn(|context| self.poll_send(context)).await.map_err(Broken::Io)
    }

    /// A server that will have no more says why and closes: that is there to be read when writing fails. So writing that fails so only ends;
    /// reading then finds the answer, or the same error.
    fn poll_send(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let heard =
            |cause: &io::Error| matches!(cause.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset);
        while self.sent < self.output.len() && !self.mute {
            match ready!(self.stream.poll_write(context, &self.output[self.sent..], &[])) {
                Ok(0) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Ok(written) => {
                    self.sent += written;
                    self.left += written as u64;
                    self.held = true;
                }
                Err(cause) if heard(&cause) => self.mute = true,
                Err(cause) => return Poll::Ready(Err(cause)),
            }
        }
        self.output.clear();
        self.sent = 0;
        // this may have to wait, too: for room, or for the loop to look after others first
        let flushed = ready!(self.stream.poll_flush(context));
        self.held = false;
        match flushed {
            Err(cause) if !heard(&cause) => Poll::Ready(Err(cause)),
            _ => Poll::Ready(Ok(())),
        }
    }

    /// Write what can be written while something is read.
    fn send_some(&mut self, context: &mut Context<'_>) -> Result<(), Broken> {
        if (self.held || !self.output.is_empty())
            && let Poll::Ready(Err(cause)) = self.poll_send(context)
        {
            return Err(cause.into());
        }
        Ok(())
    }

    /// Read some of what comes next.
    fn poll_fill(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Broken>> {
        self.send_some(context)?;
        let mut buffer = ReadBuf::new(self.input.room());
        let done = ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer));
        let read = buffer.filled().len();
        self.input.came(read);
        Poll::Ready(self.came(done, read))
    }

    fn came(&mut self, done: io::Result<()>, read: usize) -> Result<(), Broken> {
        done?;
        self.begun |= read > 0;
        if read == 0 { Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()) } else { Ok(()) }
    }

    /// The next bytes, few.
    pub(crate) async fn take<const N: usize>(&mut self) -> Result<[u8; N], Broken> {
        while self.input.length() < N {
            poll_fn(|context| self.poll_fill(context)).await?;
        }
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.input.unseen()[..N]);
        self.input.seen(N);
        Ok(bytes)
    }

    /// The next `length` bytes, handed over in pieces as they come.
    pub(crate) async fn body(&mut self, length: u64, mut each: impl FnMut(&[u8]) -> Parsed<()>) -> Result<(), Broken> {
        let mut left = length;
        while left > 0 {
            let most = usize::try_from(left).unwrap_or(usize::MAX);
            let there = self.input.length().min(most);
            if there > 0 {
                each(&self.input.unseen()[..there]).map_err(Broken::Garbage)?;
                self.input.seen(there);
                left -= there as u64;
            } else {
                self.wake_at(if most >= 2 * WAKE { WAKE } else { 1 });
                if most < self.input.size() {
                    poll_fn(|context| self.poll_fill(context)).await?;
                } else {
                    left -= poll_fn(|context| self.poll_data(context, most, &mut each)).await? as u64;
                }
            }
        }
        self.wake_at(1);
        Ok(())
    }

    /// Be woken only when so many bytes are there.
    fn wake_at(&mut self, bytes: usize) {
        if self.wakes_at != bytes {
            self.wakes_at = bytes;
            self.stream.wake_at(bytes);
        }
    }

    /// Read data into the buffer of the thread and hand it over; how much it was.
    fn poll_data(
        &mut self,
        context: &mut Context<'_>,
        most: usize,
        each: &mut impl FnMut(&[u8]) -> Parsed<()>,
    ) -> Poll<Result<usize, Broken>> {
        self.send_some(context)?;
        DATA.with_borrow_mut(|data| {
            if data.is_empty() {
                *data = vec![0; LARGE];
            }
            let mut buffer = ReadBuf::new(&mut data[..most.min(LARGE)]);
            let done = ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer));
            let piece = buffer.filled();
            self.came(done, piece.len())?;
            each(piece).map_err(Broken::Garbage)?;
            Poll::Ready(Ok(piece.len()))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::AsyncWriteExt;
    use tokio::net::TcpListener;
    use tokio::time::{sleep, timeout};

    use super::*;

    async fn connected() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (mine, theirs) = tokio::join!(TcpStream::connect(address), listener.accept());
        (mine.unwrap(), theirs.unwrap().0)
    }

    #[test]
    fn what_is_short_comes_with_its_head_once_data_is_asked_for() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (mine, mut theirs) = connected().await;
            let mut wire = Wire::new(Stream::Plain(mine));
            wire.widen();
            theirs.write_all(&[7; 8 + 1000]).await.unwrap();
            assert_eq!(wire.take().await.unwrap(), [7; 8]);
            assert_eq!(wire.input.unseen(), [7; 1000]);
            wire.rest();
            assert_eq!(wire.input.unseen(), [7; 1000], "nothing is lost");
        });
    }

    /// The last bytes of a body come after all others were read: few, and more than a buffer.
    #[test]
    fn the_last_bytes_wake_the_reader_however_few_they_are() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (mine, mut theirs) = connected().await;
            let mut stream = Stream::Plain(mine);
            stream.wake_at(4 * LARGE); // makes room for as much in the system
            stream.wake_at(1);
            let mut wire = Wire::new(stream);
            wire.widen();
            let small = wire.input.size();
            for last in [1, 856, small - 1, small, WAKE - 1, WAKE, LARGE] {
                let first = 2 * WAKE;
                theirs.write_all(&vec![7; first]).await.unwrap();
                let Stream::Plain(tcp) = &wire.stream else { unreachable!() };
                let mut there = vec![0; first];
                let all_there = async { while tcp.peek(&mut there).await.unwrap() < first {} };
                timeout(Duration::from_secs(5), all_there).await.expect("the system takes so much");
                let mut got = 0;
                let rest = async {
                    sleep(Duration::from_millis(20)).await;
                    theirs.write_all(&vec![7; last]).await.unwrap();
                };
                let count = |piece: &[u8]| {
                    got += piece.len();
                    Ok(())
                };
                let read = timeout(Duration::from_secs(5), wire.body((first + last) as u64, count));
                let (read, ()) = tokio::join!(read, rest);
                read.unwrap_or_else(|_| panic!("the last {last} bytes woke nobody")).unwrap();
                assert_eq!(got, first + last);
            }
        });
    }
}
