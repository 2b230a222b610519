//! The load as the input of the engine (docs/engine.md).

use std::error::Error;
use std::fmt::{self, Display, Formatter};

use serde::Deserialize;

use crate::law::Law;
use crate::plateau::{self, Plateau, Stage};
use crate::shapes::{Flat, Shape, Shapes};
use crate::told::{Arrivals, Kind, Told, Wrong};

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
    /// What gives it its levels, where that is not its clients or its rate alone.
    #[serde(flatten)]
    pub shapes: Shapes,
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

impl Load {
    /// What gives it its levels.
    #[must_use]
    pub(crate) fn shape(&self) -> &dyn Shape {
        self.shapes.first().unwrap_or(&Flat)
    }

    /// Its levels: those of its shape, else the one of its clients or rate.
    #[must_use]
    pub fn levels(&self) -> Vec<Plateau> {
        self.look(<[Plateau]>::to_vec)
    }

    /// Look at its levels.
    pub(crate) fn look<T>(&self, at: impl FnOnce(&[Plateau]) -> T) -> T {
        if let Some(levels) = self.shape().levels() {
            return at(levels);
        }
        let level = if self.kind == Kind::Open { self.rate } else { self.clients.map(f64::from) };
        let (ramp, warm_up, duration) = (self.ramp, self.warm_up, self.duration);
        at(&[Plateau { level: level.unwrap_or(1.0), ramp, warm_up, duration }])
    }

    /// What shapes look at.
    pub(crate) fn told(&self) -> Told {
        Told {
            kind: self.kind,
            times: self.times,
            clients: self.clients,
            rate: self.rate,
            ramp: self.ramp,
            endless: self.endless,
            duration: self.duration,
        }
    }

    /// The highest level that it may get; none if its level cannot be changed.
    #[must_use]
    pub fn steered(&self) -> Option<f64> {
        self.shapes.steered.map(|highest| highest.0)
    }

    /// When nothing more begins, ns after the start; none for loads without a time.
    #[must_use]
    pub fn end(&self) -> Option<u64> {
        self.look(plateau::end)
    }

    /// Whether an iteration is due just when its client is there: only what has neither a time nor a pause.
    #[must_use]
    pub fn untimed(&self) -> bool {
        self.kind != Kind::Open && self.end().is_none() && self.think.is_none() && !self.endless
    }

    /// Part of the load's life at a time.
    #[must_use]
    pub fn stage(&self, time: u64) -> Stage {
        self.look(|levels| plateau::stage(levels, time))
    }

    /// The parts of its life that are measured, (begin, end) in ns after the start; `u64::MAX` where no time ends one.
    #[must_use]
    pub fn measured(&self) -> Vec<(u64, u64)> {
        self.look(plateau::measured)
    }

    /// The most clients there are at a time in the whole load; none where an open load leaves that to the engine.
    #[must_use]
    pub fn most_clients(&self) -> Option<u32> {
        match self.kind {
            Kind::Open => self.clients,
            Kind::Closed => self.shape().most_clients().or(Some(self.clients.unwrap_or(1))),
            Kind::Once | Kind::Times => Some(self.clients.unwrap_or(1)),
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
            Self { kind: Kind::Times, times: Some(0), ..whole }
        }
    }

    /// Which numbers of iterations are this shard's: k with k mod the second = the first; none when it begins nothing.
    #[must_use]
    pub fn numbers_here(&self) -> Option<(u64, u64)> {
        let part = self.narrowed();
        (part.limit() > 0).then_some((part.shard, part.shards))
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
        if self.shapes.given().nth(1).is_some() {
            return Some(Wrong::Shapes(Shapes::WORDS));
        }
        self.shape().wrong(&self.told(), self.numbers_here())
    }
}

/// A load that cannot be run.
#[derive(Debug)]
pub struct LoadError {
    /// Name of its case.
    pub load: String,
    /// What is wrong with it.
    pub wrong: Wrong,
}

impl Display for LoadError {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "load of {}: {}", self.load, self.wrong)
    }
}

impl Error for LoadError {}
