//! The way to a host: its addresses, asked for once, and a TCP connection to one of them.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::net::{TcpSocket, TcpStream};

use crate::descriptors::leave_some;
use crate::words;

/// Why there is no connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoConnection {
    /// In words.
    pub words: String,
    /// Whether the other end or the way to it is why. Not: this machine could not (no port, no file descriptor left, not permitted).
    pub unreachable: bool,
    /// Number of the system's error; none: it is none of the system's.
    pub number: Option<i32>,
}

impl NoConnection {
    /// The other end, or the way to it, is why.
    fn unreachable(words: &str) -> Self {
        Self { words: words.to_owned(), unreachable: true, number: None }
    }
}

impl From<io::Error> for NoConnection {
    fn from(cause: io::Error) -> Self {
        use io::ErrorKind as Kind;
        let unreachable = matches!(
            cause.kind(),
            Kind::ConnectionRefused
                | Kind::ConnectionReset
                | Kind::ConnectionAborted
                | Kind::HostUnreachable
                | Kind::NetworkUnreachable
                | Kind::NetworkDown
                | Kind::TimedOut
        );
        Self { words: words::connecting(&cause), unreachable, number: cause.raw_os_error() }
    }
}

/// A host with a port.
#[derive(Debug)]
pub struct Host {
    name: String,
    port: u16,
    /// Its addresses, asked for once: a name server must not be part of every figure.
    resolved: Mutex<Option<Arc<[SocketAddr]>>>,
    /// Whether a relay before it is connected to instead.
    relayed: bool,
}

impl Host {
    /// Of this name or address (IPv6 without brackets).
    #[must_use]
    pub fn new(name: &str, port: u16) -> Self {
        Self::through(name, port, None)
    }

    /// The same, connected to through a relay at the address `via` where one is given: its name is not looked up then.
    #[must_use]
    pub fn through(name: &str, port: u16, via: Option<SocketAddr>) -> Self {
        let resolved = Mutex::new(via.map(|address| Arc::from([address])));
        Self { name: name.to_owned(), port, resolved, relayed: via.is_some() }
    }

    /// Whether a relay before it is connected to.
    #[must_use]
    pub fn is_relayed(&self) -> bool {
        self.relayed
    }

    /// Its addresses, at least one.
    ///
    /// # Errors
    /// When the name is not known.
    pub async fn addresses(&self) -> Result<Arc<[SocketAddr]>, NoConnection> {
        let known = self.resolved.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(addresses) = known {
            return Ok(addresses);
        }
        let found = tokio::net::lookup_host((self.name.as_str(), self.port)).await;
        let addresses: Arc<[SocketAddr]> = found.map(Iterator::collect).unwrap_or_default();
        if addresses.is_empty() {
            return Err(NoConnection::unreachable("name not found"));
        }
        *self.resolved.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&addresses));
        Ok(addresses)
    }

    /// Connect to the first address that takes it. Clients with different numbers begin with different ones.
    ///
    /// # Errors
    /// What was wrong with the last one.
    pub async fn connect(&self, client: u32) -> Result<TcpStream, NoConnection> {
        let addresses = self.addresses().await?;
        let first = client as usize % addresses.len();
        let mut last = NoConnection::unreachable("");
        for turn in 0..addresses.len() {
            match tcp(addresses[(first + turn) % addresses.len()]).await {
                Ok(stream) => return Ok(stream),
                Err(why) => last = why,
            }
        }
        if self.relayed {
            last.words = format!("the relay before the target: {}", last.words);
        }
        Err(last)
    }
}

/// A TCP connection that sends at once what it is given. The last descriptors of this process are not for connections.
///
/// # Errors
/// What went wrong.
pub async fn tcp(address: SocketAddr) -> Result<TcpStream, NoConnection> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    leave_some(&socket)?;
    socket.set_nodelay(true)?;
    Ok(socket.connect(address).await?)
}

/// Whether this host is the machine itself whatever the network does: `localhost` or a loopback address.
#[must_use]
pub fn is_loopback(host: &str) -> bool {
    let by_number = host.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback());
    by_number || host.eq_ignore_ascii_case("localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_loopback() {
        for host in ["127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1", "LocalHost"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["10.0.0.1", "localhost.site.org", "127.0.0.1.site.org", "se01", ""] {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn unknown_names_and_closed_ports_are_named() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let of = |host: Host| runtime.block_on(async move { host.connect(3).await.map(drop) });
        assert_eq!(of(Host::new("no-such-host.invalid", 1)), Err(NoConnection::unreachable("name not found")));
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let refused =
            NoConnection { number: Some(libc::ECONNREFUSED), ..NoConnection::unreachable("connection refused") };
        assert_eq!(of(Host::new("127.0.0.1", free)), Err(refused));
    }

    #[test]
    fn a_relay_is_connected_to_in_the_place_of_a_host_and_named() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let of = |host: Host| runtime.block_on(async move { host.connect(0).await.map(|stream| stream.peer_addr()) });
        let relay = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = relay.local_addr().unwrap();
        let host = || Host::through("no-such-host.invalid", 1094, Some(address));
        assert_eq!(of(host()).unwrap().unwrap(), address);
        assert!(host().is_relayed() && !Host::new("x", 1).is_relayed());
        drop(relay);
        assert_eq!(of(host()).unwrap_err().words, "the relay before the target: connection refused");
    }

    #[test]
    fn t23_what_this_machine_lacks_is_no_fault_of_the_other_end() {
        for (number, unreachable) in [
            (libc::ECONNREFUSED, true),
            (libc::EHOSTUNREACH, true),
            (libc::ETIMEDOUT, true),
            (libc::EADDRNOTAVAIL, false),
            (libc::EMFILE, false),
            (libc::EACCES, false),
        ] {
            let found = NoConnection::from(io::Error::from_raw_os_error(number));
            assert_eq!(found.unreachable, unreachable, "{}", found.words);
        }
    }
}
