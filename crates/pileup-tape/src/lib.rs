//! A tape library of known truth, without a clock.
//!
//! Whoever asks gives the time, so that one machine serves real time, scaled time and virtual time. `rules` is what is set, `library` what
//! happens to requests, `shelf` where cartridges are and who waits for them, `arms` the robot, and `event` what the machine reports of it.

mod arms;
mod drive;
mod event;
mod library;
mod rules;
mod shelf;
#[cfg(test)]
mod tests;

pub use event::{Event, What};
pub use library::{Library, Request, State};
pub use rules::{Absence, Order, Rules};
