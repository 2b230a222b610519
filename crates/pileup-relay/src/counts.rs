//! What has gone through, counted.

use std::sync::atomic::{AtomicU64, Ordering};

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
}

/// One more.
pub(crate) fn up(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl Counts {
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
        }
    }
}
