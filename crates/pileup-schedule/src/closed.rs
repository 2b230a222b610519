//! Closed loads: when clients begin, and how long they think.

use crate::load::Load;
use crate::segment;

/// When client `number` of all begins, ns after the start: they are spread over the ramp. None: never.
#[must_use]
pub fn birth(load: &Load, number: u64) -> Option<u64> {
    if load.segments.is_some() {
        return wanted(load, number, 0);
    }
    if load.steered.is_some() {
        return (number < u64::from(load.clients.unwrap_or(0))).then_some(0);
    }
    let clients = u64::from(load.clients.unwrap_or(1)).max(1);
    // 128 bits: a ramp of days in ns times a million clients
    let time = u128::from(load.ramp) * u128::from(number) / u128::from(clients);
    (number < clients).then(|| u64::try_from(time).unwrap_or(u64::MAX))
}

/// The first time, from `time` on, at which client `number` is wanted, ns after the start; none when it is not any more. Without segments
/// a client that has begun stays.
#[must_use]
pub fn wanted(load: &Load, number: u64, time: u64) -> Option<u64> {
    load.segments.as_ref().map_or(Some(time), |segments| segment::wanted(segments, number, time))
}

/// How long a client thinks after its iteration number `turn`, ns.
#[must_use]
pub fn think(load: &Load, client: u64, turn: u64) -> u64 {
    load.think.as_ref().map_or(0, |law| law.draw(load.seed, client + 1, turn))
}
