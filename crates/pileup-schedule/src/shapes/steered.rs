//! Loads whose level is changed while they go on: its clients or rate are those of the start. Times are nanoseconds after the start of the load.

use std::error::Error;
use std::fmt::{self, Display, Formatter};

use serde::Deserialize;

use super::shape::{Shape, wrong};
use crate::told::{Kind, Told, Wrong, whole};

/// The highest level that the load is ever given.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
pub struct Steered(pub f64);

impl Shape for Steered {
    fn wrong(&self, told: &Told, _part: Option<(u64, u64)>) -> Option<Wrong> {
        let (most, level) = (self.0, if told.kind == Kind::Open { told.rate } else { told.clients.map(f64::from) });
        if matches!(told.kind, Kind::Once | Kind::Times) || told.ramp > 0 {
            return wrong(Problem::Beside);
        }
        if !(most.is_finite() && most > 0.0) {
            return wrong(Problem::Highest(most));
        }
        if !level.is_some_and(|level| (0.0..=most).contains(&level)) {
            return wrong(Problem::First { level, most });
        }
        (!told.ends()).then_some(Wrong::NoEnd)
    }

    fn foreseen(&self) -> bool {
        false
    }

    fn most_clients(&self) -> Option<u32> {
        Some(whole(self.0))
    }

    fn birth(&self, told: &Told, number: u64) -> Option<u64> {
        (number < u64::from(told.clients.unwrap_or(0))).then_some(0)
    }
}

/// What is wrong with a level that is changed.
#[derive(Clone, Debug, PartialEq)]
enum Problem {
    /// There is another shape beside.
    Beside,
    /// The highest level is none.
    Highest(f64),
    /// The first level is not from 0 to the highest.
    First {
        /// The level.
        level: Option<f64>,
        /// The highest.
        most: f64,
    },
}

impl Error for Problem {}

impl Display for Problem {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Beside => {
                out.write_str("steered is combined with once, times or a ramp; expected kind closed or open without")
            }
            Self::Highest(most) => write!(out, "the highest level is {most}; expected a number above 0"),
            Self::First { level, most } => {
                write!(out, "the level of the start is {level:?}; expected clients or rate from 0 to {most}")
            }
        }
    }
}

/// How many clients there should be, from when on: what is in force, then what is reported for later.
#[derive(Clone, Debug)]
pub struct Steps {
    /// Time and clients; times grow.
    known: Vec<(u64, u64)>,
}

impl Steps {
    /// With so many clients from the start.
    #[must_use]
    pub fn new(clients: u64) -> Self {
        Self { known: vec![(0, clients)] }
    }

    /// So many clients from `at` on; what was reported for later times is void, what was before `now` is forgotten.
    pub fn set(&mut self, at: u64, clients: u64, now: u64) {
        self.known.retain(|(time, _)| *time < at);
        self.known.push((at, clients));
        let past = self.known.iter().filter(|(time, _)| *time <= now).count();
        self.known.drain(..past.saturating_sub(1));
    }

    /// The first time, from `time` on, at which client `number` is wanted; none as far as is known.
    #[must_use]
    pub fn wanted(&self, number: u64, time: u64) -> Option<u64> {
        let ends = self.known.iter().skip(1).map(|(time, _)| *time).chain([u64::MAX]);
        let found = self.known.iter().zip(ends).find(|((_, clients), end)| number < *clients && time < *end);
        found.map(|((begin, _), _)| time.max(*begin))
    }
}
