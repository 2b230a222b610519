//! What the practice token issuer is reported: JSON, checked before anything starts.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pileup_schedule::Law;
use serde::Deserialize;

use crate::bearer::ANY;
use crate::error::Error;
use crate::front::{Front, Kind, wrong};

const ISSUER: &str = "the practice token issuer";

/// Settings, as `model/practice.py` writes them. Times in nanoseconds.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Settings {
    /// For how long a request for a token holds its thread.
    pub(crate) service: Law,
    /// Clients and their secrets.
    pub(crate) clients: BTreeMap<String, String>,
    /// How long an access token is good for; whole seconds, one at least.
    pub(crate) lifetime: Law,
    /// How long a refresh token is good for.
    pub(crate) refresh_lifetime: i64,
    /// Whether a refresh token is good for one use, which gives the next.
    pub(crate) rotate: bool,
    /// What a client may have, and has that does not say what it wants.
    pub(crate) scope: String,
    /// For whom a token is where the client does not say it.
    pub(crate) token_audience: String,
    /// Tokens per second; beyond, 429.
    pub(crate) rate: Option<f64>,
    /// Who the tokens say that has made them; none: the address that was asked.
    pub(crate) iss: Option<String>,
    /// File for the keys that prove its tokens.
    pub(crate) public_keys: Option<PathBuf>,
    #[serde(flatten)]
    pub(crate) front: Front,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            service: Law::Fixed(0),
            clients: BTreeMap::new(),
            lifetime: Law::Fixed(3_600_000_000_000),
            refresh_lifetime: 86_400_000_000_000,
            rotate: true,
            scope: String::new(),
            token_audience: ANY.to_owned(),
            rate: None,
            iss: None,
            public_keys: None,
            front: Front::default(),
        }
    }
}

impl Settings {
    /// Read and check them.
    pub(crate) fn read(json: &str) -> Result<Self, Error> {
        let mut settings: Self = serde_json::from_str(json).map_err(|error| {
            Error::Settings(format!("settings of {ISSUER}: {error}; expected those of docs/practice.md (correct them)"))
        })?;
        settings.front.what = ISSUER;
        settings.front.check()?;
        let broken = |kind| matches!(kind, Kind::Truncate | Kind::WrongByte);
        if let Some(fault) = settings.front.faults.iter().find(|fault| broken(fault.kind)) {
            return Err(wrong(ISSUER, &format!("fault {}", fault.kind.name()), "stall, refuse, error, ghost"));
        }
        if let Some(rate) = settings.rate.filter(|rate| !(rate.is_finite() && *rate > 0.0)) {
            return Err(wrong(ISSUER, &format!("rate {rate}"), "tokens per second above 0, or null for any"));
        }
        if settings.refresh_lifetime <= 0 {
            return Err(wrong(ISSUER, "a refresh_lifetime of 0 or less", "a time"));
        }
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_ones_are_named_with_what_was_expected() {
        assert!(Settings::read(r#"{"clients": {"a": "b"}, "seed": 3}"#).is_ok());
        for (json, what) in [
            (r#"{"client": 3}"#, "client"),
            (r#"{"threads": 0}"#, "threads 0"),
            (r#"{"rate": 0}"#, "rate 0"),
            (r#"{"refresh_lifetime": 0}"#, "refresh_lifetime"),
            (r#"{"faults": [{"kind": "truncate"}]}"#, "fault truncate"),
        ] {
            let text = Settings::read(json).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(text.contains(what) && text.contains("; expected ") && text.ends_with(')'), "{json}: {text}");
        }
    }
}
