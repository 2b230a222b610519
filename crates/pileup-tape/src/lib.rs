//! A tape library of known truth, without a clock.
//!
//! Whoever asks gives the time, so that one machine serves real time, scaled time and virtual time. `rules` is what is set, `library` what
//! happens to requests, `shelf` where cartridges are and who waits for them, `arms` the robot, and `event` what the machine reports of it. `stagers`
//! are worker nodes before it, each of which hands it so many requests at a time.

mod arms;
mod drive;
mod event;
mod library;
mod rules;
mod shelf;
mod stagers;
#[cfg(test)]
mod tests;

pub use event::{Event, What};
pub use library::{Library, Request, State};
pub use rules::{Absence, Order, Rules};
pub use stagers::Stagers;
