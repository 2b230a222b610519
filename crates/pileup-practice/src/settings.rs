//! What the practice storage is told: JSON, checked before anything starts.

use std::path::PathBuf;

use http::Method;
use pileup_schedule::Law;
use serde::Deserialize;

use crate::Error;

const STORAGE: &str = "the practice storage";

/// Settings, as `model/practice.py` writes them. Times in nanoseconds.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Settings {
    /// Address to listen on.
    pub(crate) host: String,
    /// Port; 0: any free one.
    pub(crate) port: u16,
    /// Requests served at once.
    pub(crate) threads: usize,
    /// Requests that may wait; beyond, 503.
    pub(crate) queue: usize,
    /// Time that a request takes.
    pub(crate) service: Law,
    /// Bytes per second of all bodies together; none: without limit.
    pub(crate) bandwidth: Option<f64>,
    /// Bytes kept; beyond, 507.
    pub(crate) capacity: u64,
    /// What the draws follow from.
    pub(crate) seed: u64,
    /// What goes wrong on purpose.
    pub(crate) faults: Vec<Fault>,
    /// File for the log.
    pub(crate) log: Option<PathBuf>,
    /// Certificates; none: plain HTTP.
    pub(crate) tls: Option<Tls>,
    /// Bearer token that is asked for.
    pub(crate) token: Option<String>,
}

/// What all kinds of servers are told.
pub(crate) struct Front {
    /// What it is, for messages: "the practice storage".
    pub(crate) what: &'static str,
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) threads: usize,
    pub(crate) queue: usize,
    pub(crate) bandwidth: Option<f64>,
    pub(crate) seed: u64,
    pub(crate) faults: Vec<Fault>,
    /// File for a line per request.
    pub(crate) log: Option<PathBuf>,
    pub(crate) tls: Option<Tls>,
    pub(crate) token: Option<String>,
}

/// Files of certificates, PEM.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tls {
    /// The server's certificate chain.
    pub(crate) certificate: PathBuf,
    /// Its key.
    pub(crate) key: PathBuf,
    /// CA of the client certificates that are asked for; none: nobody is asked.
    pub(crate) client_ca: Option<PathBuf>,
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// No answer for a time.
    Stall,
    /// 503 at once.
    Refuse,
    /// The body ends in the middle.
    Truncate,
    /// One byte of the body is another.
    WrongByte,
    /// A status that says error.
    Error,
    /// What is asked for is done, but answered late or never.
    Ghost,
}

impl Kind {
    /// As in the settings and the log.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Stall => "stall",
            Self::Refuse => "refuse",
            Self::Truncate => "truncate",
            Self::WrongByte => "wrong_byte",
            Self::Error => "error",
            Self::Ghost => "ghost",
        }
    }
}

/// A fault made on purpose.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fault {
    /// What.
    pub(crate) kind: Kind,
    /// Share of the requests, 0 to 1.
    #[serde(default = "all")]
    pub(crate) share: f64,
    /// Begin of the window, since the start; none: from the start.
    #[serde(default)]
    pub(crate) at: Option<i64>,
    /// Length of the window, none: to the end; of a stall without a window and of a ghost how long there is no answer.
    #[serde(default, rename = "for")]
    pub(crate) length: Option<i64>,
    /// Status of an error.
    #[serde(default = "internal")]
    pub(crate) status: u16,
    /// Methods concerned; empty: all.
    #[serde(default)]
    pub(crate) methods: Vec<String>,
    /// How the paths concerned begin; empty: all.
    #[serde(default)]
    pub(crate) paths: Vec<String>,
}

fn all() -> f64 {
    1.0
}

fn internal() -> u16 {
    500
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            host: "127.0.0.1".to_owned(),
            port: 0,
            threads: 16,
            queue: 1000,
            service: Law::Fixed(0),
            bandwidth: None,
            capacity: 1 << 30,
            seed: 1,
            faults: Vec::new(),
            log: None,
            tls: None,
            token: None,
        }
    }
}

