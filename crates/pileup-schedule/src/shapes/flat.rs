//! One level: so many clients, or one rate; or a number of iterations.

use super::shape::Shape;
use crate::told::{Kind, Told, Wrong};

/// The default shape of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flat;

impl Shape for Flat {
    fn wrong(&self, told: &Told, _part: Option<(u64, u64)>) -> Option<Wrong> {
        match told.kind {
            Kind::Open if !told.has_rate() => Some(Wrong::NoRate),
            Kind::Open | Kind::Closed if !told.ends() => Some(Wrong::NoEnd),
            Kind::Closed if told.clients.unwrap_or(0) == 0 => Some(Wrong::NoClients),
            Kind::Times if told.times.is_none() => Some(Wrong::NoTimes),
            _ => None,
        }
    }
}
