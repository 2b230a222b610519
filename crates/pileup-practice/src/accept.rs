//! The thread of the server: listen, serve every connection in a task of its own, end in good order.

use std::cell::RefCell;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use pileup_pacer::{Pacer, Pacing, clock::now, tighten_timers};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinSet, LocalSet};
use tokio_rustls::TlsAcceptor;

use crate::Error;
use crate::log::Log;
use crate::server::Server;
use crate::settings::Settings;
use crate::wire::Wire;

/// How long what is under way may go on after the stop, ns.
const GRACE: i64 = 5_000_000_000;
/// Connections that may wait to be accepted.
const BACKLOG: u32 = 4096;

/// Whether the server shall stop.
pub(crate) type Stop = watch::Receiver<bool>;

/// Run the server in this thread until it is stopped. What it listens on, or why it cannot, is told first.
pub(crate) fn run(
    settings: &Settings,
    tls: Option<Arc<rustls::ServerConfig>>,
    log: &Rc<Log>,
    stop: &Stop,
    told: &SyncSender<Result<u16, Error>>,
) {
    tighten_timers();
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_io().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            let _ = told.send(Err(no_thread(&error)));
            return;
        }
    };
    let local = LocalSet::new();
    let listening = local.block_on(&runtime, async {
        let (listener, port) = listen(settings)?;
        let pacer = Pacer::new(Pacing::Normal).map_err(|error| no_thread(&error))?;
        Ok((listener, pacer, port))
    });
    let (listener, pacer) = match listening {
        Ok((listener, pacer, port)) => {
            let _ = told.send(Ok(port));
            (listener, pacer)
        }
        Err(error) => {
            let _ = told.send(Err(error));
            return;
        }
    };
    let server = Server::new(settings, pacer, Rc::clone(log));
    local.block_on(&runtime, serve(server, &listener, tls.map(TlsAcceptor::from), stop));
    // Tasks that outlived their time are dropped here; each writes its line.
    drop(local);
}

fn no_thread(error: &io::Error) -> Error {
    Error::System(format!(
        "the practice storage cannot start: {error}; expected a free descriptor and thread (close something)"
    ))
}

fn listen(settings: &Settings) -> Result<(TcpListener, u16), Error> {
    let (host, port) = (settings.host.as_str(), settings.port);
    let failed = |error: io::Error| {
        Error::System(match error.kind() {
            io::ErrorKind::AddrInUse => {
                format!("port {port} of {host} is taken; expected a free one (choose another, or 0 for any)")
            }
            io::ErrorKind::PermissionDenied => {
                format!(
                    "port {port} of {host} is not permitted; expected one above 1023 (choose another, or 0 for any)"
                )
            }
            _ => format!("cannot listen on {host}: {error}; expected an address of this machine (correct host)"),
        })
    };
    let address = (host, port).to_socket_addrs().map_err(failed)?.next();
    let address = address.ok_or_else(|| failed(io::ErrorKind::AddrNotAvailable.into()))?;
    bind(address).map_err(failed)
}

fn bind(address: SocketAddr) -> io::Result<(TcpListener, u16)> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?; // a port whose old connections still linger
    socket.bind(address)?;
    let listener = socket.listen(BACKLOG)?;
    let port = listener.local_addr()?.port();
    Ok((listener, port))
}

async fn serve(server: Rc<Server>, listener: &TcpListener, tls: Option<TlsAcceptor>, stop: &Stop) {
    let mut connections = JoinSet::new();
    let mut second = now() + 1_000_000_000;
    let mut stopped = stop.clone();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((tcp, _)) => {
                    let task = connection(Rc::clone(&server), tcp, tls.clone(), stop.clone());
                    connections.spawn_local(task);
                }
                // No descriptor left, or the peer has gone already: others may still come.
                Err(_) => server.pacer.sleep_until(now() + 10_000_000).await,
            },
            _ = stopped.wait_for(|stop| *stop) => break,
            () = server.pacer.sleep_until(second) => {
                second += 1_000_000_000;
                server.log.flush();
            }
            Some(_) = connections.join_next() => {}
        }
    }
    let mut end = pin!(server.pacer.sleep_until(now() + GRACE));
    loop {
        tokio::select! {
            next = connections.join_next() => if next.is_none() { return },
            () = &mut end => return,
        }
    }
}

async fn connection(server: Rc<Server>, tcp: TcpStream, tls: Option<TlsAcceptor>, stop: Stop) {
    if tcp.set_nodelay(true).is_err() {
        return;
    }
    match tls {
        None => talk(server, tcp, stop).await,
        Some(acceptor) => {
            let mut stopped = stop.clone();
            tokio::select! {
                stream = acceptor.accept(tcp) => if let Ok(stream) = stream { talk(server, stream, stop).await },
                _ = stopped.wait_for(|stop| *stop) => {}
            }
        }
    }
}

async fn talk<S: AsyncRead + AsyncWrite + Unpin + 'static>(server: Rc<Server>, stream: S, mut stop: Stop) {
    let current = Rc::new(RefCell::new(None));
    let wire = TokioIo::new(Wire::new(stream, Rc::clone(&current)));
    let service = service_fn(move |request| Rc::clone(&server).serve(&current, request));
    let mut builder = Builder::new();
    builder.header_read_timeout(None).max_buf_size(256 * 1024);
    let mut talk = pin!(builder.serve_connection(wire, service));
    tokio::select! {
        // An error is the client's leaving, or a body cut on purpose: the log has it.
        _ = &mut talk => return,
        _ = stop.wait_for(|stop| *stop) => talk.as_mut().graceful_shutdown(),
    }
    let _ = talk.await;
}
