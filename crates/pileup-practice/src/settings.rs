//! Settings of the practice storage: JSON, checked before anything starts.

use pileup_schedule::Law;
use serde::Deserialize;

use crate::error::Error;
use crate::front::{Front, wrong};
use crate::pool::Rules;

const STORAGE: &str = "the practice storage";

/// Settings, as `model/practice.py` writes them. Times in nanoseconds.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Settings {
    /// Time that a request takes.
    pub(crate) service: Law,
    /// Bytes kept; beyond, 507.
    pub(crate) capacity: u64,
    /// Bytes per second of all bodies together; none: without limit.
    bandwidth: Option<f64>,
    /// Threads for requests without data; none: there is no such thing.
    pub(crate) pool: Option<Rules>,
    /// Time between two reports on a third-party copy.
    pub(crate) markers: i64,
    #[serde(flatten)]
    pub(crate) front: Front,
}

impl Default for Settings {
    fn default() -> Self {
        let (service, front) = (Law::Fixed(0), Front::default());
        Self { service, capacity: 1 << 30, bandwidth: None, pool: None, markers: 1_000_000_000, front }
    }
}

impl Settings {
    /// Read and check them.
    pub(crate) fn read(json: &str) -> Result<Self, Error> {
        let mut settings: Self = serde_json::from_str(json).map_err(|error| {
            Error::Settings(format!(
                "settings of the practice storage: {error}; expected host, port, threads, queue, service, bandwidth, capacity, pool, markers, backlog, seed, faults, log, tls, token (correct them)"
            ))
        })?;
        if let Some(bandwidth) = settings.bandwidth.filter(|rate| !(rate.is_finite() && *rate >= 1000.0)) {
            let expected = "at least 1000 B/s, or null for no limit";
            return Err(wrong(STORAGE, &format!("bandwidth {bandwidth} B/s"), expected));
        }
        if settings.markers < 1_000_000 {
            return Err(wrong(STORAGE, &format!("markers {} ns", settings.markers), "1 ms or more"));
        }
        (settings.front.what, settings.front.bandwidth) = (STORAGE, settings.bandwidth);
        settings.front.check()?;
        settings.pool.as_ref().map_or(Ok(()), |rules| rules.check(STORAGE))?;
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(json: &str) -> String {
        match Settings::read(json) {
            Err(Error::Settings(text)) => text,
            _ => panic!("{json} passed"),
        }
    }

    #[test]
    fn nothing_given_is_the_default() {
        let settings = Settings::read("{}").unwrap_or_default();
        assert_eq!(
            (settings.front.host.as_str(), settings.front.port, settings.front.threads, settings.front.queue),
            ("127.0.0.1", 0, 16, 1000)
        );
        assert_eq!((settings.capacity, settings.front.bandwidth), (1 << 30, None));
    }

    #[test]
    fn wrong_ones_are_named_with_what_was_expected() {
        for (json, what) in [
            (r#"{"treads": 3}"#, "treads"),
            (r#"{"threads": 0}"#, "threads 0"),
            (r#"{"port": 70000}"#, "70000"),
            (r#"{"backlog": 0}"#, "backlog 0"),
            (
                r#"{"pool": {"threads": 0, "fast_threads": null, "fast": {"fixed": 0}, "slow": {"fixed": 0}, "switch": 0, "folder_lock": false}}"#,
                "pool_threads 0",
            ),
            (r#"{"bandwidth": 12}"#, "bandwidth 12"),
            (r#"{"markers": 0}"#, "markers 0 ns"),
            (r#"{"bandwidth": -1e9}"#, "bandwidth -1000000000"),
            (r#"{"token": ""}"#, "an empty token"),
            (r#"{"service": {"sometimes": 3}}"#, "sometimes"),
            (r#"{"faults": [{"kind": "explode"}]}"#, "explode"),
            (r#"{"faults": [{"kind": "error", "share": 1.5}]}"#, "fault 1 (error): share 1.5"),
            (r#"{"faults": [{"kind": "error", "status": 200}]}"#, "status 200"),
            (r#"{"faults": [{"kind": "error", "at": -1}]}"#, "negative"),
            (r#"{"faults": [{"kind": "error", "methods": ["G T"]}]}"#, "method \"G T\""),
            (r#"{"faults": [{"kind": "ghost", "at": 1}]}"#, "a ghost with `at`"),
            (r#"{"faults": [{"kind": "stall", "share": 0.5}]}"#, "a stall without `for`"),
            (r#"{"faults": [{"kind": "stall", "share": 0.5, "at": 1, "for": 1}]}"#, "a stall with `at` and a share"),
            ("[1", "line 1"),
        ] {
            let text = error(json);
            assert!(text.contains(what) && text.contains("; expected ") && text.ends_with(')'), "{json}: {text}");
        }
    }
}
