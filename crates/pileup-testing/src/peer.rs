//! The other end of a client's connections, as a test wants it.

use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A port of this machine at which every connection, by number, is handed to a function; one after another, unless that makes threads.
pub struct Listener {
    /// The port, at 127.0.0.1.
    pub port: u16,
    connections: Arc<AtomicUsize>,
}

impl Listener {
    /// Listen as long as the process lives. A connection that is silent for 5 s fails.
    pub fn new(each: impl Fn(usize, TcpStream) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&connections);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.unwrap();
                stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
                each(counter.fetch_add(1, Ordering::SeqCst), stream);
            }
        });
        Self { port, connections }
    }

    /// How many there were.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// Take nothing more in from now on: what comes is dropped before this machine acknowledges it.
pub fn deafen(stream: &TcpStream) {
    let mut nothing = libc::sock_filter { code: 0x06, jt: 0, jf: 0, k: 0 }; // return 0 bytes of every packet
    let program = libc::sock_fprog { len: 1, filter: &raw mut nothing };
    // SAFETY: the program is one of one instruction, which the kernel copies.
    unsafe { set(stream, libc::SO_ATTACH_FILTER, &program) };
}

/// Close with a reset instead of an end.
pub fn reset(stream: &TcpStream) {
    let linger = libc::linger { l_onoff: 1, l_linger: 0 };
    // SAFETY: `linger` is what this option takes.
    unsafe { set(stream, libc::SO_LINGER, &linger) };
}

/// Set an option of a socket.
///
/// # Safety
/// `value` must be what the option takes.
unsafe fn set<T>(stream: &TcpStream, option: libc::c_int, value: &T) {
    let size = std::mem::size_of::<T>() as libc::socklen_t;
    // SAFETY: the descriptor is open, and the caller vouches for the value.
    let done = unsafe {
        libc::setsockopt(stream.as_raw_fd(), libc::SOL_SOCKET, option, std::ptr::from_ref(value).cast(), size)
    };
    assert_eq!(done, 0);
}