impl Settings {
    /// Read and check them.
    pub(crate) fn read(json: &str) -> Result<Self, Error> {
        let settings: Self = serde_json::from_str(json).map_err(|error| {
            Error::Settings(format!(
                "settings of the practice storage: {error}; expected host, port, threads, queue, service, bandwidth, capacity, seed, faults, log, tls, token (correct them)"
            ))
        })?;
        if let Some(bandwidth) = settings.bandwidth.filter(|rate| !(rate.is_finite() && *rate >= 1000.0)) {
            let expected = "at least 1000 B/s, or null for no limit";
            return Err(wrong(STORAGE, &format!("bandwidth {bandwidth} B/s"), expected));
        }
        settings.front().check()?;
        Ok(settings)
    }

    /// What it has in common with other servers.
    pub(crate) fn front(&self) -> Front {
        let it = self.clone();
        Front {
            what: STORAGE,
            host: it.host,
            port: it.port,
            threads: it.threads,
            queue: it.queue,
            bandwidth: it.bandwidth,
            seed: it.seed,
            faults: it.faults,
            log: it.log,
            tls: it.tls,
            token: it.token,
        }
    }
}

/// A wrong setting in three parts.
pub(crate) fn wrong(server: &str, what: &str, expected: &str) -> Error {
    Error::Settings(format!("{what}; expected {expected} (correct the settings of {server})"))
}

impl Front {
    /// Refuse what cannot be.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.threads == 0 || self.threads > 1_000_000 {
            return Err(wrong(self.what, &format!("threads {}", self.threads), "1 to 1000000"));
        }
        if self.token.as_ref().is_some_and(String::is_empty) {
            return Err(wrong(self.what, "an empty token", "a text, or null for none"));
        }
        for (place, fault) in self.faults.iter().enumerate() {
            fault.check().map_err(|(what, expected)| {
                wrong(self.what, &format!("fault {} ({}): {what}", place + 1, fault.kind.name()), expected)
            })?;
        }
        Ok(())
    }
}

impl Fault {
    fn check(&self) -> Result<(), (String, &'static str)> {
        if !(0.0..=1.0).contains(&self.share) {
            return Err((format!("share {}", self.share), "0 to 1"));
        }
        if self.at.is_some_and(i64::is_negative) || self.length.is_some_and(i64::is_negative) {
            return Err(("a negative time".to_owned(), "at and for of 0 or more"));
        }
        if !(400..=599).contains(&self.status) {
            return Err((format!("status {}", self.status), "400 to 599"));
        }
        if let Some(method) = self.methods.iter().find(|method| Method::from_bytes(method.as_bytes()).is_err()) {
            return Err((format!("method {method:?}"), "methods like GET"));
        }
        if self.kind == Kind::Ghost && self.at.is_some() {
            return Err((
                "a ghost with `at`".to_owned(),
                "`for` alone: how much later it is answered, without it never",
            ));
        }
        if self.kind != Kind::Stall {
            return Ok(());
        }
        if self.length.is_none() {
            return Err(("a stall without `for`".to_owned(), "how long there is no answer"));
        }
        if self.at.is_some() && (self.share < 1.0 || !self.methods.is_empty() || !self.paths.is_empty()) {
            let expected = "either `at` (nothing at all is served in the window) or `share`, `methods` and `paths` (those requests wait)";
            return Err(("a stall with `at` and a share or methods".to_owned(), expected));
        }
        Ok(())
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
            (settings.host.as_str(), settings.port, settings.threads, settings.queue),
            ("127.0.0.1", 0, 16, 1000)
        );
        assert_eq!((settings.capacity, settings.bandwidth), (1 << 30, None));
    }

    #[test]
    fn wrong_ones_are_named_with_what_was_expected() {
        for (json, what) in [
            (r#"{"treads": 3}"#, "treads"),
            (r#"{"threads": 0}"#, "threads 0"),
            (r#"{"port": 70000}"#, "70000"),
            (r#"{"bandwidth": 12}"#, "bandwidth 12"),
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
