//! Open loads: iteration k is due when the integral of the rate has reached k, or the k-th sum of exponential draws, or as the k-th of a record was.

use crate::draw::unit;
use crate::load::Load;
use crate::plateau::Stage;
use crate::rate::Rate;
use crate::starts::{Starts, Unreadable};
use crate::told::Arrivals;

/// An iteration that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Number over the whole load.
    pub number: u64,
    /// When, ns after the start.
    pub time: u64,
    /// Part of the load's life.
    pub stage: Stage,
}

/// Stream of the draws between arrivals.
const STREAM: u64 = 0;

/// So many random arrivals are counted one by one, at most; more are counted by their rate. A rate that nobody can press would take hours.
const COUNTED: u64 = 10_000_000;

/// The arrivals of one shard in order.
#[derive(Clone, Debug)]
pub struct Schedule {
    load: Load,
    rate: Rate,
    /// What a replay looks its times up in.
    starts: Option<Starts>,
    next: u64,
    /// Sum of the exponential draws up to and with `next`.
    sum: f64,
    /// What comes next, once that was asked.
    pending: Option<Option<Arrival>>,
}

impl Schedule {
    /// From the first one on.
    #[must_use]
    pub fn new(load: &Load) -> Self {
        let (rate, starts) = (Rate::new(&load.levels()), load.shape().starts());
        let mut schedule = Self { load: load.clone(), rate, starts, next: 0, sum: 0.0, pending: None };
        schedule.sum = schedule.gap(0);
        schedule
    }

    fn gap(&self, k: u64) -> f64 {
        -unit(self.load.seed, STREAM, k).ln()
    }

    /// When the integral of the rate reaches `next`, or the sum of the draws, or as it was recorded; none: never.
    #[allow(clippy::cast_precision_loss)] // numbers of arrivals stay below 2^53
    fn time(&mut self) -> Option<u64> {
        if let Some(starts) = &mut self.starts {
            return starts.get(self.next);
        }
        match self.load.arrivals {
            Arrivals::Constant => self.rate.reached(self.next as f64),
            Arrivals::Poisson => self.rate.reached(self.sum),
        }
    }

    fn advance(&mut self) {
        self.next += 1;
        if self.load.arrivals == Arrivals::Poisson {
            self.sum += self.gap(self.next);
        }
    }
}

impl Schedule {
    /// What comes next.
    pub fn peek(&mut self) -> Option<Arrival> {
        if let Some(known) = self.pending {
            return known;
        }
        let found = self.find();
        self.pending = Some(found);
        found
    }

    fn find(&mut self) -> Option<Arrival> {
        while !self.load.mine(self.next) {
            self.advance();
        }
        let (number, time) = (self.next, self.time()?);
        if number >= self.load.limit() || self.load.end().is_some_and(|end| time >= end) {
            return None;
        }
        Some(Arrival { number, time, stage: self.load.stage(time) })
    }

    /// Whether its number of iterations is reached.
    #[must_use]
    pub fn spent(&self) -> bool {
        self.next >= self.load.limit()
    }

    /// Why nothing comes next although something should; none when nothing is wrong.
    #[must_use]
    pub fn unreadable(&self) -> Option<&Unreadable> {
        self.starts.as_ref().and_then(Starts::unreadable)
    }

    /// How many arrivals come from the next one up to `last` (ns after the start, included) and are measured. They are not given again.
    pub fn measured_until(&mut self, last: u64) -> u64 {
        let known = self.starts.is_some();
        if !known && self.load.arrivals == Arrivals::Constant {
            return self.even_until(self.next, last);
        }
        let (first, mut measured) = (self.next, 0);
        while known || self.next - first < COUNTED {
            let Some(arrival) = self.peek().filter(|arrival| arrival.time <= last) else { return measured };
            self.next();
            measured += u64::from(arrival.stage == Stage::Measure);
        }
        self.even_until(amount(self.sum), last).saturating_add(measured)
    }

    /// The same by the rate alone: of evenly spaced arrivals, the next one of which is number `next`.
    fn even_until(&self, next: u64, last: u64) -> u64 {
        let behind = last.saturating_add(1);
        let of_span = |(begin, end): (u64, u64)| {
            let (from, to) = (self.first_at(next, begin), self.first_at(next, end.min(behind)));
            self.mine_below(to) - self.mine_below(from.min(to))
        };
        self.load.measured().into_iter().map(of_span).fold(0, u64::saturating_add)
    }

    /// The first of evenly spaced arrivals, from number `next` on, that is due at `time` or later.
    #[allow(clippy::cast_precision_loss)] // numbers of arrivals stay below 2^53
    fn first_at(&self, next: u64, time: u64) -> u64 {
        let (mut low, mut high) = (next, self.load.limit().max(next));
        while low < high {
            let middle = low + (high - low) / 2;
            if self.rate.clone().reached(middle as f64).is_none_or(|due| due >= time) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    }

    /// How many numbers below this one belong to this shard.
    fn mine_below(&self, number: u64) -> u64 {
        number.saturating_sub(self.load.shard).div_ceil(self.load.shards.max(1))
    }

    /// From `time` on (ns after the start) iterations are due at another rate: the integral of the rate goes on without a jump.
    /// What was before `now` is not given again.
    pub fn set_level(&mut self, time: u64, rate: f64, now: u64) {
        self.rate.set(time, rate, now);
        self.pending = None;
    }
}

/// The first whole amount that a sum has not gone beyond.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturating
fn amount(sum: f64) -> u64 {
    sum.ceil() as u64
}

impl Iterator for Schedule {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        let arrival = self.peek()?;
        self.advance();
        self.pending = None;
        Some(arrival)
    }
}
