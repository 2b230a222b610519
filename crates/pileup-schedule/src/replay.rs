//! Replays: iteration k is due when the k-th start of a record was, after the first, divided by the speed.

use std::fmt;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use serde::Deserialize;

/// Bytes of a start in a file.
const SIZE: usize = 8;
/// Starts read at once.
const CHUNK: u64 = 4096;

/// The starts of a record, as a load is told of them.
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
    /// What is wrong with it for a shard (number, of how many); none when it can be read.
    pub(crate) fn wrong(&self, shard: u64, shards: u64) -> Option<ReplayError> {
        let (first, step) = self.part;
        if !(self.speed.is_finite() && self.speed > 0.0) {
            return Some(ReplayError::Speed(self.speed));
        }
        if step == 0 || first >= step || !shards.is_multiple_of(step) || shard % step != first {
            return Some(ReplayError::Part { part: self.part, shard: (shard, shards) });
        }
        let file = || self.file.clone();
        let length = match File::open(&self.file).and_then(|file| file.metadata()) {
            Ok(found) => found.len(),
            Err(problem) => return Some(ReplayError::File { file: file(), problem: problem.to_string() }),
        };
        let wanted = self.share() * SIZE as u64;
        (length != wanted).then(|| ReplayError::Length { file: file(), length, wanted })
    }

    fn unreadable(&self, problem: String) -> Unreadable {
        Unreadable { file: self.file.clone(), problem }
    }

    /// How many of all starts are in the file.
    fn share(&self) -> u64 {
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

/// A load cannot go on for want of its starts.
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

/// What is wrong with starts that are to be replayed.
#[derive(Clone, Debug, PartialEq)]
pub enum ReplayError {
    /// The speed is none.
    Speed(f64),
    /// The file holds another part of the starts than the shard has.
    Part {
        /// The part of the file: number, of how many.
        part: (u64, u64),
        /// The shard: number, of how many.
        shard: (u64, u64),
    },
    /// The file cannot be read.
    File {
        /// Its path.
        file: String,
        /// What the system says.
        problem: String,
    },
    /// The file has another length than its starts.
    Length {
        /// Its path.
        file: String,
        /// Its length, bytes.
        length: u64,
        /// That of the starts.
        wanted: u64,
    },
}

impl fmt::Display for ReplayError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Speed(speed) => write!(out, "the speed of the replay is {speed}; expected a number above 0"),
            Self::Part { part: (first, step), shard: (shard, shards) } => {
                write!(out, "its starts are part {first} of {step}; expected those of shard {shard} of {shards}")
            }
            Self::File { file, problem } => write!(out, "{file} cannot be read: {problem}; expected a file of starts"),
            Self::Length { file, length, wanted } => {
                write!(out, "{file} has {length} bytes; expected the {wanted} of its starts")
            }
        }
    }
}
