//! What every shape answers.

use std::error::Error;
use std::fmt::Debug;

use crate::plateau::Plateau;
use crate::starts::Starts;
use crate::told::{Told, Wrong};

/// What a shape knows and other shapes do not. Words that all loads have (clients, rate, times, ramp) are those of the load.
pub trait Shape: Debug {
    /// What is wrong with it; `part` is what of the iterations is pressed here: number, of how many.
    fn wrong(&self, told: &Told, part: Option<(u64, u64)>) -> Option<Wrong>;

    /// Its levels; none: the one of the load's clients or rate.
    fn levels(&self) -> Option<&[Plateau]> {
        None
    }

    /// Whether its levels say all of when something is due.
    fn foreseen(&self) -> bool {
        true
    }

    /// The most clients that it ever wants; none: those of the load.
    fn most_clients(&self) -> Option<u32> {
        None
    }

    /// How many iterations it has; none: as many as its time allows.
    fn count(&self) -> Option<u64> {
        None
    }

    /// When client `number` of a closed load begins, ns after the start: they are spread over the ramp. None: never.
    fn birth(&self, told: &Told, number: u64) -> Option<u64> {
        let clients = u64::from(told.clients.unwrap_or(1)).max(1);
        // 128 bits: a ramp of days in ns times a million clients
        let time = u128::from(told.ramp) * u128::from(number) / u128::from(clients);
        (number < clients).then(|| u64::try_from(time).unwrap_or(u64::MAX))
    }

    /// The first time, from `time` on, at which client `number` is wanted, ns after the start; none when it is not any more.
    fn wanted(&self, _number: u64, time: u64) -> Option<u64> {
        Some(time)
    }

    /// What the times of its iterations are looked up in, where they are not arithmetic.
    fn starts(&self) -> Option<Starts> {
        None
    }
}

/// What is wrong with one shape alone.
pub(crate) fn wrong(with: impl Error + Send + Sync + 'static) -> Option<Wrong> {
    Some(Wrong::Shape(Box::new(with)))
}
