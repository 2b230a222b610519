//! The thread of the relay: listen, and carry every connection in a task of its own.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use pileup_pacer::{Pacer, Pacing, clock::now, take_precedence, tighten_timers};
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::watch;
use tokio::task::LocalSet;

use crate::carry::carry;
use crate::error::Error;
use crate::local::{Local, Shared};
use crate::settings::Settings;
use crate::wire;

/// Connections that may wait to be accepted.
const BACKLOG: u32 = 16_384;

/// Run a relay in this thread until it is stopped. What it listens on, or why it cannot, is reported first.
pub(crate) fn run(
    settings: &Settings,
    shared: &Arc<Shared>,
    stop: watch::Receiver<bool>,
    told: &SyncSender<Result<u16, Error>>,
) {
    tighten_timers();
    take_precedence(); // a distance waits for no core
    let begun = tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(|error| no_thread(&error));
    let begun = begun.and_then(|runtime| {
        let local = LocalSet::new();
        let (listener, port, pacer) = local.block_on(&runtime, async {
            let (listener, port) = listen(settings)?;
            Ok::<_, Error>((listener, port, Pacer::new(Pacing::Normal).map_err(|error| no_thread(&error))?))
        })?;
        Ok((runtime, local, listener, port, pacer))
    });
    match begun {
        Err(error) => drop(told.send(Err(error))),
        Ok((runtime, local, listener, port, pacer)) => {
            let _ = told.send(Ok(port));
            let here = Rc::new(Local::new(Arc::clone(shared), pacer));
            local.block_on(&runtime, serve(&here, &listener, stop));
            // What is still open is dropped with its tasks.
            drop(local);
        }
    }
}

fn no_thread(error: &io::Error) -> Error {
    Error::System(format!("the relay cannot start: {error}; expected a free descriptor and thread (close something)"))
}

fn listen(settings: &Settings) -> Result<(TcpListener, u16), Error> {
    let (host, port) = (settings.host.as_str(), settings.port);
    let failed = |error: io::Error| {
        Error::System(match error.kind() {
            io::ErrorKind::AddrInUse => {
                format!("port {port} of {host} is taken; expected a free one (choose another, or 0 for any)")
            }
            io::ErrorKind::PermissionDenied => {
                format!("port {port} of {host} is not permitted; expected one above 1023 (or 0 for any)")
            }
            _ => format!("cannot listen on {host}: {error}; expected an address of this machine (correct it)"),
        })
    };
    let address = (host, port).to_socket_addrs().map_err(failed)?.next();
    let address = address.ok_or_else(|| failed(io::ErrorKind::AddrNotAvailable.into()))?;
    bind(address).map_err(failed)
}

fn bind(address: SocketAddr) -> io::Result<(TcpListener, u16)> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    wire::note_times(&socket); // what is accepted has it from this
    socket.set_reuseaddr(true)?; // a port whose old connections still linger
    socket.bind(address)?;
    let listener = socket.listen(BACKLOG)?;
    let port = listener.local_addr()?.port();
    Ok((listener, port))
}

async fn serve(here: &Rc<Local>, listener: &TcpListener, mut stop: watch::Receiver<bool>) {
    let mut number = 0;
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((client, _)) => {
                    tokio::task::spawn_local(carry(Rc::clone(here), client, number, now()));
                    number += 1;
                }
                // No descriptor left, or the peer has gone already: others may still come.
                Err(_) => here.pacer.sleep_until(now() + 10_000_000).await,
            },
            _ = stop.wait_for(|stop| *stop) => return,
        }
    }
}
