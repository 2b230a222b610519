//! The bandwidth of the whole server: bodies take turns in pieces, first come first served.

use std::cell::Cell;

use pileup_pacer::{Pacer, Sleep, clock};

/// How much of the bandwidth may be made up for after a moment in which nobody could send, ns. Without it every late wake-up would be
/// lost for good; with it no interval sees more than its share plus this.
const CREDIT: i64 = 2_000_000;

/// The pipe that all bodies, in and out, go through.
pub(crate) struct Pipe {
    plan: Plan,
    piece: usize,
    pacer: Pacer,
}

/// When the pipe is free: arithmetic only.
struct Plan {
    /// Nanoseconds that a byte takes; 0: no limit.
    per_byte: f64,
    /// Begin of the count: a float holds nanoseconds since then exactly enough, but not nanoseconds since the epoch.
    base: i64,
    free: Cell<f64>,
}

impl Pipe {
    /// One of this many bytes per second; none: without limit.
    pub(crate) fn new(bandwidth: Option<f64>, pacer: Pacer) -> Self {
        let piece = bandwidth.map_or(64 * 1024, |rate| (rate / 200.0).clamp(1024.0, 65536.0) as usize);
        Self { plan: Plan::new(bandwidth, clock::now()), piece, pacer }
    }

    /// Largest piece that may be sent at once: 5 ms of the bandwidth, between 1 and 64 KiB.
    pub(crate) fn piece(&self) -> usize {
        self.piece
    }

    /// When these bytes will be through; `None`: at once. Calling it books them.
    pub(crate) fn book(&self, bytes: usize) -> Option<Sleep> {
        if self.plan.per_byte == 0.0 {
            return None;
        }
        let time = clock::now();
        let through = self.plan.book(bytes, time);
        if through > time { Some(self.pacer.sleep_until(through)) } else { None }
    }
}

impl Plan {
    fn new(bandwidth: Option<f64>, base: i64) -> Self {
        Self { per_byte: bandwidth.map_or(0.0, |rate| 1e9 / rate), base, free: Cell::new(-(CREDIT as f64)) }
    }

    fn book(&self, bytes: usize, time: i64) -> i64 {
        let from = self.free.get().max((time - self.base - CREDIT) as f64);
        let through = from + bytes as f64 * self.per_byte;
        self.free.set(through);
        self.base + through.ceil() as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    #[test]
    fn pieces_follow_one_another_at_the_rate() {
        let plan = Plan::new(Some(1e6), 1_800_000_000_000_000_000);
        let base = plan.base;
        assert_eq!(plan.book(10_000, base), base + 8 * MS, "10 ms, 2 ms of them on credit");
        assert_eq!(plan.book(10_000, base), base + 18 * MS);
        assert_eq!(plan.book(10_000, base + 18 * MS + 90_000), base + 28 * MS, "a late wake-up is made up for");
        assert_eq!(plan.book(10_000, base + 100 * MS), base + 108 * MS, "idle time is not, beyond the credit");
    }

    #[test]
    fn small_pieces_add_up() {
        let plan = Plan::new(Some(3e9), 1_800_000_000_000_000_000);
        let mut last = 0;
        for _ in 0..3_000_000 {
            last = plan.book(1, plan.base);
        }
        assert!((last - plan.base + CREDIT - MS).abs() <= 1, "{}", last - plan.base);
    }
}
