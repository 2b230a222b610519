//! Closed loads: when clients begin, and how long they think.

use crate::load::Load;

/// When client `number` of all begins, ns after the start. None: never.
#[must_use]
pub fn birth(load: &Load, number: u64) -> Option<u64> {
    load.shape().birth(&load.told(), number)
}

/// The first time, from `time` on, at which client `number` is wanted, ns after the start; none when it is not any more.
#[must_use]
pub fn wanted(load: &Load, number: u64, time: u64) -> Option<u64> {
    load.shape().wanted(number, time)
}

/// How long a client thinks after its iteration number `turn`, ns.
#[must_use]
pub fn think(load: &Load, client: u64, turn: u64) -> u64 {
    load.think.as_ref().map_or(0, |law| law.draw(load.seed, client + 1, turn))
}
