//! Loads of several levels: each segment goes linearly from the level before (the first from 0) to its own, then holds it.

use serde::Deserialize;

/// Part of a load's life by intended start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// It grows.
    Ramp,
    /// It is there, the system not yet settled.
    WarmUp,
    /// What enters the figures.
    Measure,
}

/// One level of a load. Times in ns.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Segment {
    /// Clients (closed) or iterations per second (open).
    pub level: f64,
    /// Time over which the level before becomes this one.
    pub ramp: u64,
    /// Time at this level before it is measured.
    pub warm_up: u64,
    /// Time measured at this level; none: until the load is stopped or has done its iterations.
    #[serde(rename = "for")]
    pub duration: Option<u64>,
}

impl Segment {
    /// How long it takes; none: no time ends it.
    #[must_use]
    pub fn length(&self) -> Option<u64> {
        self.duration.map(|duration| self.ramp.saturating_add(self.warm_up).saturating_add(duration))
    }

    /// The level as a number of clients.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // saturating; checked to be whole
    fn clients(&self) -> u64 {
        self.level as u64
    }
}

/// Segments with their beginning (ns after the start) and the level before them.
fn walk(segments: &[Segment]) -> impl Iterator<Item = (u64, Option<&Segment>, &Segment)> {
    let mut begin = 0u64;
    let mut before = None;
    segments.iter().map(move |segment| {
        let step = (begin, before.replace(segment), segment);
        begin = begin.saturating_add(segment.length().unwrap_or(u64::MAX));
        step
    })
}

/// When the last one ends; none when no time ends it.
#[must_use]
pub fn end(segments: &[Segment]) -> Option<u64> {
    segments.iter().try_fold(0u64, |sum, segment| segment.length().map(|length| sum.saturating_add(length)))
}

/// Part of the load's life at a time.
#[must_use]
pub fn stage(segments: &[Segment], time: u64) -> Stage {
    let found = walk(segments).take_while(|(begin, _, _)| *begin <= time).last();
    let Some((begin, _, segment)) = found else { return Stage::Measure };
    let since = time - begin;
    if since < segment.ramp {
        Stage::Ramp
    } else if since - segment.ramp < segment.warm_up {
        Stage::WarmUp
    } else {
        Stage::Measure
    }
}

/// When each is measured, (begin, end) in ns after the start; `u64::MAX` where no time ends one.
#[must_use]
pub fn measured(segments: &[Segment]) -> Vec<(u64, u64)> {
    let span = |(begin, _, segment): (u64, Option<&Segment>, &Segment)| {
        let from = begin.saturating_add(segment.ramp).saturating_add(segment.warm_up);
        (from, segment.duration.map_or(u64::MAX, |time| from.saturating_add(time)))
    };
    walk(segments).map(span).collect()
}

/// The most clients there ever are.
#[must_use]
pub fn most_clients(segments: &[Segment]) -> u64 {
    segments.iter().map(Segment::clients).max().unwrap_or(0)
}

/// The first time, from `time` on, at which client number `client` is wanted; none when it is not any more.
///
/// While the level n grows, client i comes when n has reached i; while it falls, it goes when n has come down to i: at any time there are n clients, rounded up.
#[must_use]
pub fn wanted(segments: &[Segment], client: u64, time: u64) -> Option<u64> {
    let mut came: Option<u64> = None;
    for (begin, before, segment) in walk(segments) {
        let (from, to) = (before.map_or(0, Segment::clients), segment.clients());
        // 128 bits: a ramp of days in ns times a million clients
        let after = |steps: u64, all: u64| {
            let part = u128::from(segment.ramp) * u128::from(steps) / u128::from(all.max(1));
            begin.saturating_add(u64::try_from(part).unwrap_or(u64::MAX))
        };
        if from <= client && client < to {
            came = Some(after(client - from, to - from));
        } else if to <= client && client < from {
            let gone = after(from - client, from - to);
            if let Some(came) = came.take().map(|came| came.max(time)).filter(|came| *came < gone) {
                return Some(came);
            }
        }
    }
    came.map(|came| came.max(time))
}

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
    pub fn new(segments: &[Segment]) -> Self {
        let mut pieces: Vec<Piece> = Vec::new();
        let mut before = 0.0;
        for (begin, last, segment) in walk(segments) {
            let from = last.map_or(0.0, |segment| segment.level);
            let held = segment.duration.map_or(f64::INFINITY, |time| segment.warm_up.saturating_add(time) as f64 / 1e9);
            let ramp = segment.ramp as f64 / 1e9;
            let level = segment.level;
            let hold = begin.saturating_add(segment.ramp);
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

    /// Another rate from `time` on, without an end; what was known for later is void. Times in ns after the start; what ended before `now`
    /// and is done with is forgotten, and cannot be changed any more.
    pub fn set(&mut self, time: u64, rate: f64, now: u64) {
        let starts = self.pieces.iter().skip(1).map(|piece| piece.begin);
        let past = starts.take(self.at).take_while(|end| *end <= now.min(time)).count();
        self.pieces.drain(..past);
        let time = self.pieces.first().map_or(time, |piece| time.max(piece.begin));
        self.pieces.retain(|piece| piece.begin < time);
        let before = self.pieces.last_mut().map_or(0.0, |piece| piece.cut(time));
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
