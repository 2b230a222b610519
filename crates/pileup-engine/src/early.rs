//! Which clients are made and connected before a load begins.

use pileup_schedule::{Kind, Load, birth};

use crate::puller::DEFAULT_CLIENTS;

/// Clients that begin so soon are opened before the load begins, ns. Later ones are opened when they begin: servers drop idle connections.
const SOON: u64 = 1_000_000_000;

/// Numbers of the clients that are made and connected before the load begins.
pub fn early_clients(part: &Load) -> Vec<u64> {
    let count = match part.kind {
        Kind::Once | Kind::Times => 1,
        Kind::Closed => part.most_clients().unwrap_or(1),
        Kind::Open => {
            let rate = part.levels().first().map_or(1.0, |level| level.level);
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
            // a small guess: what is needed at 50 ms each
            let guess = (rate * 0.05).ceil() as u32;
            guess.clamp(1, 64).min(part.clients.unwrap_or(DEFAULT_CLIENTS))
        }
    };
    let soon = |client: &u64| part.kind == Kind::Open || birth(part, *client).is_some_and(|birth| birth <= SOON);
    (0..u64::from(count)).filter(|client| part.mine(*client) && *client < part.limit()).take_while(soon).collect()
}
