//! Closed loads: when clients begin, and how long they think.

use crate::load::Load;

/// When client `number` of all begins, ns after the start: they are spread over the ramp.
#[must_use]
pub fn birth(load: &Load, number: u64) -> u64 {
    let clients = u64::from(load.clients.unwrap_or(1)).max(1);
    // 128 bits: a ramp of days in ns times a million clients
    u64::try_from(u128::from(load.ramp) * u128::from(number) / u128::from(clients)).unwrap_or(u64::MAX)
}

/// How long a client thinks after its iteration number `turn`, ns.
#[must_use]
pub fn think(load: &Load, client: u64, turn: u64) -> u64 {
    load.think.as_ref().map_or(0, |law| law.draw(load.seed, client + 1, turn))
}
