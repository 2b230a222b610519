//! What is answered: JSON.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, Response, StatusCode};
use serde::Serialize;
use serde_json::{Value, json};

use crate::answer::{Answer, says};

use super::ask::{Named, Purge, Query, Trouble};
use super::job::{Job, STATES, Told};
use super::system::System;

/// A page of jobs, and where the next one begins.
#[derive(Serialize)]
struct Page<'a> {
    jobs: Vec<Told<'a>>,
    next: u64,
    more: bool,
}

/// Jobs that were found. What is not there is left out.
#[derive(Serialize)]
struct Found<'a> {
    jobs: Vec<Told<'a>>,
}

fn send(status: StatusCode, value: &impl Serialize) -> Answer {
    let Ok(mut body) = serde_json::to_vec(value) else { return says(500, "the answer cannot be written") };
    body.push(b'\n');
    let mut answer = Response::new(Bytes::from(body));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

fn page(jobs: Vec<Told<'_>>, next: u64, more: bool) -> Answer {
    send(StatusCode::OK, &Page { jobs, next, more })
}

/// Something went wrong.
pub(crate) fn error(trouble: &Trouble) -> Answer {
    let status = StatusCode::from_u16(trouble.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    send(status, &json!({"error": trouble.text}))
}

/// One number.
pub(crate) fn number(name: &str, value: usize) -> Answer {
    send(StatusCode::OK, &json!({name: value}))
}

/// Who this is.
pub(crate) fn about(system: &System) -> Answer {
    send(StatusCode::OK, &json!({"system": "pileup practice batch", "slots": system.slots()}))
}

/// Jobs were taken in; the rest was refused. Nothing but a refusal is 429.
pub(crate) fn submitted(ids: &[u64], reason: Option<String>) -> Answer {
    let refused = ids.is_empty() && reason.is_some();
    let status = if refused { StatusCode::TOO_MANY_REQUESTS } else { StatusCode::CREATED };
    let mut answer = send(status, &json!({"ids": ids, "refused": reason}));
    if refused {
        answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    answer
}

/// Jobs by id, page by page.
pub(crate) fn jobs(system: &System, query: &Query) -> Result<Answer, Trouble> {
    let ids = system.ids_after(query.since);
    let free = system.free() > 0;
    let wanted = |job: &&Job| query.state.is_none_or(|state| job.state == state);
    let mut found = ids.iter().filter_map(|id| system.job(*id)).filter(wanted);
    let jobs: Vec<_> = found.by_ref().take(query.most).collect();
    let next = jobs.last().map_or(query.since, |job| job.id);
    let more = found.next().is_some();
    Ok(page(jobs.into_iter().map(|job| job.told(free)).collect(), next, more))
}

/// What has begun or ended after a change.
pub(crate) fn changes(system: &System, query: &Query) -> Result<Answer, Trouble> {
    no_state(query)?;
    let since = query.since.min(system.changes.last());
    let (mut jobs, mut next, mut more) = (Vec::new(), since, false);
    for (number, id) in system.changes.since(since) {
        if jobs.len() == query.most {
            more = true;
            break;
        }
        next = number;
        jobs.extend(system.job(id).filter(|job| job.changed == number).map(|job| job.told(true)));
    }
    Ok(page(jobs, next, more))
}

fn no_state(query: &Query) -> Result<(), Trouble> {
    query
        .state
        .map_or(Ok(()), |state| Err(Trouble::new(400, format!("state={}", state.name()), "since and most alone")))
}

/// These jobs.
pub(crate) fn status(system: &System, asked: &Named) -> Answer {
    let free = system.free() > 0;
    let by_id = asked.ids.iter().filter_map(|id| system.job(*id));
    let by_name = asked.names.iter().flat_map(|name| system.named(name));
    send(StatusCode::OK, &Found { jobs: by_id.chain(by_name).map(|job| job.told(free)).collect() })
}

/// The accounting, page by page.
pub(crate) fn history(system: &System, query: &Query) -> Result<Answer, Trouble> {
    no_state(query)?;
    let jobs: Vec<_> = system.history.since(query.since).take(query.most).collect();
    let next = jobs.last().map_or(query.since, |(number, _)| number + 1);
    let more = next < system.history.end() && !jobs.is_empty();
    Ok(page(jobs.into_iter().map(|(_, job)| job.told(true)).collect(), next, more))
}

/// What the accounting knows of these names. Ids are not asked for: they may have been given again.
pub(crate) fn in_history(system: &System, asked: &Named) -> Answer {
    let found = asked.names.iter().flat_map(|name| system.history.named(name));
    send(StatusCode::OK, &Found { jobs: found.map(|job| job.told(true)).collect() })
}

/// How many there are in each state, and how often what has happened.
pub(crate) fn counts(system: &System) -> Answer {
    let states: serde_json::Map<String, Value> =
        STATES.iter().map(|state| (state.name().to_owned(), json!(system.count(*state)))).collect();
    let total = system.totals;
    let totals = json!({
        "submitted": total.submitted, "refused": total.refused, "started": total.started, "ended": total.ended,
        "purged": total.purged, "lost": total.lost, "crashes": total.crashes,
    });
    let change = system.changes.last();
    send(StatusCode::OK, &json!({"states": states, "totals": totals, "slots": system.slots(), "change": change}))
}

/// End these jobs.
pub(crate) fn cancelled(system: &mut System, time: i64, asked: &Named) -> Answer {
    let named = asked.names.iter().flat_map(|name| system.named(name)).map(|job| job.id);
    let ids: Vec<_> = asked.ids.iter().copied().chain(named).collect();
    let (done, left): (Vec<u64>, Vec<u64>) = ids.into_iter().partition(|id| system.cancel(time, *id));
    send(StatusCode::OK, &json!({"cancelled": done, "left": left}))
}

/// Take these jobs out.
pub(crate) fn purged(system: &mut System, time: i64, asked: &Purge) -> Answer {
    let (mut done, mut busy, mut missing) = (0, Vec::new(), Vec::new());
    for id in &asked.ids {
        match system.purge(time, *id) {
            Some(true) => done += 1,
            Some(false) => busy.push(*id),
            None => missing.push(*id),
        }
    }
    done += system.purge_oldest(time, asked.oldest);
    send(StatusCode::OK, &json!({"purged": done, "busy": busy, "missing": missing}))
}

/// A delegation.
pub(crate) fn delegation(id: u64, expires: i64, user: &str) -> Answer {
    send(StatusCode::CREATED, &json!({"id": id, "expires": expires, "user": user}))
}
