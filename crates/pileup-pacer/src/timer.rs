//! The kernel's timer as a descriptor.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use crate::clock;

/// An absolute timer that makes its descriptor readable. May be armed from any thread.
#[derive(Debug)]
pub struct TimerFd(OwnedFd);

impl TimerFd {
    /// A timer that is not armed.
    ///
    /// # Errors
    /// When the process has no descriptor left.
    pub fn new() -> io::Result<Self> {
        // SAFETY: plain system call; the result is checked.
        let fd = unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_NONBLOCK | libc::TFD_CLOEXEC) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: `fd` is open and belongs to nobody else.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Become readable at this time (ns since the epoch), at once when it has passed; replaces what was armed before.
    pub fn arm(&self, epoch_ns: i64) {
        self.set(clock::timespec(epoch_ns));
    }

    /// Stay quiet.
    pub fn disarm(&self) {
        self.set(libc::timespec { tv_sec: 0, tv_nsec: 0 });
    }

    fn set(&self, value: libc::timespec) {
        let spec = libc::itimerspec { it_interval: libc::timespec { tv_sec: 0, tv_nsec: 0 }, it_value: value };
        // SAFETY: the descriptor is a timer and `spec` is valid, the only causes of failure.
        unsafe { libc::timerfd_settime(self.0.as_raw_fd(), libc::TFD_TIMER_ABSTIME, &spec, std::ptr::null_mut()) };
    }

    /// Make the descriptor unreadable again; returns whether it had fired.
    pub fn drain(&self) -> bool {
        let mut fired = 0u64;
        // SAFETY: reads at most 8 bytes into a u64; the descriptor does not block.
        let size = unsafe { libc::read(self.0.as_raw_fd(), std::ptr::from_mut(&mut fired).cast(), 8) };
        size == 8 && fired > 0
    }

    /// Block until it has fired or the time is over; returns whether it has. A negative time waits forever.
    pub fn wait(&self, timeout_ms: i32) -> bool {
        let mut poll = libc::pollfd { fd: self.0.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one valid pollfd.
        unsafe { libc::poll(&mut poll, 1, timeout_ms) > 0 }
    }
}

impl AsRawFd for TimerFd {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

impl AsFd for TimerFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fires_once_and_not_early() {
        let timer = TimerFd::new().unwrap();
        assert!(!timer.wait(0));
        let at = clock::now() + 2_000_000;
        timer.arm(at);
        assert!(timer.wait(5000));
        assert!(clock::now() >= at);
        assert!(timer.drain());
        assert!(!timer.drain());
    }

    #[test]
    fn the_past_fires_at_once_and_disarm_is_quiet() {
        let timer = TimerFd::new().unwrap();
        timer.arm(0);
        assert!(timer.wait(1000));
        timer.arm(clock::now() + 3_600_000_000_000);
        assert!(!timer.wait(0), "arming again takes the old expiry away");
        timer.arm(0);
        timer.disarm();
        assert!(!timer.wait(0));
    }
}
