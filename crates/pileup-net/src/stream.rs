//! Bytes in both directions, encrypted or not.

use std::io;
use std::os::fd::AsRawFd;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use crate::tls::Trust;
use crate::words;

/// An open connection.
pub enum Stream {
    /// Plain TCP.
    Plain(TcpStream),
    /// TLS over it.
    Tls(Box<TlsStream<TcpStream>>),
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
    /// What went wrong, in words.
    pub async fn encrypt(tcp: TcpStream, trust: &Trust, host: &str) -> Result<Self, String> {
        let stream = trust.connector().connect(Trust::name(host)?, tcp).await;
        Ok(Self::Tls(Box::new(stream.map_err(|cause| words::connecting(&cause))?)))
    }

    /// Whether it is encrypted.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        matches!(self, Self::Tls(_))
    }

    /// Write of two pieces, one behind the other, what can be written now.
    pub fn poll_write(&mut self, context: &mut Context<'_>, one: &[u8], other: &[u8]) -> Poll<io::Result<usize>> {
        with_stream!(self, stream => match (one, other) {
            (one, []) => stream.poll_write(context, one),
            ([], other) => stream.poll_write(context, other),
            _ => stream.poll_write_vectored(context, &[io::IoSlice::new(one), io::IoSlice::new(other)]),
        })
    }

    /// Bring out what is still kept back: TLS keeps what it has encrypted until it is told.
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
    /// so many come. Over TLS, where bytes come in records, this does nothing.
    pub fn wake_at(&self, bytes: usize) {
        if let Self::Plain(inner) = self {
            let value = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
            let size = size_of::<libc::c_int>() as libc::socklen_t;
            // SAFETY: the descriptor is open, the value is what this option takes. Where it fails reads are only smaller.
            unsafe {
                let value = (&raw const value).cast();
                libc::setsockopt(inner.as_raw_fd(), libc::SOL_SOCKET, libc::SO_RCVLOWAT, value, size);
            }
        }
    }

    /// Whether nothing has come, not even an end. Plain TCP is not asked where the loop has not heard of anything.
    pub fn is_silent(&mut self, context: &mut Context<'_>) -> bool {
        let mut byte = [0];
        match self {
            Self::Plain(inner) => {
                inner.try_read(&mut byte).is_err_and(|cause| cause.kind() == io::ErrorKind::WouldBlock)
            }
            Self::Tls(inner) => Pin::new(inner.as_mut()).poll_read(context, &mut ReadBuf::new(&mut byte)).is_pending(),
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        with_stream!(self.get_mut(), stream => stream.poll_read(context, buffer))
    }
}
