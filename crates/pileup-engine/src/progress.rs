//! Bytes as they come: what a client under way has moved, split by whether the load was being measured then.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

use pileup_pacer::clock;
use pileup_record::Phase;
use pileup_schedule::{Load, Stage};

/// Parts of a load's life that are measured: (begin, end) in ns since the epoch.
pub type Spans = Arc<[(i64, i64)]>;

/// Whether any client has moved something since a frame has looked last.
pub type Moved = Arc<AtomicBool>;

/// Whether a moment is measured.
#[must_use]
pub fn within(spans: &[(i64, i64)], moment: i64) -> bool {
    spans.iter().any(|(begin, end)| (*begin..*end).contains(&moment))
}

/// The phase of what begins at this part of a load's life.
pub fn phase_of(load: &Load, stage: Stage) -> Phase {
    match stage {
        Stage::Measure if load.trial => Phase::WarmUp,
        Stage::Ramp => Phase::Ramp,
        Stage::WarmUp if load.trial => Phase::Ramp,
        Stage::WarmUp => Phase::WarmUp,
        Stage::Measure => Phase::Measure,
    }
}

/// What the operation under way of one client has moved. Its client writes, frames read.
#[derive(Debug)]
pub struct Progress {
    spans: Spans,
    moved: Moved,
    /// String id of the operation's name.
    operation: AtomicU32,
    /// Bytes of this operation so far.
    noted: AtomicU64,
    /// Of these, not taken yet: those that came while the load was measured, and the others.
    measured: AtomicU64,
    beside: AtomicU64,
}

/// What has come since the last time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Come {
    /// Bytes that came while the load was measured.
    pub measured: u64,
    /// The others.
    pub beside: u64,
}

impl Progress {
    /// Of a client that does nothing yet.
    #[must_use]
    pub fn new(spans: Spans, moved: Moved) -> Self {
        let (operation, noted) = (AtomicU32::new(0), AtomicU64::new(0));
        Self { spans, moved, operation, noted, measured: AtomicU64::new(0), beside: AtomicU64::new(0) }
    }

    /// An operation of this name begins.
    pub fn begin(&self, operation: u32) {
        self.operation.store(operation, Relaxed);
        self.noted.store(0, Relaxed);
    }

    /// The operation has moved so many bytes in all. A smaller number than before, as when a request is made again, only begins to count again.
    pub fn note(&self, total: u64) {
        if self.noted.load(Relaxed) != total {
            self.note_at(total, clock::now());
        }
    }

    /// The same of bytes whose time is known, ns since the epoch.
    pub fn note_at(&self, total: u64, at: i64) {
        let more = total.saturating_sub(self.noted.load(Relaxed));
        self.noted.store(total, Relaxed); // its client alone writes it
        if more > 0 {
            let counter = if within(&self.spans, at) { &self.measured } else { &self.beside };
            counter.fetch_add(more, Relaxed);
            if !self.moved.load(Relaxed) {
                self.moved.store(true, Relaxed);
            }
        }
    }

    /// Bytes of the operation under way that were noted.
    #[must_use]
    pub fn noted(&self) -> u64 {
        self.noted.load(Relaxed)
    }

    /// Name of the operation under way.
    #[must_use]
    pub fn operation(&self) -> u32 {
        self.operation.load(Relaxed)
    }

    /// What has come since the last call.
    pub fn take(&self) -> Come {
        let take = |counter: &AtomicU64| if counter.load(Relaxed) > 0 { counter.swap(0, Relaxed) } else { 0 };
        Come { measured: take(&self.measured), beside: take(&self.beside) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_count_once_and_by_when_they_came() {
        let now = clock::now();
        let inside = Progress::new(Arc::new([(now - 1_000_000_000, now + 60_000_000_000)]), Moved::default());
        inside.begin(4);
        inside.note(100);
        inside.note(250);
        assert_eq!((inside.take(), inside.take()), (Come { measured: 250, beside: 0 }, Come::default()));
        inside.note(50); // the request was made again
        inside.note(80);
        assert_eq!((inside.take().measured, inside.noted(), inside.operation()), (30, 80, 4));
        let outside = Progress::new(Arc::new([(now - 2, now - 1)]), Moved::default());
        outside.note(9);
        assert_eq!(outside.take(), Come { measured: 0, beside: 9 });
    }
}
