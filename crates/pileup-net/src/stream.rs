//! Bytes in both directions, encrypted or not.

use std::io;
use std::os::fd::AsRawFd;
use std::pin::Pin;
use std::task::{Context, Poll};

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use crate::ahead::{Ahead, poll_receive};
use crate::route::NoConnection;
use crate::tls::Trust;
use crate::words;

/// An open connection.
pub enum Stream {
    /// Plain TCP.
    Plain(TcpStream),
    /// TLS over it.
    Tls(Box<TlsStream<Ahead>>),
}

macro_rules! with_stream {
    ($self:expr, $stream:ident => $call:expr) => {
        match $self {
            Stream::Plain(inner) => {
                let $stream = Pin::new(inner);
                $call
            }
            Stream::Tls(inner) => {
                let $stream = Pin::new(inner.as_mut());
                $call
            }
        }
    };
}

impl Stream {
    /// Shake hands for TLS on a connection to the host of this name.
    ///
    /// # Errors
    /// Why there is no encrypted connection. The other end was reached.
    pub async fn encrypt(tcp: TcpStream, trust: &Trust, host: &str) -> Result<Self, NoConnection> {
        let reached = |words| NoConnection { words, unreachable: false, number: None };
        let name = Trust::name(host).map_err(|wrong| reached(wrong.into()))?;
        let stream = trust.connector().connect(name, Ahead::new(tcp)).await;
        Ok(Self::Tls(Box::new(stream.map_err(|cause| reached(words::connecting(&cause)))?)))
    }

    /// Whether it is encrypted.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        matches!(self, Self::Tls(_))
    }

    /// Write of two pieces, one behind the other, what can be written now.
    pub fn poll_write(&mut self, context: &mut Context<'_>, one: &[u8], other: &[u8]) -> Poll<io::Result<usize>> {
        if let (Self::Plain(inner), []) = (&*self, other) {
            // the kernel nearly always has room for a request: to get in line for it first costs more than to try
            match inner.try_io(Interest::WRITABLE, || Ok(rustix::net::send(inner, one, SendFlags::NOSIGNAL)?)) {
                Err(cause) if cause.kind() == io::ErrorKind::WouldBlock => {}
                done => return Poll::Ready(done),
            }
        }
        with_stream!(self, stream => match (one, other) {
            (one, []) => stream.poll_write(context, one),
            ([], other) => stream.poll_write(context, other),
            _ => stream.poll_write_vectored(context, &[io::IoSlice::new(one), io::IoSlice::new(other)]),
        })
    }

    /// Wait for something to read. Over TLS, which may have read it already, there may be nothing.
    pub fn poll_readable(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self {
            Self::Plain(inner) => inner.poll_read_ready(context),
            Self::Tls(_) => Poll::Ready(Ok(())),
        }
    }

    /// Bring out what is still kept back: TLS keeps what it has encrypted until it is flushed.
    pub fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        with_stream!(self, stream => stream.poll_flush(context))
    }

    /// Say that nothing more comes, as far as that can be said at once: over TLS a server takes an end without that for a fault.
    pub fn say_end(&mut self, context: &mut Context<'_>) {
        if let Self::Tls(inner) = self {
            let _ = Pin::new(inner.as_mut()).poll_shutdown(context);
        }
    }

    /// Wake the reader only when so many bytes are there (SO_RCVLOWAT), or the stream ends: fewer and larger reads. Who sets it must be sure that
    /// twice as many come. Over TLS a quarter of them wakes it, for a part may have been read already; more than one reads ahead.
    pub fn wake_at(&mut self, bytes: usize) {
        let (tcp, bytes) = match self {
            Self::Plain(tcp) => (&*tcp, bytes),
            Self::Tls(tls) => {
                let ahead = tls.get_mut().0;
                ahead.read_far(bytes > 1);
                (ahead.tcp(), (bytes / 4).max(1))
            }
        };
        let value = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
        let size = size_of::<libc::c_int>() as libc::socklen_t;
        // SAFETY: the descriptor is open, the value is what this option takes. Where it fails reads are only smaller.
        unsafe {
            let value = (&raw const value).cast();
            libc::setsockopt(tcp.as_raw_fd(), libc::SOL_SOCKET, libc::SO_RCVLOWAT, value, size);
        }
    }

    /// What has come while nothing was asked. The kernel is asked, not the loop, which may not have heard of it yet: what is sent on a connection
    /// that its server has closed is lost. `begin` gets the first bytes of what has come; nothing of it is taken away from plain TCP.
    pub fn rest(&mut self, context: &mut Context<'_>, begin: &mut [u8]) -> Rest {
        match self {
            Self::Plain(inner) => match peek(inner, begin) {
                Err(Errno::WOULDBLOCK) => Rest::Silent,
                Ok(0) | Err(_) => Rest::Closed,
                Ok(there) => Rest::Unasked(there),
            },
            Self::Tls(inner) => {
                let ahead = inner.get_ref().0;
                if ahead.is_empty() && peek(ahead.tcp(), begin).is_ok_and(|there| there == 0) {
                    return Rest::Closed;
                }
                let mut buffer = ReadBuf::new(begin);
                match Pin::new(inner.as_mut()).poll_read(context, &mut buffer) {
                    Poll::Pending => Rest::Silent,
                    Poll::Ready(Ok(())) if !buffer.filled().is_empty() => Rest::Unasked(buffer.filled().len()),
                    Poll::Ready(_) => Rest::Closed,
                }
            }
        }
    }

    /// Bytes that were written and that the other end has not acknowledged (SIOCOUTQ), encrypted as they are: what its machine has not
    /// acknowledged before it closed the connection cannot have been read there. 0 where the system does not say.
    #[must_use]
    pub fn unacknowledged(&self) -> u64 {
        let tcp = match self {
            Self::Plain(inner) => inner,
            Self::Tls(inner) => inner.get_ref().0.tcp(),
        };
        let mut bytes: libc::c_int = 0;
        // SAFETY: the descriptor is open, and this request writes one int.
        let done = unsafe { libc::ioctl(tcp.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
        if done == 0 { u64::try_from(bytes).unwrap_or(0) } else { 0 }
    }
}

/// What has come on a connection at rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Nothing: it can be used.
    Silent,
    /// Its end, or an error.
    Closed,
    /// So many bytes at least that nobody has asked for.
    Unasked(usize),
}

/// Look at what has come without taking it; never waits.
fn peek(tcp: &TcpStream, into: &mut [u8]) -> Result<usize, Errno> {
    rustix::net::recv(tcp, into, RecvFlags::PEEK | RecvFlags::DONTWAIT).map(|(read, _)| read)
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(tcp) => poll_receive(tcp, context, buffer),
            Self::Tls(tls) => Pin::new(tls.as_mut()).poll_read(context, buffer),
        }
    }
}
