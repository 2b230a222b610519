//! Descriptors that no connection takes: without any pileup could not record that its clients had none.

use std::io;

use rustix::fd::{AsFd, AsRawFd};
use rustix::process::{Resource, getrlimit};

/// Most that stay free, for the files of a record and what else a run opens while it goes on.
const KEPT: u64 = 32;
/// At least so small a share of all may be kept.
const SHARE: u64 = 8;

/// Refuse a descriptor that is one of the last that this process may have, in the way in which the system refuses one more.
///
/// # Errors
/// Too many open files.
pub(crate) fn leave_some(descriptor: impl AsFd) -> io::Result<()> {
    // the system gives out the lowest that is free: all below this one are taken
    let taken = u64::try_from(descriptor.as_fd().as_raw_fd()).unwrap_or(0) + 1;
    match getrlimit(Resource::Nofile).current {
        Some(all) if taken > all - kept(all) => Err(io::Error::from_raw_os_error(libc::EMFILE)),
        _ => Ok(()),
    }
}

fn kept(all: u64) -> u64 {
    KEPT.min(all / SHARE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_stay_free_of_few_and_a_fixed_number_of_many() {
        assert_eq!([0, 7, 64, 256, 1024, 1 << 20].map(kept), [0, 0, 8, 32, 32, 32]);
    }
}
