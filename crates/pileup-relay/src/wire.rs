//! Bytes in and out of sockets by calls that tokio has not: read with the time at which they came, and passed on without a copy.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr::null_mut;
use std::rc::Rc;

use pileup_pacer::clock::now;
use tokio::io::Interest;
use tokio::net::TcpStream;

/// Bytes that a pipe may hold: as much as a user may ask for.
const HELD: usize = 1 << 20;
/// Most pipes at a time: a user may have as many of this size.
const PIPES: usize = 64;
/// Room for a time of the kernel beside what is read, in words.
const BESIDE: usize = 8;
/// Longest time that what came may have waited in a socket to be believed, ns: beyond, somebody has set the clock.
const WAITED: i64 = 1_000_000_000;

/// Have the kernel note when bytes come, from now on.
pub(crate) fn note_times(socket: &impl AsRawFd) {
    let on: libc::c_int = 1;
    let size = libc::socklen_t::try_from(size_of_val(&on)).unwrap_or(0);
    // SAFETY: the socket is open and `on` is an int; where it fails bytes have the time at which they are read.
    unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPNS,
            std::ptr::from_ref(&on).cast(),
            size,
        );
    }
}

/// Read what has come; return how much, and when the last of it came, ns since the epoch.
///
/// A socket that had less than there was room for is known to be empty: it is not asked again before more has come.
pub(crate) fn read(stream: &TcpStream, into: &mut [u8]) -> io::Result<(usize, i64)> {
    let mut found = None;
    let tried = stream.try_io(Interest::READABLE, || {
        let (size, came) = receive(stream.as_raw_fd(), into)?;
        found = Some((size, came));
        if 0 < size && size < into.len() { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(()) }
    });
    match found {
        Some(found) => Ok(found),
        None => tried.and(Err(io::ErrorKind::WouldBlock.into())),
    }
}

fn receive(socket: RawFd, into: &mut [u8]) -> io::Result<(usize, i64)> {
    let mut beside = [0u64; BESIDE]; // aligned as a header of control data has to be
    let mut room = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    // SAFETY: all zero is a valid header.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    (message.msg_iov, message.msg_iovlen) = (&raw mut room, 1);
    (message.msg_control, message.msg_controllen) = (beside.as_mut_ptr().cast(), size_of_val(&beside));
    // SAFETY: the header names two buffers that outlive the call, with their sizes.
    let size = checked(unsafe { libc::recvmsg(socket, &raw mut message, 0) })?;
    Ok((size, came(&message).unwrap_or_else(now)))
}

/// When the kernel had it, ns since the epoch.
fn came(message: &libc::msghdr) -> Option<i64> {
    // SAFETY: the kernel has filled the header; control data of this kind is a timespec, at any address.
    let stamp: libc::timespec = unsafe {
        let first = libc::CMSG_FIRSTHDR(message).as_ref()?;
        if (first.cmsg_level, first.cmsg_type) != (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) {
            return None;
        }
        std::ptr::read_unaligned(libc::CMSG_DATA(first).cast())
    };
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid and the clock exists.
    unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &raw mut time) };
    let waited = (time.tv_sec - stamp.tv_sec) * 1_000_000_000 + time.tv_nsec - stamp.tv_nsec;
    // Read after the other clock: who is interrupted between the two finds bytes later than they came, never earlier.
    (0..WAITED).contains(&waited).then(|| now() - waited)
}

/// A pipe, through which bytes go from socket to socket without a copy of them.
pub(crate) struct Pipe {
    out: OwnedFd,
    into: OwnedFd,
    /// Counts it among all.
    _one: Rc<()>,
}

impl Pipe {
    /// One more of `all`; none when there are enough, or no descriptor is left: then bytes are copied.
    pub(crate) fn new(all: &Rc<()>) -> Option<Self> {
        let mut ends = [0; 2];
        // SAFETY: there is room for two descriptors; the result is checked.
        if Rc::strong_count(all) > PIPES
            || unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_NONBLOCK | libc::O_CLOEXEC) } != 0
        {
            return None;
        }
        // SAFETY: both are open and belong to nobody else.
        let (out, into) = unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) };
        // SAFETY: plain call on an open pipe; a smaller one does, too.
        unsafe { libc::fcntl(into.as_raw_fd(), libc::F_SETPIPE_SZ, HELD) };
        Some(Self { out, into, _one: Rc::clone(all) })
    }

    /// Take in what has come on a socket; return how much.
    pub(crate) fn fill(&self, from: &TcpStream) -> io::Result<usize> {
        from.try_io(Interest::READABLE, || splice(from, &self.into, HELD))
    }

    /// Pass on at most so much of what is held; return how much that was.
    pub(crate) fn drain(&self, to: &TcpStream, most: usize) -> io::Result<usize> {
        to.try_io(Interest::WRITABLE, || splice(&self.out, to, most))
    }
}

fn splice(from: &impl AsRawFd, to: &impl AsRawFd, most: usize) -> io::Result<usize> {
    // SAFETY: both descriptors are open; without offsets nothing of ours is read or written.
    let moved = unsafe {
        libc::splice(from.as_raw_fd(), null_mut(), to.as_raw_fd(), null_mut(), most, libc::SPLICE_F_NONBLOCK)
    };
    checked(moved)
}

fn checked(result: isize) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn bytes_have_the_time_at_which_they_came() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        note_times(&listener);
        thread::sleep(Duration::from_millis(20)); // the first on a machine changes the kernel, which takes a moment
        let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let far = listener.accept().unwrap().0;
        let sent = now();
        near.write_all(b"four").unwrap();
        let left = now();
        thread::sleep(Duration::from_millis(20));
        let (size, came) = receive(far.as_raw_fd(), &mut [0; 16]).unwrap();
        let slack = 100_000; // the clocks are read one after the other
        assert_eq!(size, 4);
        assert!((sent - slack..=left + slack).contains(&came), "{} ns after {sent}", came - sent);
    }
}
