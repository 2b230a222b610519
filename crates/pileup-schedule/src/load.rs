//! The load as the engine is told it (docs/engine.md).

use std::error::Error;
use std::fmt::{self, Display, Formatter};

use serde::Deserialize;

use crate::law::Law;
use crate::replay::{Replay, ReplayError};
use crate::segment::{self, Segment, Stage};

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

/// One load of one case at one place. Times in ns.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// Id of the case.
    pub case: u32,
    /// Name of the case.
    pub name: String,
    /// Index of the target.
    pub target: u16,
    /// Number of the place.
    pub place: u16,
    /// Which part of the load this is.
    pub shard: u64,
    /// Of how many.
    pub shards: u64,
    /// Everything random follows from it.
    pub seed: u64,
    /// When the load begins, ns since the epoch; 0: as soon as possible.
    pub start: i64,
    /// Its shape.
    pub kind: Kind,
    /// Iterations in all.
    pub times: Option<u64>,
    /// Clients in all, or the most in flight.
    pub clients: Option<u32>,
    /// Iterations per second.
    pub rate: Option<f64>,
    /// Spacing of an open load.
    pub arrivals: Arrivals,
    /// Time over which it grows.
    pub ramp: u64,
    /// Time at full load before the measurement.
    pub warm_up: u64,
    /// Time measured.
    #[serde(rename = "for")]
    pub duration: Option<u64>,
    /// Levels one after another, instead of clients or rate, ramp, warm-up and time.
    #[serde(default)]
    pub segments: Option<Vec<Segment>>,
    /// The highest level it is ever told: then its clients or rate are those of the start and may be changed while it goes on.
    #[serde(default)]
    pub steered: Option<f64>,
    /// Starts of a record instead of a rate, which is then only their mean.
    #[serde(default)]
    pub replay: Option<Replay>,
    /// Whether it only looks for something: what it measures counts as warm-up, and its warm-up as ramp.
    #[serde(default)]
    pub trial: bool,
    /// Whether it may go on until it is stopped.
    #[serde(default)]
    pub endless: bool,
    /// Pause of a client between its iterations.
    pub think: Option<Law>,
    /// Phase of every row, by number, instead of that by time.
    pub phase: Option<u8>,
    /// What an iteration may take.
    pub timeout: u64,
    /// Precision of starts.
    pub pacing: String,
    /// Native worker threads, at most: `used_workers` says how many it takes.
    pub workers: u32,
    /// Stop after so many iterations that did not pass, one after another.
    pub errors_in_a_row: Option<u64>,
    /// Stop after so many iterations.
    pub operations: Option<u64>,
}

/// Clients of an open load that a worker has, at least, before another shares the load.
const POOL: u32 = 32;

/// A level as a number of clients.
#[must_use]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturating
pub fn whole(level: f64) -> u32 {
    level.round() as u32
}

impl Load {
    /// Its levels: those it is told, else the one of its clients or rate.
    #[must_use]
    pub fn levels(&self) -> Vec<Segment> {
        self.look(<[Segment]>::to_vec)
    }

    /// Look at its levels.
    fn look<T>(&self, at: impl FnOnce(&[Segment]) -> T) -> T {
        if let Some(segments) = &self.segments {
            return at(segments);
        }
        let level = if self.kind == Kind::Open { self.rate } else { self.clients.map(f64::from) };
        let (ramp, warm_up, duration) = (self.ramp, self.warm_up, self.duration);
        at(&[Segment { level: level.unwrap_or(1.0), ramp, warm_up, duration }])
    }

    /// When nothing more begins, ns after the start; none for loads without a time.
    #[must_use]
    pub fn end(&self) -> Option<u64> {
        self.look(segment::end)
    }

    /// Whether an iteration is due just when its client is there: only what has neither a time nor a pause.
    #[must_use]
    pub fn untimed(&self) -> bool {
        self.kind != Kind::Open && self.end().is_none() && self.think.is_none() && !self.endless
    }

    /// Part of the load's life at a time.
    #[must_use]
    pub fn stage(&self, time: u64) -> Stage {
        self.look(|levels| segment::stage(levels, time))
    }

    /// The parts of its life that are measured, (begin, end) in ns after the start; `u64::MAX` where no time ends one.
    #[must_use]
    pub fn measured(&self) -> Vec<(u64, u64)> {
        self.look(segment::measured)
    }

    /// The most clients there are at a time in the whole load; none where an open load leaves that to the engine.
    #[must_use]
    pub fn most_clients(&self) -> Option<u32> {
        match (&self.segments, self.kind) {
            (Some(segments), Kind::Closed) => Some(u32::try_from(segment::most_clients(segments)).unwrap_or(u32::MAX)),
            (_, Kind::Open) => self.clients,
            (_, Kind::Closed) if self.steered.is_some() => self.steered.map(whole),
            _ => Some(self.clients.unwrap_or(1)),
        }
    }

