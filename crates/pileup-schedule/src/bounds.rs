//! The totals of a load by its own settings, for plans and for the counts of a lost place.

use crate::load::Load;
use crate::plateau;
use crate::rate::Rate;
use crate::told::{Arrivals, Kind};

/// Poisson arrivals: a number that is practically never exceeded is the mean and so many times its root.
const SIGMAS: f64 = 6.0;

impl Load {
    /// Iterations in all, where a number bounds them.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        let told = if self.kind == Kind::Once { Some(1) } else { self.times };
        [told, self.shape().count()].into_iter().flatten().min()
    }

    /// Iterations of this shard, where a number bounds them.
    #[must_use]
    pub fn number_here(&self) -> Option<u64> {
        let part = self.narrowed();
        self.number().map(|number| if part.limit() == 0 { 0 } else { part.share(number) })
    }

    /// The most iterations that begin; none where only the system bounds them. Poisson arrivals practically never exceed it.
    #[must_use]
    pub fn iterations(&self) -> Option<u64> {
        [self.number(), self.due()].into_iter().flatten().min()
    }

    /// The most that are due by the end of its time; none where there is no end, or when something is due is not known before.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)] // saturating; below 2^53
    fn due(&self) -> Option<u64> {
        let (shape, end) = (self.shape(), self.end()?);
        if self.kind != Kind::Open || !shape.foreseen() || (shape.levels().is_none() && !self.told().has_rate()) {
            return None;
        }
        let mut rate = Rate::new(&self.levels());
        let mean = rate.total();
        if self.arrivals == Arrivals::Poisson {
            return Some((mean + SIGMAS * mean.sqrt()).ceil() as u64);
        }
        // a total just above a whole number may be that number: whether the last is due before the end is known exactly
        let most = mean.ceil() as u64;
        let last = most.saturating_sub(1);
        Some(if rate.reached(last as f64).is_some_and(|time| time < end) { most } else { last })
    }

    /// Iterations per second that an open load asks for, in the mean over what is measured; none where only a record or who steers it knows.
    #[must_use]
    pub fn asked(&self) -> Option<f64> {
        let known = self.kind == Kind::Open && self.shape().foreseen();
        (known && (self.rate.is_some() || self.shape().levels().is_some())).then(|| self.look(plateau::mean))
    }

    /// The measured parts of a load of several levels, (begin, end) in ns after the begin of the first: pauses and ramps are left out. Empty
    /// where one level is all there is.
    #[must_use]
    pub fn spans(&self) -> Vec<(u64, u64)> {
        self.shape().levels().map_or_else(Vec::new, plateau::pressed)
    }

    /// The longest time that it may take, ns, where an iteration takes `patience` at most and the pause after it `pause`; none where nothing
    /// bounds it.
    #[must_use]
    pub fn longest(&self, patience: u64, pause: u64) -> Option<u64> {
        let by_time = self.end().map(|end| end.saturating_add(patience));
        [by_time, self.longest_of_number(patience, pause)].into_iter().flatten().min()
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)] // saturating; below 2^53
    fn longest_of_number(&self, patience: u64, pause: u64) -> Option<u64> {
        let number = self.number()?;
        let before = self.ramp.saturating_add(self.warm_up);
        let pressed = match self.rate.filter(|_| self.kind == Kind::Open) {
            Some(rate) => {
                let mean = number as f64;
                let spread = if self.arrivals == Arrivals::Poisson { mean + SIGMAS * mean.sqrt() } else { mean };
                ((spread / rate * 1e9).ceil() as u64).saturating_add(patience)
            }
            None => {
                let turns = number.div_ceil(u64::from(self.clients.unwrap_or(1)).max(1));
                turns.saturating_mul(patience.saturating_add(pause))
            }
        };
        Some(before.saturating_add(pressed))
    }
}
