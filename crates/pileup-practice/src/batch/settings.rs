//! Settings of the practice batch system: JSON, checked before anything starts.

use std::path::PathBuf;

use pileup_schedule::Law;
use serde::Deserialize;

use crate::error::Error;
use crate::front::{Front, Kind, wrong};

const BATCH: &str = "the practice batch system";

/// Settings, as `model/practice.py` writes them. Times in nanoseconds.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Settings {
    /// For how long a submission holds its thread, however many jobs it names.
    pub(crate) submit_cost: Law,
    /// The same of a question about jobs.
    pub(crate) status_cost: Law,
    /// The same of a cancel or a purge.
    pub(crate) purge_cost: Law,
    /// The same of a delegation, its renewal or its end, and of a new user.
    pub(crate) delegate_cost: Law,
    /// Who is known; empty: anybody.
    pub(crate) users: Vec<String>,
    /// File for what happened to the jobs.
    pub(crate) jobs: Option<PathBuf>,
    #[serde(flatten)]
    pub(crate) front: Front,
    #[serde(flatten)]
    pub(crate) rules: Rules,
}

/// What holds for the jobs.
#[derive(Clone, Deserialize)]
#[serde(default)]
pub(crate) struct Rules {
    /// Jobs that run at a time.
    pub(crate) slots: usize,
    /// Jobs begin at multiples of this after the start; 0: at once.
    pub(crate) cycle: i64,
    /// Most jobs queued and running; beyond, refused.
    pub(crate) limit: usize,
    /// Most jobs of a user that are not purged, whether they have ended or not; beyond, refused.
    pub(crate) user_limit: Option<usize>,
    /// Most submissions of jobs per second, none: any.
    pub(crate) rate: Option<f64>,
    /// Share of the jobs that fail.
    pub(crate) failing: f64,
    /// How often everything is made safe against a crash; 0: each submission before it is acknowledged.
    pub(crate) checkpoint: i64,
    /// Share of what was submitted since then that a crash forgets.
    pub(crate) loss: f64,
    /// Whether ids given since then are given again after a crash.
    pub(crate) reuse_ids: bool,
    /// How long jobs that have ended stay in the queue; none: until they are purged.
    pub(crate) keep: Option<i64>,
    /// Jobs in the history.
    pub(crate) history: usize,
    /// Copied from the settings.
    #[serde(skip)]
    pub(crate) seed: u64,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            slots: 100,
            cycle: 1_000_000_000,
            limit: 200_000,
            user_limit: None,
            rate: None,
            failing: 0.0,
            checkpoint: 5_000_000_000,
            loss: 1.0,
            reuse_ids: false,
            keep: None,
            history: 1_000_000,
            seed: 1,
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            submit_cost: Law::Fixed(0),
            status_cost: Law::Fixed(0),
            purge_cost: Law::Fixed(0),
            delegate_cost: Law::Fixed(0),
            users: Vec::new(),
            jobs: None,
            front: Front::default(),
            rules: Rules::default(),
        }
    }
}

impl Settings {
    /// Read and check them.
    pub(crate) fn read(json: &str) -> Result<Self, Error> {
        let mut settings: Self = serde_json::from_str(json).map_err(|error| {
            Error::Settings(format!("settings of {BATCH}: {error}; expected those of docs/practice.md (correct them)"))
        })?;
        settings.front.what = BATCH;
        settings.front.check()?;
        if let Some(fault) =
            settings.front.faults.iter().find(|fault| matches!(fault.kind, Kind::Truncate | Kind::WrongByte))
        {
            return Err(wrong(BATCH, &format!("fault {}", fault.kind.name()), "stall, refuse, error, ghost"));
        }
        settings.rules.check()?;
        settings.rules.seed = settings.front.seed;
        Ok(settings)
    }
}

impl Rules {
    fn check(&self) -> Result<(), Error> {
        let shares = [("failing", self.failing), ("loss", self.loss)];
        if let Some((name, share)) = shares.into_iter().find(|(_, share)| !(0.0..=1.0).contains(share)) {
            return Err(wrong(BATCH, &format!("{name} {share}"), "0 to 1"));
        }
        if self.cycle < 0 || self.checkpoint < 0 || self.keep.is_some_and(i64::is_negative) {
            return Err(wrong(BATCH, "a negative time", "cycle, checkpoint and keep of 0 or more"));
        }
        if let Some(rate) = self.rate.filter(|rate| !(rate.is_finite() && *rate > 0.0)) {
            return Err(wrong(BATCH, &format!("rate {rate}"), "jobs per second above 0, or null for any"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_given_is_the_default() {
        let settings = Settings::read("{}").unwrap_or_default();
        assert_eq!(
            (settings.front.host.as_str(), settings.front.threads, settings.rules.slots),
            ("127.0.0.1", 16, 100)
        );
        assert_eq!(
            Settings::read(r#"{"seed": 9, "slots": 3}"#).map(|it| (it.rules.seed, it.rules.slots)).ok(),
            Some((9, 3))
        );
    }

    #[test]
    fn wrong_ones_are_named_with_what_was_expected() {
        for (json, what) in [
            (r#"{"slot": 3}"#, "slot"),
            (r#"{"threads": 0}"#, "threads 0"),
            (r#"{"slots": -1}"#, "-1"),
            (r#"{"cycle": -1}"#, "a negative time"),
            (r#"{"failing": 1.5}"#, "failing 1.5"),
            (r#"{"loss": -0.5}"#, "loss -0.5"),
            (r#"{"rate": 0}"#, "rate 0"),
            (r#"{"faults": [{"kind": "truncate"}]}"#, "fault truncate"),
        ] {
            let text = Settings::read(json).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(text.contains(what) && text.contains("; expected ") && text.ends_with(')'), "{json}: {text}");
        }
    }
}
