//! Open files of this process. Linux makes a process of several threads wait, 10 ms as a rule, whenever its table of open files
//! grows, at 64, 256, 512 and so on (`expand_files` in fs/file.c of the kernel waits for an RCU grace period): in the middle of a
//! load whatever is due then comes late. Room that is made before costs eight bytes a file.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Let this process have so many files open, as far as its hard limit goes: the soft one, often 1024, is for programs that
/// use `select`. Returns how many it may have.
pub fn allow_files(wanted: u64) -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is valid for both calls; a failure leaves the limit as it was.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) != 0 {
            return 0;
        }
        let raised = libc::rlimit { rlim_cur: wanted.min(limit.rlim_max), ..limit };
        if limit.rlim_cur < raised.rlim_cur && libc::setrlimit(libc::RLIMIT_NOFILE, &raw const raised) == 0 {
            return raised.rlim_cur;
        }
    }
    limit.rlim_cur
}

/// Make room for so many open files, all in all. They must be allowed.
///
/// # Errors
/// When the room cannot be made. Files can still be opened, up to the limit.
pub fn make_room(files: u64) -> io::Result<()> {
    let any = File::open("/dev/null")?;
    let last = libc::c_int::try_from(files.saturating_sub(1)).unwrap_or(libc::c_int::MAX);
    // SAFETY: `any` is open; what comes back is a new descriptor that nobody else has.
    unsafe {
        let copy = libc::fcntl(any.as_raw_fd(), libc::F_DUPFD_CLOEXEC, last);
        if copy < 0 {
            return Err(io::Error::last_os_error());
        }
        drop(OwnedFd::from_raw_fd(copy));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("FDSize:")).unwrap();
        line.trim().parse().unwrap()
    }

    #[test]
    fn room_is_there_before_the_files_are() {
        let most = allow_files(3000);
        assert!(most >= 3000 || most == allow_files(u64::MAX), "{most}");
        make_room(most.min(3000)).unwrap();
        assert!(room() >= most.min(3000));
        assert!(make_room(allow_files(u64::MAX) + 1).is_err() || room() > most);
    }
}
