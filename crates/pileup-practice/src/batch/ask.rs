//! What clients ask: bodies in JSON, queries.

use std::borrow::Cow;

use http::Request;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::wire::Turn;

use super::job::{State, Wanted};

/// Largest body, bytes.
const LARGEST: usize = 64 << 20;
/// Longest name of a job or a user, bytes.
const LONGEST: usize = 250;
/// Most jobs in one answer.
const MOST: usize = 100_000;
/// Longest time of a job, and longest absence, ns: over a hundred years.
const AGES: u64 = 4_000_000_000_000_000_000;

/// Something that cannot be done as it was asked.
#[derive(Debug)]
pub(crate) struct Trouble {
    pub(crate) status: u16,
    pub(crate) text: String,
}

impl Trouble {
    /// With this status: what is wrong, and what was expected.
    pub(crate) fn new(status: u16, what: impl std::fmt::Display, expected: &str) -> Self {
        Self { status, text: format!("{what}; expected {expected}") }
    }
}

/// Jobs, by id or by name.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Named {
    pub(crate) ids: Vec<u64>,
    pub(crate) names: Vec<String>,
}

/// Jobs to take out: these, or the oldest.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Purge {
    pub(crate) ids: Vec<u64>,
    pub(crate) oldest: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Jobs {
    jobs: Vec<Wanted>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Crash {
    away: u64,
}

/// Take a body in.
pub(crate) async fn body(turn: &Turn, request: &mut Request<Incoming>) -> Result<Vec<u8>, Trouble> {
    let mut data = Vec::new();
    while let Some(frame) = request.body_mut().frame().await {
        let Ok(frame) = frame else { return Err(Trouble::new(400, "the body ended early", "all of it")) };
        let Ok(piece) = frame.into_data() else { continue };
        turn.open.note(|line| line.bytes_in += piece.len() as u64);
        if data.len() + piece.len() > LARGEST {
            return Err(Trouble::new(413, "the body is too long", "at most 64 MiB"));
        }
        data.extend_from_slice(&piece);
    }
    Ok(data)
}

/// Read JSON; no body is an empty mapping.
pub(crate) fn json<T: DeserializeOwned>(body: &[u8], expected: &str) -> Result<T, Trouble> {
    let body = if body.is_empty() { b"{}" } else { body };
    serde_json::from_slice(body).map_err(|error| Trouble::new(400, error, expected))
}

/// Jobs to be taken in.
pub(crate) fn jobs(body: &[u8]) -> Result<Vec<Wanted>, Trouble> {
    let jobs: Jobs = json(body, "{\"jobs\": [{\"name\", \"duration\" (ns), \"user\", \"delegation\"}, ...]}")?;
    for job in &jobs.jobs {
        name(&job.name)?;
        job.user.as_deref().map_or(Ok(()), name)?;
        if job.duration > AGES {
            return Err(Trouble::new(400, format!("duration {} ns", job.duration), "at most 4e18"));
        }
    }
    Ok(jobs.jobs)
}

/// Whether a job or a user may be called so.
pub(crate) fn name(name: &str) -> Result<(), Trouble> {
    if (1..=LONGEST).contains(&name.len()) && !name.chars().any(char::is_control) {
        return Ok(());
    }
    Err(Trouble::new(400, format!("the name {name:?}"), "1 to 250 bytes without control characters"))
}

/// Which jobs.
pub(crate) fn named(body: &[u8]) -> Result<Named, Trouble> {
    json(body, "{\"ids\": [...], \"names\": [...]}")
}

/// Which jobs are to be taken out.
pub(crate) fn purge(body: &[u8]) -> Result<Purge, Trouble> {
    json(body, "{\"ids\": [...]} or {\"oldest\": N}")
}

/// For how long it should be away, ns.
pub(crate) fn away(body: &[u8]) -> Result<i64, Trouble> {
    let crash: Crash = json(body, "{\"away\": NS}")?;
    let away = Some(crash.away).filter(|away| *away <= AGES).and_then(|away| i64::try_from(away).ok());
    away.ok_or_else(|| Trouble::new(400, format!("away {} ns", crash.away), "at most 4e18"))
}

/// A query.
#[derive(Debug)]
pub(crate) struct Query {
    /// After this id, change or number of the history.
    pub(crate) since: u64,
    /// At most so many.
    pub(crate) most: usize,
    pub(crate) state: Option<State>,
}

impl Query {
    /// Read `since=N&most=N&state=NAME`, all of them optional.
    pub(crate) fn read(text: &str) -> Result<Self, Trouble> {
        let mut query = Self { since: 0, most: 1000, state: None };
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let wrong = |expected: &'static str| Trouble::new(400, Cow::from(format!("{name}={value}")), expected);
            match name {
                "since" => query.since = value.parse().map_err(|_| wrong("since=N"))?,
                "most" => {
                    query.most = value.parse().map_err(|_| wrong("most=N"))?;
                    if !(1..=MOST).contains(&query.most) {
                        return Err(wrong("1 to 100000"));
                    }
                }
                "state" => query.state = Some(State::named(value).ok_or_else(|| wrong("a state"))?),
                _ => return Err(wrong("since, most, state")),
            }
        }
        Ok(query)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_read() {
        let query = Query::read("since=7&most=5&state=running").unwrap();
        assert_eq!((query.since, query.most, query.state), (7, 5, Some(State::Running)));
        for wrong in ["since=-1", "most=0", "most=100001", "state=dead", "x=1", "since"] {
            assert!(Query::read(wrong).unwrap_err().text.contains("; expected "), "{wrong}");
        }
    }

    #[test]
    fn jobs_are_checked() {
        assert_eq!(jobs(br#"{"jobs": [{"name": "a", "duration": 5}]}"#).unwrap()[0].duration, 5);
        for wrong in [
            &br#"{"jobs": [{"name": ""}]}"#[..],
            br#"{"jobs": [{"name": "a\nb"}]}"#,
            br#"{"jobs": [{"name": "a", "user": ""}]}"#,
            br#"{"jobs": [{"name": "a", "duration": -1}]}"#,
            br#"{"jobs": [{"name": "a", "duration": 9000000000000000000}]}"#,
            br#"{"jobs": [{"nam": "a"}]}"#,
            b"{}",
            b"[",
        ] {
            assert_eq!(jobs(wrong).unwrap_err().status, 400);
        }
        assert_eq!(away(b"").unwrap(), 0);
        assert_eq!(named(b"").unwrap().ids.len(), 0);
    }
}
