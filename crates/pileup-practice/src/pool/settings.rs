//! Settings of the request pool.

use pileup_schedule::Law;
use serde::Deserialize;

use crate::error::Error;
use crate::front::wrong;

/// Most threads of each kind.
const MOST: usize = 1_000_000;

/// The threads of a pool, and what an operation costs. Times in nanoseconds.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rules {
    /// Slow operations at a time; with the fast ones, unless these have threads of their own.
    pub(crate) threads: usize,
    /// Fast operations at a time, on threads of their own; none: they share those of the slow ones.
    pub(crate) fast_threads: Option<usize>,
    /// Time that a fast operation holds its thread.
    pub(crate) fast: Law,
    /// Time that a slow operation holds its thread.
    pub(crate) slow: Law,
    /// Time between the fast operation that takes a request and the slow ones that it leads to.
    pub(crate) switch: i64,
    /// Whether slow operations in one folder exclude each other.
    pub(crate) folder_lock: bool,
}

impl Rules {
    /// Refuse what cannot be.
    pub(crate) fn check(&self, what: &str) -> Result<(), Error> {
        for (name, number) in [("pool_threads", Some(self.threads)), ("pool_fast_threads", self.fast_threads)] {
            if let Some(number) = number.filter(|number| !(1..=MOST).contains(number)) {
                return Err(wrong(what, &format!("{name} {number}"), "1 to 1000000"));
            }
        }
        if self.switch < 0 {
            return Err(wrong(what, &format!("pool_switch {} ns", self.switch), "0 or more"));
        }
        Ok(())
    }
}
