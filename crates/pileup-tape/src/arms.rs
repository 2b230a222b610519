//! The robot: so many cartridges are moved at a time, in the order in which that was asked for.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// When each arm is free.
pub(crate) struct Arms(BinaryHeap<Reverse<i64>>);

impl Arms {
    pub(crate) fn new(number: u32, begin: i64) -> Self {
        Self((0..number).map(|_| Reverse(begin)).collect())
    }

    /// Take the first arm that is free, from now or later on, for so long. Returns when it begins.
    pub(crate) fn take(&mut self, now: i64, lasts: i64) -> i64 {
        let begin = self.0.pop().map_or(now, |Reverse(free)| free.max(now));
        self.0.push(Reverse(begin.saturating_add(lasts)));
        begin
    }
}
