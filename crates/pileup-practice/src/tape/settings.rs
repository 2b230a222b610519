//! Settings of the practice tape library: JSON, checked before anything starts.

use std::path::PathBuf;

use pileup_schedule::Law;
use pileup_tape::Rules;
use serde::Deserialize;

use crate::error::Error;
use crate::front::{Front, Kind, wrong};

const TAPE: &str = "the practice tape library";
/// Most files on tape.
const MOST_FILES: u32 = 100_000_000;

/// Settings, as `model/practice.py` writes them. Times in nanoseconds; those of the library in library time.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Settings {
    /// For how long a request of the API holds its thread; real time.
    pub(crate) service: Law,
    /// Library time runs so many times faster than real time.
    pub(crate) speed_up: f64,
    /// Folder of the files on tape.
    pub(crate) prefix: String,
    /// How many there are.
    pub(crate) files: u32,
    /// Bytes of each.
    pub(crate) size: Law,
    /// Files of a folder, which lie on one cartridge; 0: there are no folders.
    pub(crate) together: u32,
    /// Worker nodes, each with a stager.
    pub(crate) nodes: u32,
    /// Requests of a node handed to the library at a time; 0: no limit.
    pub(crate) max_transfers: usize,
    /// How long a file stays on disk that nobody needs any more.
    pub(crate) keep: i64,
    /// Most files of one request.
    pub(crate) most: usize,
    /// What it calls itself.
    pub(crate) sitename: String,
    /// File for everything that happens.
    pub(crate) events: Option<PathBuf>,
    #[serde(flatten)]
    pub(crate) front: Front,
    /// Their seed is that of the front.
    #[serde(flatten)]
    pub(crate) rules: Rules,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            service: Law::Fixed(0),
            speed_up: 1.0,
            prefix: "/tape".to_owned(),
            files: 10_000,
            size: Law::Fixed(1_000_000_000),
            together: 0,
            nodes: 1,
            max_transfers: 0,
            keep: 0,
            most: 10_000,
            sitename: "pileup-practice".to_owned(),
            events: None,
            front: Front::default(),
            rules: Rules::default(),
        }
    }
}

impl Settings {
    /// Read and check them.
    pub(crate) fn read(json: &str) -> Result<Self, Error> {
        let mut settings: Self = serde_json::from_str(json).map_err(|error| {
            Error::Settings(format!("settings of {TAPE}: {error}; expected those of docs/practice.md (correct them)"))
        })?;
        settings.front.what = TAPE;
        settings.front.check()?;
        let broken = |kind| matches!(kind, Kind::Truncate | Kind::WrongByte);
        if let Some(fault) = settings.front.faults.iter().find(|fault| broken(fault.kind)) {
            return Err(wrong(TAPE, &format!("fault {}", fault.kind.name()), "stall, refuse, error, ghost"));
        }
        settings.rules.check().map_err(|(what, expected)| wrong(TAPE, &what, expected))?;
        settings.check()?;
        settings.rules.seed = settings.front.seed;
        Ok(settings)
    }

    fn check(&self) -> Result<(), Error> {
        if !(0.001..=1e6).contains(&self.speed_up) {
            return Err(wrong(TAPE, &format!("speed_up {}", self.speed_up), "0.001 to 1000000"));
        }
        if !self.prefix.starts_with('/') || self.prefix.ends_with('/') || self.prefix.contains("//") {
            return Err(wrong(TAPE, &format!("prefix {:?}", self.prefix), "a path like /tape"));
        }
        if self.files > MOST_FILES {
            return Err(wrong(TAPE, &format!("files {}", self.files), "at most 100000000"));
        }
        if self.keep < 0 {
            return Err(wrong(TAPE, "a negative time", "keep of 0 or more"));
        }
        if self.nodes == 0 {
            return Err(wrong(TAPE, "nodes 0", "1 or more"));
        }
        if self.most == 0 {
            return Err(wrong(TAPE, "most 0", "1 or more files in a request"));
        }
        if self.sitename.is_empty() {
            return Err(wrong(TAPE, "an empty sitename", "a text"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_arrives() {
        let settings = Settings::read(
            r#"{"seed": 9, "drives": 3, "mount": {"exponential": 5}, "speed": 1000, "order": "fifo", "speed_up": 60}"#,
        );
        let settings = settings.unwrap();
        assert_eq!((settings.rules.seed, settings.rules.drives, settings.front.seed), (9, 3, 9));
        assert_eq!((settings.rules.mount.clone(), settings.speed_up), (Law::Exponential(5), 60.0));
        assert!((settings.rules.speed - 1000.0).abs() < 1e-9);
    }

    #[test]
    fn wrong_ones_are_named_with_what_was_expected() {
        for (json, what) in [
            (r#"{"drive": 3}"#, "drive"),
            (r#"{"threads": 0}"#, "threads 0"),
            (r#"{"drives": 0}"#, "drives 0"),
            (r#"{"unreadable": [100]}"#, "unreadable cartridge 100"),
            (r#"{"speed_up": 0}"#, "speed_up 0"),
            (r#"{"prefix": "tape"}"#, "prefix \"tape\""),
            (r#"{"prefix": "/tape/"}"#, "prefix \"/tape/\""),
            (r#"{"files": 100000001}"#, "files 100000001"),
            (r#"{"keep": -1}"#, "a negative time"),
            (r#"{"most": 0}"#, "most 0"),
            (r#"{"nodes": 0}"#, "nodes 0"),
            (r#"{"sitename": ""}"#, "an empty sitename"),
            (r#"{"faults": [{"kind": "truncate"}]}"#, "fault truncate"),
        ] {
            let text = Settings::read(json).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(text.contains(what) && text.contains("; expected ") && text.ends_with(')'), "{json}: {text}");
        }
    }
}
