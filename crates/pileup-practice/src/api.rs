//! What servers of the WLCG Tape REST API (v1) have in common: where it is, who may use it, bodies in JSON, refusals in its words.

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE};
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::answer::{Answer, says};
use crate::problem::Problem;
use crate::wire::Turn;

/// Below this is the API.
pub(crate) const API: &str = "/api/v1";
/// Where a server says where its API is.
pub(crate) const WELL_KNOWN: &str = "/.well-known/wlcg-tape-rest-api";
/// The scope of a token that may stage.
pub(crate) const STAGE: &str = "storage.stage";
/// What it may be instead to look.
pub(crate) const READ: &str = "storage.read";
/// Largest body, bytes.
const LARGEST: usize = 64 << 20;
/// Longest path, bytes.
const LONGEST: usize = 4096;

#[derive(Deserialize)]
struct Paths {
    paths: Vec<String>,
}

/// Take a body in.
pub(crate) async fn body(turn: &Turn, request: &mut Request<Incoming>) -> Result<Vec<u8>, Problem> {
    let mut data = Vec::new();
    while let Some(frame) = request.body_mut().frame().await {
        let Ok(frame) = frame else { return Err(Problem::body("the body ended early; expected all of it")) };
        let Ok(piece) = frame.into_data() else { continue };
        turn.open.note(|line| line.bytes_in += piece.len() as u64);
        if data.len() + piece.len() > LARGEST {
            return Err(too_large("a body of more than 64 MiB; expected less"));
        }
        data.extend_from_slice(&piece);
    }
    Ok(data)
}

/// Paths, so many at most.
pub(crate) fn paths(body: &[u8], most: usize) -> Result<Vec<String>, Problem> {
    let Paths { paths } = json(body, "{\"paths\": [...]}")?;
    check(paths.iter().map(String::as_str), "paths", most)?;
    Ok(paths)
}

/// What a body in JSON says.
pub(crate) fn json<T: DeserializeOwned>(body: &[u8], expected: &str) -> Result<T, Problem> {
    serde_json::from_slice(body).map_err(|error| Problem::body(format!("{error}; expected {expected}")))
}

/// Whether there are paths, so many at most, none of them empty or very long. `name` is what the body calls them.
pub(crate) fn check<'a>(paths: impl ExactSizeIterator<Item = &'a str>, name: &str, most: usize) -> Result<(), Problem> {
    let number = paths.len();
    if number == 0 {
        return Err(Problem::body(format!("{name} - Field does not exist or is not a valid non-empty array")));
    }
    if number > most {
        return Err(too_large(&format!("{number} {name}; expected at most {most}")));
    }
    let mut paths = paths;
    if paths.any(|path| path.is_empty() || path.len() > LONGEST) {
        return Err(Problem::body(format!("an empty or very long path; expected {name} of 1 to {LONGEST} bytes")));
    }
    Ok(())
}

/// There is too much of something.
pub(crate) fn too_large(detail: &str) -> Problem {
    Problem::new(413, "Content too large", detail)
}

/// JSON with a status.
pub(crate) fn send(status: StatusCode, value: &impl Serialize) -> Answer {
    let Ok(mut body) = serde_json::to_vec(value) else { return says(500, "the answer cannot be written") };
    body.push(b'\n');
    let mut answer = Response::new(Bytes::from(body));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

/// Whether a token may stage at all, where tokens are looked at.
pub(crate) fn check_stage(turn: &Turn) -> Result<(), Problem> {
    if turn.has(STAGE) { Ok(()) } else { Err(forbidden("this request")) }
}

/// Whether a token has one of these scopes for each of these paths, where tokens are looked at.
pub(crate) fn check_paths<'a>(
    turn: &Turn,
    may: &[&str],
    mut paths: impl Iterator<Item = &'a str>,
) -> Result<(), Problem> {
    paths.find(|path| !turn.allows(may, path)).map_or(Ok(()), |path| Err(forbidden(path)))
}

fn forbidden(what: &str) -> Problem {
    Problem::new(403, "Forbidden", format!("the scope of the token does not allow {what}; expected {STAGE}"))
}

/// A refusal, which the log has, too.
pub(crate) fn refusal(turn: &Turn, problem: &Problem) -> Answer {
    turn.open.note(|line| {
        let between = if line.note.is_empty() { "" } else { "; " };
        line.note = format!("{}{between}{:.200}", line.note, problem.detail);
    });
    let mut answer = problem.answer();
    if problem.status == 405 {
        answer.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, POST, DELETE"));
    }
    answer
}

/// An error from elsewhere in the words of the API.
pub(crate) fn dress(answer: Answer) -> Answer {
    let spoken = answer.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/plain"));
    if answer.status().as_u16() < 400 || !spoken {
        return answer;
    }
    let detail = String::from_utf8_lossy(answer.body()).trim_end().to_owned();
    let title = answer.status().canonical_reason().unwrap_or("Error");
    let mut dressed = Problem::new(answer.status().as_u16(), title, detail).answer();
    let kept = answer.headers().iter().filter(|(name, _)| *name != CONTENT_TYPE);
    dressed.headers_mut().extend(kept.map(|(name, value)| (name.clone(), value.clone())));
    dressed
}
