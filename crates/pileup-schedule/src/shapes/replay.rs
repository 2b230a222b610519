//! Starts of a record, whatever the load's rate.

use std::fmt;
use std::fs::File;

use super::shape::{Shape, wrong};
use crate::starts::{Replay, SIZE, Starts};
use crate::told::{Kind, Told, Wrong};

impl Shape for Replay {
    fn wrong(&self, told: &Told, part: Option<(u64, u64)>) -> Option<Wrong> {
        if told.kind != Kind::Open || told.endless || told.ramp > 0 || !told.has_rate() {
            return wrong(ReplayError::Beside);
        }
        part.and_then(|(shard, shards)| self.problem(shard, shards)).and_then(wrong)
    }

    fn foreseen(&self) -> bool {
        false
    }

    fn count(&self) -> Option<u64> {
        Some(self.count)
    }

    fn starts(&self) -> Option<Starts> {
        Some(Starts::new(self))
    }
}

impl Replay {
    /// What is wrong with it for a shard (number, of how many); none when it can be read.
    fn problem(&self, shard: u64, shards: u64) -> Option<ReplayError> {
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
}

/// What is wrong with starts that are to be replayed.
#[derive(Clone, Debug, PartialEq)]
enum ReplayError {
    /// There is another shape beside.
    Beside,
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

impl std::error::Error for ReplayError {}

impl fmt::Display for ReplayError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Beside => {
                out.write_str("a replay is combined with another shape; expected kind open with their mean as rate, and no ramp, endless")
            }
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
