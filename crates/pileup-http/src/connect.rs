//! Connections: name, TCP, TLS, and the exchange of one request for one answer.

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use pileup_engine::client::Fault;
use rustls_pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::address::Address;
use crate::error;
use crate::upload::Upload;
use crate::wire::{Broken, Head, Wire};

/// How to reach the server; shared by all clients of a factory.
pub(crate) struct Route {
    address: Address,
    tls: Option<(TlsConnector, ServerName<'static>)>,
    /// The addresses of the host, asked for once: a name server must not be part of every figure.
    resolved: Mutex<Option<Arc<[SocketAddr]>>>,
}

impl Route {
    /// The way to this address.
    ///
    /// # Errors
    /// When the host cannot be checked against a certificate.
    pub(crate) fn new(address: Address, config: Option<rustls::ClientConfig>) -> Result<Self, String> {
        let tls = match config {
            None => None,
            Some(config) => {
                let name = ServerName::try_from(address.host.clone()).map_err(|_| {
                    format!("{:?} is no host name; expected a DNS name or an address (correct the url)", address.host)
                })?;
                Some((TlsConnector::from(Arc::new(config)), name))
            }
        };
        Ok(Self { address, tls, resolved: Mutex::new(None) })
    }

    /// Connect. Clients with different numbers begin with different addresses of the host and try the others in turn.
    pub(crate) async fn connect(&self, client: u32) -> Result<Link, Fault> {
        let addresses = self.resolve().await?;
        let first = client as usize % addresses.len();
        let mut last = Fault::failed("name not found");
        for turn in 0..addresses.len() {
            match self.connect_to(addresses[(first + turn) % addresses.len()]).await {
                Ok(link) => return Ok(link),
                Err(fault) => last = fault,
            }
        }
        Err(last)
    }

    async fn resolve(&self) -> Result<Arc<[SocketAddr]>, Fault> {
        let known = self.resolved.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(addresses) = known {
            return Ok(addresses);
        }
        let found = tokio::net::lookup_host((self.address.host.as_str(), self.address.port)).await;
        let addresses: Arc<[SocketAddr]> = found.map(Iterator::collect).unwrap_or_default();
        if addresses.is_empty() {
            return Err(Fault::failed("name not found"));
        }
        *self.resolved.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&addresses));
        Ok(addresses)
    }

    async fn connect_to(&self, address: SocketAddr) -> Result<Link, Fault> {
        let tcp = TcpStream::connect(address).await.map_err(|cause| error::connecting(&cause))?;
        tcp.set_nodelay(true).map_err(|cause| error::connecting(&cause))?;
        let stream = match &self.tls {
            None => Stream::Plain(tcp),
            Some((connector, name)) => {
                let stream = connector.connect(name.clone(), tcp).await.map_err(|cause| error::connecting(&cause))?;
                Stream::Tls(Box::new(stream))
            }
        };
        Ok(Link::new(stream))
    }
}

/// Bytes in both directions, encrypted or not.
pub(crate) enum Stream {
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

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        with_stream!(self.get_mut(), stream => stream.poll_read(context, buffer))
    }
}

impl Stream {
    /// Write of two pieces, one behind the other, what can be written now.
    pub(crate) fn poll_write(
        &mut self,
        context: &mut Context<'_>,
        one: &[u8],
        other: &[u8],
    ) -> Poll<io::Result<usize>> {
        with_stream!(self, stream => match (one, other) {
            (one, []) => stream.poll_write(context, one),
            ([], other) => stream.poll_write(context, other),
            _ => stream.poll_write_vectored(context, &[io::IoSlice::new(one), io::IoSlice::new(other)]),
        })
    }

    /// Whether nothing has come, not even an end. Plain TCP is not asked where the loop has not heard of anything.
    pub(crate) fn is_silent(&mut self, context: &mut Context<'_>) -> bool {
        let mut byte = [0];
        match self {
            Self::Plain(inner) => {
                inner.try_read(&mut byte).is_err_and(|cause| cause.kind() == io::ErrorKind::WouldBlock)
            }
            Self::Tls(inner) => Pin::new(inner.as_mut()).poll_read(context, &mut ReadBuf::new(&mut byte)).is_pending(),
        }
    }

    /// Bring out what is still kept back.
    pub(crate) fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        with_stream!(self, stream => stream.poll_flush(context))
    }
}

/// Why there is no answer.
pub(crate) enum NoAnswer {
    /// The request did not leave, or not a byte of an answer came on a connection that had been idle before.
    Stale {
        /// Whether the request may have reached the server.
        left: bool,
        /// What to say when it is not tried again.
        fault: Fault,
    },
    /// Anything else.
    Final(Fault),
}

/// A connection. Nothing runs beside: it moves only while its client waits on it.
pub(crate) struct Link {
    wire: Box<Wire>,
    /// Whether it has carried an exchange before.
    used: bool,
}

impl Link {
    fn new(stream: Stream) -> Self {
        Self { wire: Box::new(Wire::new(stream)), used: false }
    }

    /// Look whether the connection can take a request now: a server that closed it has usually told so by then.
    pub(crate) async fn is_ready(&mut self) -> bool {
        poll_fn(|context| Poll::Ready(self.wire.poll_idle(context))).await
    }

    /// Let go what only a large answer needed.
    pub(crate) fn rest(&mut self) {
        self.wire.rest();
    }

    /// Send a request, its head written by `write`, and wait for the head of its answer, which is without a body where `bodiless`. `watch`
    /// is called whenever something moved.
    pub(crate) async fn exchange(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>),
        body: Upload,
        bodiless: bool,
        mut watch: impl FnMut(),
    ) -> Result<Head, NoAnswer> {
        let idle = std::mem::replace(&mut self.used, true);
        let wire = &mut self.wire;
        wire.begin(write, body, bodiless);
        let answer = poll_fn(|context| {
            let answer = wire.poll_head(context);
            watch();
            answer
        })
        .await;
        answer.map_err(|broken| {
            let (left, begun) = (wire.left(), wire.begun());
            let fault = error::no_answer(&broken, begun);
            if !left || (idle && !begun) { NoAnswer::Stale { left, fault } } else { NoAnswer::Final(fault) }
        })
    }

    /// The next piece of the body; `None` at its end.
    pub(crate) async fn piece(&mut self) -> Option<Result<&[u8], Broken>> {
        let wire = &mut self.wire;
        let found = poll_fn(|context| wire.poll_piece(context)).await?;
        Some(found.map(|piece| self.wire.bytes(piece)))
    }
}
