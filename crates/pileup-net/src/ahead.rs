//! TCP that reads ahead below TLS: the library asks for 4 KiB at a time, and a large body would take a system call for each.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustix::net::RecvFlags;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;

/// What is read at once while much is to come.
pub(crate) const AHEAD: usize = 128 * 1024;

/// A connection, and what was read of it that nobody has asked for yet.
pub struct Ahead {
    tcp: TcpStream,
    /// Empty, with no memory of its own, while little is to come.
    buffer: Vec<u8>,
    begin: usize,
    end: usize,
    far: bool,
}

impl Ahead {
    /// On a connection, of which nothing is read ahead yet.
    pub(crate) fn new(tcp: TcpStream) -> Self {
        Self { tcp, buffer: Vec::new(), begin: 0, end: 0, far: false }
    }

    /// The connection.
    pub(crate) fn tcp(&self) -> &TcpStream {
        &self.tcp
    }

    /// Whether nothing was read ahead.
    pub(crate) fn is_empty(&self) -> bool {
        self.begin == self.end
    }

    /// Read ahead from now on, or no more.
    pub(crate) fn read_far(&mut self, far: bool) {
        self.far = far;
        self.let_go();
    }

    /// Give the memory back when nothing is in it and little is to come.
    fn let_go(&mut self) {
        if !self.far && self.is_empty() && self.buffer.capacity() > 0 {
            self.buffer = Vec::new();
        }
    }

    fn give(&mut self, into: &mut ReadBuf<'_>) {
        let length = into.remaining().min(self.end - self.begin);
        into.put_slice(&self.buffer[self.begin..self.begin + length]);
        self.begin += length;
        self.let_go();
    }
}

impl AsyncRead for Ahead {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let ahead = self.get_mut();
        if ahead.is_empty() && !ahead.far {
            return poll_receive(&ahead.tcp, context, into);
        }
        if ahead.is_empty() {
            ahead.buffer.resize(AHEAD, 0);
            let mut more = ReadBuf::new(&mut ahead.buffer);
            ready!(poll_receive(&ahead.tcp, context, &mut more))?;
            (ahead.begin, ahead.end) = (0, more.filled().len());
        }
        ahead.give(into);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Ahead {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().tcp).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().tcp).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.tcp.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().tcp).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().tcp).poll_shutdown(context)
    }
}

/// Read what is there. The system call itself, not that of the C library, which a thread may be cancelled in: getting ready for that is a
/// tenth of what a small read takes.
pub(crate) fn poll_receive(
    tcp: &TcpStream,
    context: &mut Context<'_>,
    buffer: &mut ReadBuf<'_>,
) -> Poll<io::Result<()>> {
    loop {
        ready!(tcp.poll_read_ready(context))?;
        let mut received = None;
        let done = tcp.try_io(Interest::READABLE, || {
            let room = buffer.initialize_unfilled();
            let read = rustix::net::recv(tcp, &mut *room, RecvFlags::empty())?.0;
            received = Some(read);
            // less than there is room for: the kernel has no more, and need not be asked again before it says so
            if 0 < read && read < room.len() { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(()) }
        });
        match (received, done) {
            (Some(read), _) => {
                buffer.advance(read);
                return Poll::Ready(Ok(()));
            }
            (None, Err(cause)) if cause.kind() == io::ErrorKind::WouldBlock => {}
            (None, done) => return Poll::Ready(done),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    #[test]
    fn bytes_come_in_order_whatever_is_read_ahead_and_the_end_is_seen() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let sent: Vec<u8> = (0..3 * AHEAD + 7).map(|at| (at % 251) as u8).collect();
            let address = listener.local_addr().unwrap();
            let (mine, theirs) = tokio::join!(TcpStream::connect(address), listener.accept());
            let mut theirs = theirs.unwrap().0;
            let copy = sent.clone();
            let writer = tokio::spawn(async move { theirs.write_all(&copy).await });
            let mut ahead = Ahead::new(mine.unwrap());
            let mut got = Vec::new();
            let mut small = [0; 1000];
            while got.len() < sent.len() {
                // off at the end, while what was read ahead is still there
                ahead.read_far((got.len() / 50_000) % 2 == 1 && got.len() + 5000 < sent.len());
                let read = ahead.read(&mut small).await.unwrap();
                got.extend_from_slice(&small[..read]);
            }
            assert!(got == sent);
            assert!(ahead.is_empty());
            assert_eq!(ahead.buffer.capacity(), 0, "memory is only kept while much is to come");
            writer.await.unwrap().unwrap();
            assert_eq!(ahead.read(&mut small).await.unwrap(), 0);
            ahead.read_far(true);
            assert_eq!(ahead.read(&mut small).await.unwrap(), 0);
        });
    }
}
