//! Settings of the practice S3: JSON, checked before anything starts.

use std::collections::BTreeMap;

use pileup_schedule::Law;
use serde::Deserialize;

use crate::error::Error;
use crate::front::{Front, wrong};

const S3: &str = "the practice S3";

/// Settings, as `model/practice.py` writes them. Times in nanoseconds.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Settings {
    /// Time that a request takes.
    pub(crate) service: Law,
    /// Bytes kept; beyond, 507.
    pub(crate) capacity: u64,
    /// Bytes per second of all bodies together; none: without limit.
    pub(crate) bandwidth: Option<f64>,
    /// Buckets that are there.
    pub(crate) buckets: Vec<String>,
    /// For which region a signature must be.
    pub(crate) region: String,
    /// Who may come in, and the secret that signs; without a key anybody may.
    pub(crate) access_key: Option<String>,
    pub(crate) secret_key: String,
    /// Session tokens, and for how long after the start each of them is good.
    pub(crate) session_tokens: BTreeMap<String, i64>,
    /// How far the clock of the server is ahead of the machine's.
    pub(crate) clock_ahead: i64,
    /// Most entries of a page of a listing.
    pub(crate) page: usize,
    /// Behind the name of a bucket, the host that names it.
    pub(crate) domain: String,
    #[serde(flatten)]
    pub(crate) front: Front,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            service: Law::Fixed(0),
            capacity: 1 << 30,
            bandwidth: None,
            buckets: vec!["pileup".to_owned()],
            region: "us-east-1".to_owned(),
            access_key: None,
            secret_key: String::new(),
            session_tokens: BTreeMap::new(),
            clock_ahead: 0,
            page: 1000,
            domain: "localhost".to_owned(),
            front: Front::default(),
        }
    }
}

impl Settings {
    /// Read and check them.
    pub(crate) fn read(json: &str) -> Result<Self, Error> {
        let mut settings: Self = serde_json::from_str(json).map_err(|error| {
            Error::Settings(format!("settings of {S3}: {error}; expected those of docs/practice.md (correct them)"))
        })?;
        let front = &mut settings.front;
        (front.what, front.s3, front.bandwidth) = (S3, true, settings.bandwidth);
        front.check()?;
        if let Some(bandwidth) = settings.bandwidth.filter(|rate| !(rate.is_finite() && *rate >= 1000.0)) {
            return Err(wrong(S3, &format!("bandwidth {bandwidth} B/s"), "at least 1000 B/s, or null for no limit"));
        }
        if !(1..=1000).contains(&settings.page) {
            return Err(wrong(S3, &format!("page {}", settings.page), "1 to 1000 entries"));
        }
        if settings.access_key.is_some() && settings.secret_key.is_empty() {
            return Err(wrong(S3, "an access_key without a secret_key", "both, or neither"));
        }
        if settings.front.token.is_some() || settings.front.keys.is_some() {
            return Err(wrong(S3, "a bearer token or its keys", "access_key and secret_key"));
        }
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_ones_are_named_with_what_was_expected() {
        assert!(Settings::read(r#"{"faults": [{"kind": "error_in_200"}, {"kind": "broken_xml"}]}"#).is_ok());
        for (json, what) in [
            (r#"{"bucket": 3}"#, "bucket"),
            (r#"{"threads": 0}"#, "threads 0"),
            (r#"{"page": 0}"#, "page 0"),
            (r#"{"bandwidth": 7}"#, "bandwidth 7"),
            (r#"{"access_key": "a"}"#, "without a secret_key"),
            (r#"{"token": "a"}"#, "a bearer token"),
        ] {
            let text = Settings::read(json).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(text.contains(what) && text.contains("; expected ") && text.ends_with(')'), "{json}: {text}");
        }
    }
}
