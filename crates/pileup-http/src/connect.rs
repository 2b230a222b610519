//! Connections: name, TCP, TLS, and the exchange of one request for one answer on hyper's low-level HTTP/1 connection.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::client::conn::http1::{Builder, Connection, SendRequest};
use hyper_util::rt::TokioIo;
use pileup_engine::client::Fault;
use rustls_pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::address::Address;
use crate::error;
use crate::upload::Upload;

/// Longest head of an answer, and most that is read at once.
const HEAD: usize = 64 * 1024;

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
        Link::new(stream).await
    }
}

/// Bytes in both directions, encrypted or not; counts what was received.
struct Counted {
    stream: Stream,
    received: Rc<Cell<u64>>,
}

enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

macro_rules! with_stream {
    ($self:ident, $stream:ident => $call:expr) => {
        match &mut $self.get_mut().stream {
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

impl AsyncRead for Counted {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let received = Rc::clone(&self.received);
        let done = with_stream!(self, stream => stream.poll_read(context, buffer));
        received.set(received.get() + (buffer.filled().len() - before) as u64);
        done
    }
}

impl AsyncWrite for Counted {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        let done = with_stream!(self, stream => stream.poll_write(context, data));
        hear_out(done, context)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        data: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let done = with_stream!(self, stream => stream.poll_write_vectored(context, data));
        hear_out(done, context)
    }

    fn is_write_vectored(&self) -> bool {
        match &self.stream {
            Stream::Plain(inner) => inner.is_write_vectored(),
            Stream::Tls(inner) => inner.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        with_stream!(self, stream => stream.poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        with_stream!(self, stream => stream.poll_shutdown(context))
    }
}

/// A server that will not have an upload says why and closes: its answer is there to be read when writing fails. So writing that fails
/// only waits; reading then finds the answer, or the same error.
fn hear_out(done: Poll<io::Result<usize>>, context: &Context<'_>) -> Poll<io::Result<usize>> {
    match &done {
        Poll::Ready(Err(cause))
            if matches!(cause.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset) =>
        {
            context.waker().wake_by_ref();
            Poll::Pending
        }
        _ => done,
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
    sender: SendRequest<Upload>,
    driver: Pin<Box<Connection<TokioIo<Counted>, Upload>>>,
    ended: bool,
    received: Rc<Cell<u64>>,
    /// Whether it has carried an exchange before.
    used: bool,
}

impl Link {
    async fn new(stream: Stream) -> Result<Self, Fault> {
        let received = Rc::new(Cell::new(0));
        let io = TokioIo::new(Counted { stream, received: Rc::clone(&received) });
        let (sender, driver) = Builder::new()
            .max_buf_size(HEAD)
            .handshake(io)
            .await
            .map_err(|cause| Fault::failed(format!("connection cannot be used: {cause}")))?;
        Ok(Self { sender, driver: Box::pin(driver), ended: false, received, used: false })
    }

    fn drive(&mut self, context: &mut Context<'_>) {
        if !self.ended {
            self.ended = self.driver.as_mut().poll(context).is_ready();
        }
    }

    /// Wait for something that the connection will bring about.
    pub(crate) async fn during<F: Future>(&mut self, future: F) -> F::Output {
        let mut future = pin!(future);
        poll_fn(|context| {
            self.drive(context);
            future.as_mut().poll(context)
        })
        .await
    }

    /// Look whether the connection can take a request now: a server that closed it has usually told so by then.
    pub(crate) async fn is_ready(&mut self) -> bool {
        poll_fn(|context| {
            self.drive(context);
            Poll::Ready(!self.ended && matches!(self.sender.poll_ready(context), Poll::Ready(Ok(()))))
        })
        .await
    }

    /// Send the request and wait for the head of its answer. `watch` is called whenever something moved.
    pub(crate) async fn exchange(
        &mut self,
        request: Request<Upload>,
        mut watch: impl FnMut(),
    ) -> Result<Response<Incoming>, NoAnswer> {
        let before = self.received.get();
        let idle = std::mem::replace(&mut self.used, true);
        let answer = {
            let mut answer = pin!(self.sender.try_send_request(request));
            let (driver, ended) = (&mut self.driver, &mut self.ended);
            poll_fn(|context| {
                if !*ended {
                    *ended = driver.as_mut().poll(context).is_ready();
                }
                watch();
                answer.as_mut().poll(context)
            })
            .await
        };
        answer.map_err(|mut trouble| {
            let left = trouble.take_message().is_none();
            let begun = self.received.get() != before;
            let fault = error::no_answer(trouble.error(), begun);
            if !left || (idle && !begun) { NoAnswer::Stale { left, fault } } else { NoAnswer::Final(fault) }
        })
    }
}
