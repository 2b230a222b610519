//! The levels of a load: each plateau goes linearly from the level before (the first from 0) to its own, then holds it.

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

/// One level of a load, and the way to it. Times in ns.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Plateau {
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

impl Plateau {
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

/// Plateaus with their beginning (ns after the start) and the level before them.
pub(crate) fn walk(plateaus: &[Plateau]) -> impl Iterator<Item = (u64, Option<&Plateau>, &Plateau)> {
    let mut begin = 0u64;
    let mut before = None;
    plateaus.iter().map(move |plateau| {
        let step = (begin, before.replace(plateau), plateau);
        begin = begin.saturating_add(plateau.length().unwrap_or(u64::MAX));
        step
    })
}

/// When the last one ends; none when no time ends it.
#[must_use]
pub fn end(plateaus: &[Plateau]) -> Option<u64> {
    plateaus.iter().try_fold(0u64, |sum, plateau| plateau.length().map(|length| sum.saturating_add(length)))
}

/// Part of the load's life at a time.
#[must_use]
pub fn stage(plateaus: &[Plateau], time: u64) -> Stage {
    let found = walk(plateaus).take_while(|(begin, _, _)| *begin <= time).last();
    let Some((begin, _, plateau)) = found else { return Stage::Measure };
    let since = time - begin;
    if since < plateau.ramp {
        Stage::Ramp
    } else if since - plateau.ramp < plateau.warm_up {
        Stage::WarmUp
    } else {
        Stage::Measure
    }
}

/// When each is measured, (begin, end) in ns after the start; `u64::MAX` where no time ends one.
#[must_use]
pub fn measured(plateaus: &[Plateau]) -> Vec<(u64, u64)> {
    let span = |(begin, _, plateau): (u64, Option<&Plateau>, &Plateau)| {
        let from = begin.saturating_add(plateau.ramp).saturating_add(plateau.warm_up);
        (from, plateau.duration.map_or(u64::MAX, |time| from.saturating_add(time)))
    };
    walk(plateaus).map(span).collect()
}

/// The most clients there ever are.
#[must_use]
pub fn most_clients(plateaus: &[Plateau]) -> u64 {
    plateaus.iter().map(Plateau::clients).max().unwrap_or(0)
}

/// The first time, from `time` on, at which client number `client` is wanted; none when it is not any more.
///
/// While the level n grows, client i comes when n has reached i; while it falls, it goes when n has come down to i: at any time there are n clients, rounded up.
#[must_use]
pub fn wanted(plateaus: &[Plateau], client: u64, time: u64) -> Option<u64> {
    let mut came: Option<u64> = None;
    for (begin, before, plateau) in walk(plateaus) {
        let (from, to) = (before.map_or(0, Plateau::clients), plateau.clients());
        // 128 bits: a ramp of days in ns times a million clients
        let after = |steps: u64, all: u64| {
            let part = u128::from(plateau.ramp) * u128::from(steps) / u128::from(all.max(1));
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

/// The measured parts in which something presses, (begin, end) in ns after the begin of the first; neighbours are one.
#[must_use]
pub fn pressed(plateaus: &[Plateau]) -> Vec<(u64, u64)> {
    let mut found: Vec<(u64, u64)> = Vec::new();
    for (span, _) in measured(plateaus).into_iter().zip(plateaus).filter(|(_, plateau)| plateau.level > 0.0) {
        match found.last_mut() {
            Some(last) if last.1 == span.0 => last.1 = span.1,
            _ => found.push(span),
        }
    }
    let first = found.first().map_or(0, |span| span.0);
    found.into_iter().map(|(begin, end)| (begin - first, end - first)).collect()
}

/// The mean level over what is measured at levels above 0; that of the one there is, 0 where nothing presses.
#[must_use]
#[allow(clippy::cast_precision_loss)] // below 2^53 ns = 104 days
pub fn mean(plateaus: &[Plateau]) -> f64 {
    if let [only] = plateaus {
        return only.level;
    }
    let pressed: Vec<(f64, u64)> = plateaus
        .iter()
        .filter(|plateau| plateau.level > 0.0)
        .map(|plateau| (plateau.level, plateau.duration.unwrap_or(0)))
        .collect();
    let time = pressed.iter().fold(0u64, |sum, (_, time)| sum.saturating_add(*time));
    if time == 0 { 0.0 } else { pressed.iter().map(|(level, time)| level * *time as f64).sum::<f64>() / time as f64 }
}
