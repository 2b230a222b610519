//! Waiting in a thread of its own.

use crate::{Pacing, SPIN, clock};

/// Block this thread until the time (ns since the epoch): never early. Signals do not end it; returns at once when the time has passed.
pub fn sleep_until_blocking(epoch_ns: i64, pacing: Pacing) {
    if clock::now() >= epoch_ns {
        return;
    }
    let due = pacing.due_at(epoch_ns);
    let wake = pacing.wake_at(epoch_ns);
    if clock::now() < wake {
        let time = clock::timespec(wake);
        // SAFETY: `time` is valid; with TIMER_ABSTIME the rest is not written.
        while unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &time, std::ptr::null_mut()) }
            == libc::EINTR
        {}
    }
    // Also ends the spin of SPIN nanoseconds; a loop since the kernel's and our rounding need not agree.
    debug_assert!(due - wake <= SPIN);
    while clock::now() < due {
        std::hint::spin_loop();
    }
}

/// Let the kernel wake this thread at the nanosecond it asked for, instead of up to 50 us later to save power.
pub fn tighten_timers() {
    // SAFETY: changes an attribute of the calling thread only; failure leaves the default.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
}

/// Let this thread have a core as soon as it has something to do, before threads of ordinary priority, where the kernel permits that
/// (root, `CAP_SYS_NICE`, or a limit `RLIMIT_RTPRIO`). What it starts has the ordinary priority again.
pub fn take_precedence() {
    let least = libc::sched_param { sched_priority: 1 };
    // SAFETY: changes how the calling thread is scheduled, and nothing else; failure leaves it as it is.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_RR | libc::SCHED_RESET_ON_FORK, &raw const least) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_never_early() {
        tighten_timers();
        for pacing in [Pacing::Coarse, Pacing::Normal, Pacing::Precise] {
            for ahead in [-5, 0, 10_000, 400_000, 2_000_000] {
                let at = clock::now() + ahead;
                sleep_until_blocking(at, pacing);
                let late = clock::now() - at;
                assert!(late >= 0);
                println!("{pacing:?} {ahead} ns ahead: {late} ns late");
            }
        }
    }
}
