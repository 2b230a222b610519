//! What shapes look at of a load, and what can be wrong with it.

use std::error::Error;
use std::fmt::{self, Display, Formatter};

use serde::Deserialize;

/// The shape of a load.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// One iteration.
    Once,
    /// So many, one after another.
    Times,
    /// So many clients, each begins again when it is free.
    Closed,
    /// At a rate, whatever the system answers.
    Open,
}

/// Spacing of an open load.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Arrivals {
    /// Evenly.
    #[default]
    Constant,
    /// As independent events.
    Poisson,
}

/// The words of a load that its shape goes by. Times in ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Told {
    /// Its kind.
    pub kind: Kind,
    /// Iterations in all.
    pub times: Option<u64>,
    /// Clients in all, or the most in flight.
    pub clients: Option<u32>,
    /// Iterations per second.
    pub rate: Option<f64>,
    /// Time over which it grows.
    pub ramp: u64,
    /// Whether it may go on until it is stopped.
    pub endless: bool,
    /// Time measured.
    pub duration: Option<u64>,
}

impl Told {
    /// Whether it says how many iterations are due per second.
    #[must_use]
    pub fn has_rate(&self) -> bool {
        self.rate.is_some_and(|rate| rate > 0.0 && rate.is_finite())
    }

    /// Whether something says when it ends, or that nothing needs to.
    #[must_use]
    pub fn ends(&self) -> bool {
        self.duration.is_some() || self.times.is_some() || self.endless
    }
}

/// A level as a number of clients.
#[must_use]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturating
pub fn whole(level: f64) -> u32 {
    level.round() as u32
}

/// What is wrong with a load.
#[derive(Debug)]
pub enum Wrong {
    /// Its shard is not below its shards.
    Shard,
    /// It is open, and has no rate.
    NoRate,
    /// Neither `for` nor `times`, and not endless.
    NoEnd,
    /// It is closed, and has no clients.
    NoClients,
    /// It is so many iterations, and does not say how many.
    NoTimes,
    /// It has several shapes: those that there are.
    Shapes(&'static [&'static str]),
    /// Something that only its shape knows.
    Shape(Box<dyn Error + Send + Sync>),
}

impl Display for Wrong {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shard => out.write_str("shard is not below shards; expected 0 <= shard < shards"),
            Self::NoRate => out.write_str("an open load has no rate; expected iterations per second above 0"),
            Self::NoEnd => out.write_str("`for` and `times` are missing; expected one of them, or `endless`"),
            Self::NoClients => out.write_str("a closed load has no clients; expected 1 or more"),
            Self::NoTimes => out.write_str("times is missing; expected a number of iterations"),
            Self::Shapes(words) => {
                let words = words.join(", ");
                write!(out, "a shape is combined with another shape; expected at most one of {words}")
            }
            Self::Shape(wrong) => wrong.fmt(out),
        }
    }
}