    /// Iterations in all, as far as their number is bounded.
    #[must_use]
    pub fn limit(&self) -> u64 {
        if self.kind == Kind::Once { 1 } else { self.times.unwrap_or(u64::MAX) }
    }

    /// Whether number `k` of the whole belongs to this shard.
    #[must_use]
    pub fn mine(&self, k: u64) -> bool {
        k % self.shards == self.shard
    }

    /// The part that a shard really has: clients cannot be divided, so a load with fewer of them than shards belongs to as many shards
    /// as it has clients, and the other shards begin nothing.
    #[must_use]
    pub fn narrowed(&self) -> Self {
        let clients = match self.kind {
            Kind::Once => 1,
            _ => self.most_clients().map_or(u64::MAX, u64::from),
        };
        let clients = clients.max(1);
        let whole = self.clone();
        if self.shards <= clients {
            whole
        } else if self.shard < clients {
            Self { shards: clients, ..whole }
        } else {
            Self { kind: Kind::Times, times: Some(0), replay: None, ..whole }
        }
    }

    /// How many of its workers this shard takes: each has a part of its clients, and no use without one. The clients of an open load are a
    /// pool, from which whatever is due takes one that is free: it is divided only where each part is large.
    #[must_use]
    pub fn used_workers(&self) -> u32 {
        let clients = match self.kind {
            Kind::Once => 1,
            _ => self.most_clients().unwrap_or(u32::MAX),
        };
        let mine = u64::from(clients) / self.shards.max(1);
        let most = if self.kind == Kind::Open { mine / u64::from(POOL) } else { mine };
        self.workers.min(u32::try_from(most).unwrap_or(u32::MAX)).max(1)
    }

    /// The part of one of `count` workers of this shard. All parts together are the shard, so other shards may have other numbers of workers.
    #[must_use]
    pub fn part(&self, worker: u32, count: u32) -> Self {
        let (worker, count) = (u64::from(worker), u64::from(count));
        Self { shard: self.shard + self.shards * worker, shards: self.shards * count, ..self.clone() }.narrowed()
    }

    /// This shard's part of a number.
    #[must_use]
    pub fn share(&self, number: u64) -> u64 {
        number / self.shards + u64::from(self.shard < number % self.shards)
    }

    /// Check what its types do not say.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self) -> Result<(), LoadError> {
        self.wrong().map_or(Ok(()), |wrong| Err(LoadError { load: self.name.clone(), wrong }))
    }

    fn wrong(&self) -> Option<Wrong> {
        if self.shards == 0 || self.shard >= self.shards {
            return Some(Wrong::Shard);
        }
        if self.replay.is_some() {
            return self.wrong_replay();
        }
        if let Some(segments) = &self.segments {
            return self.wrong_segments(segments);
        }
        if let Some(most) = self.steered {
            return self.wrong_steered(most);
        }
        match self.kind {
            Kind::Open if !self.rate.is_some_and(|rate| rate > 0.0 && rate.is_finite()) => Some(Wrong::NoRate),
            Kind::Open | Kind::Closed if self.duration.is_none() && self.times.is_none() && !self.endless => {
                Some(Wrong::NoEnd)
            }
            Kind::Closed if self.clients.unwrap_or(0) == 0 => Some(Wrong::NoClients),
            Kind::Times if self.times.is_none() => Some(Wrong::NoTimes),
            _ => None,
        }
    }

    /// What is wrong with a load of recorded starts.
    fn wrong_replay(&self) -> Option<Wrong> {
        let alone = self.kind == Kind::Open && self.segments.is_none() && self.steered.is_none() && !self.endless;
        if !alone || self.ramp > 0 || !self.rate.is_some_and(|rate| rate > 0.0 && rate.is_finite()) {
            return Some(Wrong::ReplayBeside);
        }
        let part = self.narrowed();
        part.replay.as_ref().and_then(|replay| replay.wrong(part.shard, part.shards)).map(Wrong::Replay)
    }

    /// What is wrong with a load whose level is changed while it goes on.
    fn wrong_steered(&self, most: f64) -> Option<Wrong> {
        let level = if self.kind == Kind::Open { self.rate } else { self.clients.map(f64::from) };
        if matches!(self.kind, Kind::Once | Kind::Times) || self.ramp > 0 {
            return Some(Wrong::SteeredBeside);
        }
        if !(most.is_finite() && most > 0.0) {
            return Some(Wrong::HighestLevel(most));
        }
        if !level.is_some_and(|level| (0.0..=most).contains(&level)) {
            return Some(Wrong::FirstLevel { level, most });
        }
        let ends = self.duration.is_some() || self.times.is_some() || self.endless;
        (!ends).then_some(Wrong::NoEnd)
    }

    /// What is wrong with its segments.
    fn wrong_segments(&self, segments: &[Segment]) -> Option<Wrong> {
        if matches!(self.kind, Kind::Once | Kind::Times) {
            return Some(Wrong::SegmentsBeside);
        }
        let whole = self.kind == Kind::Closed;
        let good = |level: f64| level.is_finite() && level >= 0.0 && !(whole && level.fract() != 0.0);
        for (number, segment) in segments.iter().enumerate() {
            if !good(segment.level) {
                return Some(Wrong::SegmentLevel { number, level: segment.level, whole });
            }
            if segment.duration.is_none() && number + 1 < segments.len() {
                return Some(Wrong::EndlessSegment(number));
            }
        }
        if segments.iter().all(|segment| segment.level == 0.0) {
            return Some(Wrong::NothingPresses);
        }
        let ends = segment::end(segments).is_some() || self.times.is_some() || self.endless;
        (!ends).then_some(Wrong::NoLastEnd)
    }
}

