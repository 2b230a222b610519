//! The starts of a record, in a file: iteration k is due when the k-th of them was, after the first, divided by the speed.

use std::fmt;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use serde::Deserialize;

/// Bytes of a start in a file.
pub(crate) const SIZE: usize = 8;
/// Starts read at once.
const CHUNK: u64 = 4096;

/// The starts of a record, as a load gets them.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Replay {
    /// File of the starts: i64, little endian, ns after the first start of the whole, none before the one ahead of it.
    pub file: String,
    /// How many starts the whole has.
    pub count: u64,
    /// How many times as fast as they were.
    pub speed: f64,
    /// Which part of all starts the file holds: number k with k mod `part.1` = `part.0`.
    #[serde(default = "everything")]
    pub part: (u64, u64),
}

fn everything() -> (u64, u64) {
    (0, 1)
}

impl Replay {
    fn unreadable(&self, problem: String) -> Unreadable {
        Unreadable { file: self.file.clone(), problem }
    }

    /// How many of all starts are in the file.
    pub(crate) fn share(&self) -> u64 {
        let (first, step) = self.part;
        self.count / step + u64::from(first < self.count % step)
    }

    /// When a start is due that was so many ns after the first.
    #[must_use]
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // exact below 104 days
    pub fn due(&self, start: u64) -> u64 {
        if self.speed.to_bits() == 1f64.to_bits() { start } else { (start as f64 / self.speed).round() as u64 }
    }
}

/// A load cannot go on for lack of its starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The file of the starts.
    pub file: String,
    /// What is wrong with it.
    pub problem: String,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "the starts to replay cannot be read from {}: {}", self.file, self.problem)
    }
}

impl std::error::Error for Unreadable {}

/// The starts of a file, for asking for growing numbers: it holds a few thousand of them.
#[derive(Clone, Debug)]
pub struct Starts {
    replay: Replay,
    file: Option<Arc<File>>,
    /// How many the file holds.
    count: u64,
    /// The first of those at hand, by its place in the file.
    first: u64,
    at_hand: Vec<u64>,
    /// Last start read.
    last: u64,
    unreadable: Option<Unreadable>,
}

impl Starts {
    /// Of this file; one that cannot be opened is unreadable.
    #[must_use]
    pub fn new(replay: &Replay) -> Self {
        let (file, unreadable) = match File::open(&replay.file) {
            Ok(file) => (Some(Arc::new(file)), None),
            Err(problem) => (None, Some(replay.unreadable(problem.to_string()))),
        };
        Self { replay: replay.clone(), file, count: replay.share(), first: 0, at_hand: Vec::new(), last: 0, unreadable }
    }

    /// When iteration `number` of the whole is due, ns after the start of the load; none when there is no such one, or it cannot be read.
    /// Numbers must be of this part, and not shrink.
    pub fn get(&mut self, number: u64) -> Option<u64> {
        let place = number / self.replay.part.1;
        if place >= self.count || self.unreadable.is_some() {
            return None;
        }
        while place >= self.first + self.at_hand.len() as u64 {
            let next = self.first + self.at_hand.len() as u64;
            self.read(next);
            if self.unreadable.is_some() {
                return None;
            }
        }
        let start = usize::try_from(place - self.first).ok().and_then(|at| self.at_hand.get(at))?;
        Some(self.replay.due(*start))
    }

    /// Why it ended before its end; none when it did not.
    #[must_use]
    pub fn unreadable(&self) -> Option<&Unreadable> {
        self.unreadable.as_ref()
    }

    fn read(&mut self, first: u64) {
        let Some(file) = self.file.clone() else { return };
        let count = usize::try_from((self.count - first).min(CHUNK)).unwrap_or(0);
        let mut bytes = vec![0; count * SIZE];
        if let Err(problem) = file.read_exact_at(&mut bytes, first * SIZE as u64) {
            return self.give_up(problem.to_string());
        }
        self.first = first;
        self.at_hand.clear();
        for start in bytes.as_chunks::<SIZE>().0.iter().map(|bytes| i64::from_le_bytes(*bytes)) {
            let Some(start) = u64::try_from(start).ok().filter(|start| *start >= self.last) else {
                let place = first + self.at_hand.len() as u64;
                return self.give_up(format!("start {place} in it is {start} ns, before the one ahead of it"));
            };
            self.last = start;
            self.at_hand.push(start);
        }
    }

    fn give_up(&mut self, problem: String) {
        self.unreadable = Some(self.replay.unreadable(problem));
    }
}
