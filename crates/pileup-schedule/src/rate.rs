//! The rate of an open load as a function of time, for asking when its integral reaches a number.

use crate::plateau::{Plateau, walk};

/// A time over which the rate goes linearly, or is the same.
#[derive(Clone, Debug)]
struct Piece {
    /// Beginning, ns after the start.
    begin: u64,
    /// Length, s; infinite for the last one without an end.
    seconds: f64,
    /// Rates at its beginning and end.
    from: f64,
    to: f64,
    /// The integral of the rate up to its beginning.
    before: f64,
    /// And over it.
    amount: f64,
}

impl Piece {
    /// Let it end at `time` at the latest; returns the integral of the rate up to its end.
    #[allow(clippy::cast_precision_loss)] // below 2^53 ns = 104 days
    fn cut(&mut self, time: u64) -> f64 {
        let seconds = (time - self.begin) as f64 / 1e9;
        if seconds < self.seconds {
            let growth =
                if self.from.to_bits() == self.to.to_bits() { 0.0 } else { (self.to - self.from) / self.seconds };
            self.seconds = seconds;
            self.to = self.from + growth * seconds;
            self.amount = (self.from + self.to) / 2.0 * seconds;
        }
        self.before + self.amount
    }

    /// When the integral of the rate over this piece has reached `amount`, s after its beginning.
    fn reached(&self, amount: f64) -> f64 {
        if self.from.to_bits() == self.to.to_bits() {
            return amount / self.from;
        }
        if self.from == 0.0 {
            return (2.0 * amount * self.seconds / self.to).sqrt().min(self.seconds);
        }
        // of the two ways to write the root of a quadratic equation the one that takes no small difference of large numbers
        let growth = (self.to - self.from) / self.seconds;
        let root = (self.from * self.from + 2.0 * growth * amount).max(0.0).sqrt();
        (2.0 * amount / (self.from + root)).min(self.seconds)
    }
}

/// The rate of an open load over its life, for asking when its integral reaches growing amounts.
#[derive(Clone, Debug)]
pub struct Rate {
    pieces: Vec<Piece>,
    /// The piece of the last answer: amounts only grow.
    at: usize,
}

impl Rate {
    /// Of these levels.
    #[must_use]
    #[allow(clippy::cast_precision_loss)] // below 2^53 ns = 104 days
    pub fn new(plateaus: &[Plateau]) -> Self {
        let mut pieces: Vec<Piece> = Vec::new();
        let mut before = 0.0;
        for (begin, last, plateau) in walk(plateaus) {
            let from = last.map_or(0.0, |plateau| plateau.level);
            let held = plateau.duration.map_or(f64::INFINITY, |time| plateau.warm_up.saturating_add(time) as f64 / 1e9);
            let ramp = plateau.ramp as f64 / 1e9;
            let level = plateau.level;
            let hold = begin.saturating_add(plateau.ramp);
            for (begin, seconds, from, to) in [(begin, ramp, from, level), (hold, held, level, level)] {
                let amount = if from + to > 0.0 { (from + to) / 2.0 * seconds } else { 0.0 };
                if amount > 0.0 {
                    pieces.push(Piece { begin, seconds, from, to, before, amount });
                    before += amount;
                }
            }
        }
        Self { pieces, at: 0 }
    }

    /// What its integral comes to over all its life: infinite where no time ends it.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.pieces.last().map_or(0.0, |piece| piece.before + piece.amount)
    }

    /// Another rate from `time` on, without an end; what was known for later is void. Times in ns after the start; what ended before `now`
    /// and is done with is forgotten, and cannot be changed any more.
    pub fn set(&mut self, time: u64, rate: f64, now: u64) {
        let starts = self.pieces.iter().skip(1).map(|piece| piece.begin);
        let past = starts.take(self.at).take_while(|end| *end <= now.min(time)).count();
        self.pieces.drain(..past);
        let (time, past_amount) =
            self.pieces.first().map_or((time, 0.0), |piece| (time.max(piece.begin), piece.before));
        self.pieces.retain(|piece| piece.begin < time);
        let before = self.pieces.last_mut().map_or(past_amount, |piece| piece.cut(time));
        let amount = if rate > 0.0 { f64::INFINITY } else { 0.0 };
        self.pieces.push(Piece { begin: time, seconds: f64::INFINITY, from: rate, to: rate, before, amount });
        self.at = (self.at - past).min(self.pieces.len() - 1);
    }

    /// When the integral of the rate goes beyond `amount`, ns after the start; none when it never does. Amounts must not shrink.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // exact to below a ns for 50 days within a piece
    pub fn reached(&mut self, amount: f64) -> Option<u64> {
        while self.pieces.get(self.at).is_some_and(|piece| amount - piece.before >= piece.amount) {
            self.at += 1;
        }
        let piece = self.pieces.get(self.at)?;
        let seconds = piece.reached((amount - piece.before).max(0.0));
        Some(piece.begin.saturating_add((seconds * 1e9).round() as u64))
    }
}