/// A load that cannot be pressed.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadError {
    /// Name of its case.
    pub load: String,
    /// What is wrong with it.
    pub wrong: Wrong,
}

/// What is wrong with a load.
#[derive(Clone, Debug, PartialEq)]
pub enum Wrong {
    /// Its shard is not below its shards.
    Shard,
    /// It is open, and has no rate.
    NoRate,
    /// It has no end.
    NoEnd,
    /// It is closed, and has no clients.
    NoClients,
    /// It is so many iterations, and does not say how many.
    NoTimes,
    /// It replays starts, and has another shape beside.
    ReplayBeside,
    /// What it replays cannot be replayed.
    Replay(ReplayError),
    /// Its level is changed while it goes on, and it has another shape beside.
    SteeredBeside,
    /// Its highest level is none.
    HighestLevel(f64),
    /// Its first level is not from 0 to the highest.
    FirstLevel {
        /// The level.
        level: Option<f64>,
        /// The highest.
        most: f64,
    },
    /// It has segments, and another shape beside.
    SegmentsBeside,
    /// The level of a segment is none.
    SegmentLevel {
        /// Its place.
        number: usize,
        /// The level.
        level: f64,
        /// Whether it must be a whole number, of clients.
        whole: bool,
    },
    /// A segment that others follow has no end.
    EndlessSegment(usize),
    /// No segment has a level above 0.
    NothingPresses,
    /// Its segments have no end.
    NoLastEnd,
}

impl Display for LoadError {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "load of {}: {}", self.load, self.wrong)
    }
}

impl Display for Wrong {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shard => out.write_str("shard is not below shards; expected 0 <= shard < shards"),
            Self::NoRate => out.write_str("an open load has no rate; expected iterations per second above 0"),
            Self::NoEnd => out.write_str("it has no end; expected `for` or `times`, or `endless`"),
            Self::NoClients => out.write_str("a closed load has no clients; expected 1 or more"),
            Self::NoTimes => out.write_str("times is missing; expected a number of iterations"),
            Self::ReplayBeside => out.write_str(
                "a replay stands beside another shape; expected kind open with their mean as rate, and no ramp, segments, steered, endless",
            ),
            Self::Replay(wrong) => wrong.fmt(out),
            Self::SteeredBeside => out.write_str(
                "steered stands beside once, times or a ramp; expected kind closed or open without",
            ),
            Self::HighestLevel(most) => write!(out, "the highest level is {most}; expected a number above 0"),
            Self::FirstLevel { level, most } => {
                write!(out, "the level of the start is {level:?}; expected clients or rate from 0 to {most}")
            }
            Self::SegmentsBeside => {
                out.write_str("segments stand beside once or times; expected kind closed or open")
            }
            Self::SegmentLevel { number, level, whole } => {
                let says = if *whole { "a whole number of clients from 0" } else { "iterations per second from 0" };
                write!(out, "the level of segment {number} is {level}; expected {says}")
            }
            Self::EndlessSegment(number) => {
                write!(out, "segment {number} has no `for`, but others follow; expected it in all but the last")
            }
            Self::NothingPresses => out.write_str("no segment has a level above 0; expected one that presses"),
            Self::NoLastEnd => {
                out.write_str("it has no end; expected `for` in its last segment, `times`, or `endless`")
            }
        }
    }
}

impl Error for LoadError {}
