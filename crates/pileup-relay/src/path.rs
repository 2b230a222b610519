//! What lies between a client and its target.

use pileup_schedule::{Law, unit};
use serde::Deserialize;

use crate::error::Error;

/// To the target.
pub(crate) const UP: usize = 0;
/// Back from it.
pub(crate) const DOWN: usize = 1;
/// Longest time of a path: an hour, ns.
const LONGEST: u64 = 3_600_000_000_000;
/// Streams of draws for what becomes of connections; those of jitter are the connections' numbers.
const FATE: u64 = 0xfa7e_0000_0000_0000;

/// A path, as `model/path.py` writes it. Times in nanoseconds.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct Path {
    /// Time that bytes take to the target, and back.
    pub latency: [u64; 2],
    /// Time drawn for each piece on top of that, the same law each way; none: always the same latency.
    pub jitter: Option<Law>,
    /// Bytes per second each way, of all connections together; none: no limit.
    pub bandwidth: Option<f64>,
    /// Most bytes of a connection that are under way each way.
    pub window: u64,
    /// Share of connections that are reset.
    pub resets: f64,
    /// Share of connections on which nothing is passed any more while they stay open.
    pub half_open: f64,
    /// Bytes of the answers that are passed before that.
    pub after: u64,
    /// Time by which the end of a stream is passed on later.
    pub slow_close: u64,
}

impl Default for Path {
    fn default() -> Self {
        Self {
            latency: [0, 0],
            jitter: None,
            bandwidth: None,
            window: 64 << 20,
            resets: 0.0,
            half_open: 0.0,
            after: 0,
            slow_close: 0,
        }
    }
}

/// What becomes of a connection on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Nothing.
    Whole,
    /// It is reset.
    Reset,
    /// Nothing passes any more.
    HalfOpen,
}

impl Path {
    /// Read and check one.
    ///
    /// # Errors
    /// [`Error::Settings`] that names what is wrong.
    pub fn read(json: &str) -> Result<Self, Error> {
        let path: Self = serde_json::from_str(json).map_err(|error| {
            let expected =
                "latency, jitter, bandwidth, window, resets, half_open, after, slow_close (correct the path)";
            Error::Settings(format!("the path of a relay: {error}; expected {expected}"))
        })?;
        path.check()?;
        Ok(path)
    }

    /// Refuse what no path can be.
    ///
    /// # Errors
    /// [`Error::Settings`] that names what is wrong.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let wrong = |what: String, expected: &str| {
            Err(Error::Settings(format!("the path of a relay: {what}; expected {expected} (correct the path)")))
        };
        if let Some(rate) = self.bandwidth.filter(|rate| !(rate.is_finite() && *rate >= 1000.0)) {
            return wrong(format!("bandwidth {rate} B/s"), "at least 1000 B/s, or null for no limit");
        }
        for (name, share) in [("resets", self.resets), ("half_open", self.half_open)] {
            if !(0.0..=1.0).contains(&share) {
                return wrong(format!("{name} {share}"), "a share from 0 to 1");
            }
        }
        if self.resets + self.half_open > 1.0 {
            return wrong("resets and half_open are more than all connections".to_owned(), "at most 1 together");
        }
        if self.window == 0 {
            return wrong("window 0".to_owned(), "at least 1 byte");
        }
        if self.latency.iter().chain([&self.slow_close]).any(|time| *time > LONGEST) {
            return wrong("a time of more than an hour".to_owned(), "at most 1 h");
        }
        Ok(())
    }

    /// A round trip without jitter, ns.
    #[must_use]
    pub(crate) fn round_trip(&self) -> i64 {
        signed(self.latency[UP] + self.latency[DOWN])
    }

    /// Whether anything takes time on this way.
    pub(crate) fn holds_up(&self, way: usize) -> bool {
        self.latency[way] > 0 || self.jitter.is_some() || self.bandwidth.is_some()
    }

    /// Time that the k-th piece takes on its way, ns.
    pub(crate) fn draw(&self, way: usize, seed: u64, connection: u64, k: u64) -> i64 {
        let stream = connection * 2 + way as u64;
        let more = self.jitter.as_ref().map_or(0, |law| law.draw(seed, stream, k).min(LONGEST));
        signed(self.latency[way] + more)
    }

    /// What becomes of the connection of this number.
    pub(crate) fn fate(&self, seed: u64, connection: u64) -> Fate {
        if self.resets + self.half_open == 0.0 {
            return Fate::Whole;
        }
        let drawn = unit(seed, FATE, connection);
        if drawn < self.resets {
            Fate::Reset
        } else if drawn < self.resets + self.half_open {
            Fate::HalfOpen
        } else {
            Fate::Whole
        }
    }
}

fn signed(time: u64) -> i64 {
    i64::try_from(time).unwrap_or(i64::MAX / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_given_is_no_distance() {
        let path = Path::read("{}").unwrap();
        assert_eq!((path.round_trip(), path.bandwidth, path.fate(1, 7)), (0, None, Fate::Whole));
        assert_eq!(path.draw(UP, 1, 2, 3), 0);
    }

    #[test]
    fn wrong_ones_are_named_with_what_was_expected() {
        for (json, what) in [
            (r#"{"latency": [-1, 0]}"#, "invalid value"),
            (r#"{"latency": 5}"#, "invalid type"),
            (r#"{"latency": [5000000000000, 0]}"#, "more than an hour"),
            (r#"{"bandwidth": 0}"#, "bandwidth 0"),
            (r#"{"resets": 1.5}"#, "resets 1.5"),
            (r#"{"resets": 0.6, "half_open": 0.6}"#, "more than all"),
            (r#"{"window": 0}"#, "window 0"),
            (r#"{"loss": 0.1}"#, "loss"),
            ("[1", "line 1"),
        ] {
            let text = Path::read(json).unwrap_err().to_string();
            assert!(text.contains(what) && text.contains("; expected ") && text.ends_with(')'), "{json}: {text}");
        }
    }

    #[test]
    fn draws_depend_on_seed_connection_way_and_piece_alone() {
        let path = Path::read(r#"{"latency": [1000, 2000], "jitter": {"uniform": [0, 500]}}"#).unwrap();
        assert_eq!(path.draw(UP, 1, 2, 3), path.draw(UP, 1, 2, 3));
        let drawn: Vec<i64> = (0..100).map(|k| path.draw(DOWN, 9, 4, k)).collect();
        assert!(drawn.iter().all(|time| (2000..=2500).contains(time)));
        assert!(drawn.iter().any(|time| *time != drawn[0]));
        assert_ne!(drawn[0] - 2000, path.draw(UP, 9, 4, 0) - 1000);
    }

    #[test]
    fn shares_of_connections_meet_their_fate() {
        let path = Path::read(r#"{"resets": 0.2, "half_open": 0.1}"#).unwrap();
        let count = |fate| (0..10_000).filter(|number| path.fate(5, *number) == fate).count();
        assert!((1850..2150).contains(&count(Fate::Reset)) && (880..1120).contains(&count(Fate::HalfOpen)));
    }
}
