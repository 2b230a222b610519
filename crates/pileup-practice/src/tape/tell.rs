//! What is answered: JSON, in the words of the Tape REST API.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response, StatusCode};
use serde::{Serialize, Serializer};
use serde_json::json;

use crate::answer::Answer;
use crate::api::send;
use crate::problem::Problem;

use super::bulk::{Bulk, Bulks, Target};
use super::clock::Clock;
use super::files::{Path, clean};
use super::stager::{Phase, Stager};

/// What is said of a path that is not on tape.
const UNKNOWN: &str = "USER ERROR: file does not exist or is not accessible to you";
/// What is said of a file whose cartridge is bad.
const UNREADABLE: &str = "the cartridge cannot be read";
/// Largest file whose content is answered, bytes.
pub(crate) const LARGEST: u64 = 64 << 20;

/// A stage request. Times in seconds since the epoch.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Progress<'a> {
    id: &'a str,
    created_at: i64,
    started_at: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    completed_at: Option<i64>,
    files: Vec<File<'a>>,
}

/// A file of it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct File<'a> {
    path: Name<'a>,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finished_at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exact: Option<Exact>,
}

/// What the standard has no words for: real time, ns since the epoch; 0: not yet.
#[derive(Serialize)]
struct Exact {
    handed: i64,
    begun: i64,
    ended: i64,
    drive: Option<u16>,
}

/// Where a file is.
#[derive(Serialize)]
struct Info<'a> {
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    locality: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'static str>,
}

/// A path: of a file on tape, or any other.
enum Name<'a> {
    Known(Path<'a>),
    Strange(&'a str),
}

impl Serialize for Name<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Known(path) => path.serialize(serializer),
            Self::Strange(path) => serializer.serialize_str(path),
        }
    }
}

/// How far a stage request is; `exact`: with the times to the nanosecond.
pub(crate) fn progress(stager: &Stager, clock: Clock, id: &str, bulk: &Bulk, exact: bool) -> Answer {
    let created = seconds(clock, bulk.created);
    let known = bulk.targets.iter().filter_map(|target| {
        let file = file(stager, clock, created, target)?;
        let exact = exact.then(|| times(stager, clock, bulk.created, target));
        Some(File { exact, ..file })
    });
    let strange = bulk.strangers.iter().map(|path| File {
        path: Name::Strange(path),
        state: "FAILED",
        started_at: Some(created),
        finished_at: Some(created),
        error: Some(UNKNOWN),
        exact: None,
    });
    let files: Vec<_> = known.chain(strange).collect();
    let started = files.iter().filter_map(|file| file.started_at).min();
    let finished = files.iter().map(|file| file.finished_at).collect::<Option<Vec<_>>>();
    let progress = Progress {
        id,
        created_at: created,
        started_at: started.unwrap_or(created),
        completed_at: finished.map(|all| all.into_iter().max().unwrap_or(created)),
        files,
    };
    send(StatusCode::OK, &progress)
}

/// A file of a stage request; none: the library has forgotten it.
fn file<'a>(stager: &'a Stager, clock: Clock, created: i64, target: &Target) -> Option<File<'a>> {
    let read = stager.read(target.read);
    let started = read.started.map(|time| seconds(clock, time).max(created));
    let ended = Some(seconds(clock, stager.times(target.read).ended).max(created));
    let (state, finished) = match (target.cancelled, read.phase) {
        (Some(time), _) => ("CANCELLED", Some(seconds(clock, time))),
        (None, Phase::Lost) => return None,
        (None, Phase::Cancelled) => ("CANCELLED", ended),
        (None, Phase::Waiting | Phase::Handed) => (if started.is_some() { "STARTED" } else { "SUBMITTED" }, None),
        (None, Phase::Disk | Phase::Gone) => ("COMPLETED", ended),
        (None, Phase::Unreadable) => ("FAILED", ended),
    };
    Some(File {
        path: Name::Known(stager.files.path(read.file)),
        state,
        started_at: started,
        finished_at: finished,
        error: (state == "FAILED").then_some(UNREADABLE),
        exact: None,
    })
}

/// When what has happened to a file since it was asked for.
fn times(stager: &Stager, clock: Clock, created: i64, target: &Target) -> Exact {
    let times = stager.times(target.read);
    let real = |time: i64| if time == 0 { 0 } else { clock.to_real(time.max(created)) };
    let drive = stager.read(target.read).drive;
    Exact { handed: real(times.handed), begun: real(times.begun), ended: real(times.ended), drive }
}

/// Where these files are.
pub(crate) fn archive_info(stager: &Stager, paths: &[String]) -> Answer {
    let clean: Vec<_> = paths.iter().map(|path| clean(path)).collect();
    let infos = clean.iter().map(|path| match stager.files.find(path) {
        Some(file) => Info { path, locality: Some(stager.locality(file)), error: None },
        None => Info { path, locality: None, error: Some(UNKNOWN) },
    });
    send(StatusCode::OK, &infos.collect::<Vec<_>>())
}

/// How many there are of everything.
pub(crate) fn counts(stager: &Stager, bulks: &Bulks, clock: Clock, now: i64) -> Answer {
    let counts = stager.counts;
    let (queued, busy) = stager.drives();
    let told = json!({
        "library": now, "time": clock.to_real(now), "requests": bulks.number(), "reads": stager.number(),
        "waiting": counts.waiting, "handed": counts.handed, "queued": queued, "drives": busy, "disk": counts.disk,
        "delivered": counts.delivered, "unreadable": counts.unreadable, "cancelled": counts.cancelled,
        "lost": counts.lost,
    });
    send(StatusCode::OK, &told)
}

/// A file that was read from tape, or found on disk, for somebody who asked at this library time.
pub(crate) fn copied(stager: &Stager, clock: Clock, asked: i64, read: u32, content: bool) -> Result<Answer, Problem> {
    let times = stager.times(read);
    let file = stager.read(read).file;
    if stager.read(read).phase == Phase::Unreadable {
        let detail = format!("The file {} cannot be had: {UNREADABLE}", stager.files.path(file));
        return Err(Problem::new(500, "Cartridge cannot be read", detail));
    }
    let (path, size) = (stager.files.path(file).to_string(), stager.files.size(file));
    // what was over before somebody asked has not kept them waiting
    let real = |time: i64| clock.to_real(time.max(asked));
    let spans = [
        ("x-pileup-stager-queue", real(times.handed) - real(asked)),
        ("x-pileup-queue-wait", real(times.begun) - real(times.handed)),
        ("x-pileup-transfer", real(times.ended) - real(times.begun)),
    ];
    let mut answer = if content {
        let line = format!("{path}\n");
        let body: Vec<u8> = line.bytes().cycle().take(usize::try_from(size.min(LARGEST)).unwrap_or(0)).collect();
        let mut answer = Response::new(Bytes::from(body));
        answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
        answer
    } else {
        send(StatusCode::OK, &json!({"path": path, "size": size}))
    };
    for (name, span) in spans {
        answer.headers_mut().insert(name, HeaderValue::from(span));
    }
    Ok(answer)
}

fn seconds(clock: Clock, time: i64) -> i64 {
    clock.to_real(time) / 1_000_000_000
}
