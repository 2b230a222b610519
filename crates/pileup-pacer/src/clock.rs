//! The one clock of the project: nanoseconds since the epoch that never jump.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, Ordering};

static OFFSET: OnceLock<i64> = OnceLock::new();
static SHIFT: AtomicI64 = AtomicI64::new(0);

fn read(clock: libc::clockid_t) -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec; both clocks used here exist on every Linux, so the call cannot fail.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// Nanoseconds of CLOCK_MONOTONIC.
#[must_use]
pub fn monotonic() -> i64 {
    read(libc::CLOCK_MONOTONIC)
}

/// Nanoseconds to add to the monotonic clock to get UTC: taken once in the life of the process, so that no step of the system's clock
/// can bend an interval.
fn utc() -> i64 {
    *OFFSET.get_or_init(|| {
        // The narrowest of several brackets around the UTC clock: an interruption between the readings must not become an error for good.
        let bracket = |_| {
            let before = monotonic();
            let utc = read(libc::CLOCK_REALTIME);
            let after = monotonic();
            (after - before, utc - (before + (after - before) / 2))
        };
        (0..16).map(bracket).min().map_or(0, |(_, offset)| offset)
    })
}

/// Nanoseconds to add to the monotonic clock to get the time of this process: UTC, moved by [`shift`].
#[must_use]
pub fn offset() -> i64 {
    utc() + SHIFT.load(Ordering::Relaxed)
}

/// Move the clock of this process permanently, by so many ns more than before. Who sleeps already keeps the instant that it was given by
/// the old clock: for the time before a load, not for the middle of one.
pub fn shift(ns: i64) {
    SHIFT.fetch_add(ns, Ordering::Relaxed);
}

/// Nanoseconds since the epoch: the monotonic clock and [`offset`].
#[must_use]
pub fn now() -> i64 {
    monotonic() + offset()
}

/// The monotonic time that belongs to a time since the epoch, as the kernel's timers want it; never below 1.
#[must_use]
pub fn timespec(epoch_ns: i64) -> libc::timespec {
    let time = epoch_ns.saturating_sub(offset()).max(1);
    libc::timespec { tv_sec: time / 1_000_000_000, tv_nsec: time % 1_000_000_000 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_goes_back_and_is_utc() {
        let mut last = now();
        for _ in 0..1000 {
            let time = now();
            assert!(time >= last);
            last = time;
        }
        assert!((read(libc::CLOCK_REALTIME) - now()).abs() < 1_000_000_000);
    }

    #[test]
    fn the_past_is_still_a_valid_timer() {
        assert_eq!(timespec(i64::MIN).tv_nsec, 1);
        let time = timespec(offset() + 3_000_000_007);
        assert_eq!((time.tv_sec, time.tv_nsec), (3, 7));
    }
}
