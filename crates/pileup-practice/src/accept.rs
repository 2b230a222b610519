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
use tokio::task::{JoinSet, LocalSet};
use tokio_rustls::TlsAcceptor;

use crate::core::{Core, Stop};
use crate::error::Error;
use crate::front::Front;
use crate::log::Log;
use crate::server::{Server, Work};
use crate::tls;
use crate::wire::Wire;

/// How long what is under way may go on after the stop, ns.
const GRACE: i64 = 5_000_000_000;

/// Run a server in this thread until it is stopped. What it listens on, or why it cannot, is reported first; then what it could not do.
pub(crate) fn run<W: Work>(
    front: &Front,
    make: impl FnOnce(&Rc<Core>) -> Result<W, Error>,
    log: &Rc<Log>,
    stop: &Stop,
    told: &SyncSender<Result<u16, Error>>,
) -> Result<(), Error> {
    tighten_timers();
    let begun = tokio::runtime::Builder::new_current_thread().enable_io().build();
    let begun = begun.map_err(|error| no_thread(front.what, &error)).and_then(|runtime| {
        let local = LocalSet::new();
        let listening = local.block_on(&runtime, async {
            let (listener, port) = listen(front)?;
            let pacer = Pacer::new(Pacing::Normal).map_err(|error| no_thread(front.what, &error))?;
            Ok((listener, pacer, port))
        });
        let (listener, pacer, port) = listening?;
        let tls = front.tls.as_ref().map(tls::config).transpose()?.map(|config| TlsAcceptor::from(Arc::new(config)));
        let core = Core::new(front, pacer, log, stop);
        let work = make(&core)?;
        Ok((runtime, local, listener, tls, Rc::new(Server { core, work }), port))
    });
    let (runtime, local, listener, tls, server, port) = match begun {
        Ok(begun) => begun,
        Err(error) => {
            let _ = told.send(Err(error));
            return Ok(());
        }
    };
    let _ = told.send(Ok(port));
    local.block_on(&runtime, serve(Rc::clone(&server), &listener, tls, stop));
    // Tasks that outlived their time are dropped here; each writes its line.
    drop(local);
    server.work.close()
}

fn no_thread(what: &str, error: &io::Error) -> Error {
    Error::System(format!("{what} cannot start: {error}; expected a free descriptor and thread (close something)"))
}

fn listen(front: &Front) -> Result<(TcpListener, u16), Error> {
    let (host, port) = (front.host.as_str(), front.port);
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
    bind(address, front.backlog).map_err(failed)
}

fn bind(address: SocketAddr, backlog: u32) -> io::Result<(TcpListener, u16)> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?; // a port whose old connections still linger
    socket.bind(address)?;
    let listener = socket.listen(backlog)?;
    let port = listener.local_addr()?.port();
    Ok((listener, port))
}

async fn serve<W: Work>(server: Rc<Server<W>>, listener: &TcpListener, tls: Option<TlsAcceptor>, stop: &Stop) {
    let mut connections = JoinSet::new();
    let every = server.work.every();
    let mut due = now() + every;
    let mut stopped = stop.clone();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((tcp, _)) => {
                    let task = connection(Rc::clone(&server), tcp, tls.clone(), stop.clone());
                    connections.spawn_local(task);
                }
                // No descriptor left, or the peer has gone already: others may still come.
                Err(_) => server.core.pacer.sleep_until(now() + 10_000_000).await,
            },
            _ = stopped.wait_for(|stop| *stop) => break,
            () = server.core.pacer.sleep_until(due) => {
                due = (due + every).max(now());
                server.work.tick();
                server.core.log.flush();
            }
            () = server.work.due() => server.work.tick(),
            Some(_) = connections.join_next() => {}
        }
    }
    let mut end = pin!(server.core.pacer.sleep_until(now() + GRACE));
    loop {
        tokio::select! {
            next = connections.join_next() => if next.is_none() { return },
            () = &mut end => return,
        }
    }
}

async fn connection<W: Work>(server: Rc<Server<W>>, tcp: TcpStream, tls: Option<TlsAcceptor>, stop: Stop) {
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

async fn talk<W: Work, S: AsyncRead + AsyncWrite + Unpin + 'static>(server: Rc<Server<W>>, stream: S, mut stop: Stop) {
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
