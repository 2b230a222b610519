//! When things happen: the one clock of the project, and waiting until a given nanosecond.
//!
//! Three ways to wait, all on absolute monotonic time so that lateness never adds up: [`Pacer`] for thousands of sleepers on one tokio
//! current-thread runtime, [`sleep_until_blocking`] for a thread of its own, [`TimerFd`] for everybody else's event loop.
//! The runtime's own timer is never used for starts: it has a grid of 1 ms. Room for open files is made here, too: what waits while
//! their table grows comes late.

pub mod clock;
mod files;
mod pacer;
mod thread;
mod timer;

pub use files::{allow_files, make_room};
pub use pacer::{Pacer, Sleep};
pub use thread::{sleep_until_blocking, take_precedence, tighten_timers};
pub use timer::TimerFd;

use serde::Deserialize;

/// How long before the instant a precise sleeper stops sleeping and spins, ns.
pub const SPIN: i64 = 50_000;
/// Grid on which coarse sleepers are woken together, ns.
pub const GRID: i64 = 1_000_000;

/// How exactly starts are made, and what CPU that may cost.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Pacing {
    /// On a grid of 1 ms, always late by up to that: the cheapest, since starts are made together.
    Coarse,
    /// By the kernel's timer: tens of microseconds late.
    #[default]
    Normal,
    /// By spinning through the last 50 us: about a microsecond late, takes a core at middle rates.
    Precise,
}

impl Pacing {
    /// When the kernel has to wake a sleeper that is due at `deadline` (ns since the epoch).
    #[must_use]
    pub fn wake_at(self, deadline: i64) -> i64 {
        match self {
            Self::Coarse => deadline.saturating_add(GRID - 1).div_euclid(GRID).saturating_mul(GRID),
            Self::Normal => deadline,
            Self::Precise => deadline.saturating_sub(SPIN),
        }
    }

    /// When a sleeper that is due at `deadline` may go on: never before it.
    #[must_use]
    pub fn due_at(self, deadline: i64) -> i64 {
        if self == Self::Coarse { self.wake_at(deadline) } else { deadline }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coarse_rounds_up_to_the_grid() {
        assert_eq!(Pacing::Coarse.wake_at(0), 0);
        assert_eq!(Pacing::Coarse.wake_at(1), GRID);
        assert_eq!(Pacing::Coarse.wake_at(GRID), GRID);
        assert_eq!(Pacing::Coarse.wake_at(GRID + 1), 2 * GRID);
        assert_eq!(Pacing::Coarse.due_at(5), GRID);
    }

    #[test]
    fn precise_wakes_early_and_is_due_on_time() {
        assert_eq!(Pacing::Precise.wake_at(SPIN + 7), 7);
        assert_eq!(Pacing::Precise.due_at(SPIN + 7), SPIN + 7);
        assert_eq!(Pacing::Normal.wake_at(9), 9);
    }
}
