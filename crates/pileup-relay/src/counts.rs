//! What has gone through, counted.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pileup_record::Histogram;
use serde::Serialize;

/// What has gone through so far. Bytes and messages each way: to the target, back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counted {
    /// Connections accepted.
    pub connections: u64,
    /// Of these, open now.
    pub open: u64,
    /// Connections that the target did not take.
    pub refused: u64,
    /// Connections reset on purpose.
    pub resets: u64,
    /// Connections left hanging on purpose.
    pub half_open: u64,
    /// Bytes passed on.
    pub bytes: [u64; 2],
    /// Messages: bytes one way, without a byte the other way and without a pause between.
    pub messages: [u64; 2],
    /// Answers: messages of the target after one of the client.
    pub turns: u64,
    /// How late the relay was by itself since its path was last changed.
    pub late: Late,
}

/// How late answers were: what the relay added to a round trip over its path, there and back together, in ns.
///
/// From the times at which the kernel had the last bytes of a question and the first ones of its answer until each was
/// written on, less what the path says; while the other end takes nothing, or is not connected yet, nothing is late. What goes
/// through a pipe is not in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Late {
    /// Answers of which that is known.
    pub answers: u64,
    /// The median.
    pub p50: u64,
    /// 99 of 100 were not later.
    pub p99: u64,
    /// The latest.
    pub most: u64,
}

/// The same, while it is counted.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) connections: AtomicU64,
    pub(crate) open: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) resets: AtomicU64,
    pub(crate) half_open: AtomicU64,
    pub(crate) bytes: [AtomicU64; 2],
    pub(crate) messages: [AtomicU64; 2],
    pub(crate) turns: AtomicU64,
    late: Mutex<Histogram>,
}

/// One more.
pub(crate) fn up(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl Counts {
    /// An answer was late by so many ns.
    pub(crate) fn late(&self, by: i64) {
        self.lateness().record(by, 1);
    }

    /// Begin again with how late answers are.
    pub(crate) fn forget_late(&self) {
        self.lateness().reset();
    }

    fn lateness(&self) -> MutexGuard<'_, Histogram> {
        self.late.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn now(&self) -> Counted {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counted {
            connections: read(&self.connections),
            open: read(&self.open),
            refused: read(&self.refused),
            resets: read(&self.resets),
            half_open: read(&self.half_open),
            bytes: [read(&self.bytes[0]), read(&self.bytes[1])],
            messages: [read(&self.messages[0]), read(&self.messages[1])],
            turns: read(&self.turns),
            late: {
                let late = self.lateness();
                Late { answers: late.count(), p50: late.quantile(0.5), p99: late.quantile(0.99), most: late.max() }
            },
        }
    }
}
