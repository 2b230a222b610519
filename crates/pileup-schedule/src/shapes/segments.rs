//! Levels one after another.

use std::error::Error;
use std::fmt::{self, Display, Formatter};

use serde::Deserialize;

use super::shape::{Shape, wrong};
use crate::plateau::{self, Plateau};
use crate::told::{Kind, Told, Wrong};

/// Levels one after another.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct Segments(pub Vec<Plateau>);

impl Shape for Segments {
    fn wrong(&self, told: &Told, _part: Option<(u64, u64)>) -> Option<Wrong> {
        self.problem(told).and_then(wrong)
    }

    fn levels(&self) -> Option<&[Plateau]> {
        Some(&self.0)
    }

    fn most_clients(&self) -> Option<u32> {
        Some(u32::try_from(plateau::most_clients(&self.0)).unwrap_or(u32::MAX))
    }

    fn birth(&self, _told: &Told, number: u64) -> Option<u64> {
        self.wanted(number, 0)
    }

    fn wanted(&self, number: u64, time: u64) -> Option<u64> {
        plateau::wanted(&self.0, number, time)
    }
}

impl Segments {
    fn problem(&self, told: &Told) -> Option<Problem> {
        if matches!(told.kind, Kind::Once | Kind::Times) {
            return Some(Problem::Beside);
        }
        let whole = told.kind == Kind::Closed;
        let good = |level: f64| level.is_finite() && level >= 0.0 && !(whole && level.fract() != 0.0);
        for (number, segment) in self.0.iter().enumerate() {
            if !good(segment.level) {
                return Some(Problem::Level { number, level: segment.level, whole });
            }
            if segment.duration.is_none() && number + 1 < self.0.len() {
                return Some(Problem::Endless(number));
            }
        }
        if self.0.iter().all(|segment| segment.level == 0.0) {
            return Some(Problem::NothingPresses);
        }
        let ends = plateau::end(&self.0).is_some() || told.times.is_some() || told.endless;
        (!ends).then_some(Problem::NoEnd)
    }
}

/// What is wrong with segments.
#[derive(Clone, Debug, PartialEq)]
enum Problem {
    /// The load is of another kind.
    Beside,
    /// The level of one is none.
    Level {
        /// Its place.
        number: usize,
        /// The level.
        level: f64,
        /// Whether it must be a whole number, of clients.
        whole: bool,
    },
    /// One that others follow has no end.
    Endless(usize),
    /// None has a level above 0.
    NothingPresses,
    /// They have no end.
    NoEnd,
}

impl Error for Problem {}

impl Display for Problem {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Beside => out.write_str("segments are combined with once or times; expected kind closed or open"),
            Self::Level { number, level, whole } => {
                let says = if *whole { "a whole number of clients from 0" } else { "iterations per second from 0" };
                write!(out, "the level of segment {number} is {level}; expected {says}")
            }
            Self::Endless(number) => {
                write!(out, "segment {number} has no `for`, but others follow; expected it in all but the last")
            }
            Self::NothingPresses => out.write_str("no segment has a level above 0; expected one that presses"),
            Self::NoEnd => out.write_str("the last segment has no `for`; expected it, `times`, or `endless`"),
        }
    }
}
