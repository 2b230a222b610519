//! When an answer passes.

use http::StatusCode;
use pileup_engine::client::{Act, Call, Failure, Incomplete, NOT_OURS};
use pileup_engine::program::{Checksum, Step, Verb};
use pileup_http1::{Answer, Check, digest, receive, size};

use crate::listing::Listing;
use crate::plan::Plan;

/// Largest listing.
const LISTED: u64 = 64 << 20;

/// Whether the answer passes; takes its body in.
pub(crate) async fn judge(answer: &mut Answer, plan: &mut Plan, call: &Call<'_>, act: &mut Act) -> Result<(), Failure> {
    let step = call.step;
    let status = answer.status();
    if !passes(status, call, plan) {
        let failure = match status {
            StatusCode::OK if plan.reading.part().is_some() => {
                Failure::failed("HTTP 200 OK, though only a part was asked for")
            }
            // RFC 9110, 13.1.2; RFC 4918, 10.6
            StatusCode::PRECONDITION_FAILED if step.new => Failure::failed(NOT_OURS),
            _ => answer.failure(),
        };
        // what comes with a no has come all the same, whether it ends or not
        act.incomplete = act.incomplete.map(|incomplete| Incomplete { kind: failure.kind, ..incomplete });
        let _ = answer.drain(Some(act)).await;
        return Err(failure);
    }
    match step.verb {
        Verb::Read => plan.reading.take(answer, call, act).await,
        Verb::List if status == StatusCode::MULTI_STATUS => list(answer, plan, step, act).await,
        Verb::Stat | Verb::Open => stat(answer, call),
        Verb::Checksum if status.is_success() => match digest(answer.headers()) {
            Some(sum) => call.judge_sum(sum),
            None => act.not_stated(step),
        },
        Verb::Request => receive(answer, &mut Check::answer(step), act).await.map(drop),
        Verb::Write => {
            answer.drain(None).await?;
            match digest(answer.headers()) {
                Some(sum) if step.checksum == Checksum::Adler32 => call.judge_sum(sum),
                _ => Ok(()),
            }
        }
        _ => answer.drain(None).await.map(drop),
    }
}

/// Whether the status is one that passes.
fn passes(status: StatusCode, call: &Call<'_>, plan: &Plan) -> bool {
    let (step, code) = (call.step, status.as_u16());
    if !step.expect.statuses.is_empty() {
        return step.expect.statuses.contains(&code);
    }
    match step.verb {
        Verb::Delete if code == 404 => step.missing_ok,
        Verb::Mkdir if code == 405 => step.missing_ok,
        // RFC 4918, 9.6.1: of several objects not all were removed.
        Verb::List => code == 207,
        verb if code == 207 && verb != Verb::Request && verb.traits().changes => false,
        Verb::Read => plan.reading.passes(status, call),
        _ => status.is_success(),
    }
}

async fn list(answer: &mut Answer, plan: &Plan, step: &Step, act: &mut Act) -> Result<(), Failure> {
    let no_listing = |why: &str| Failure::failed(format!("the answer is not a WebDAV listing: {why}"));
    let mut listing = Listing::new(answer.path().unwrap_or(&plan.path));
    let mut got = 0;
    while let Some(piece) = answer.piece().await? {
        got += piece.len() as u64;
        act.came(got);
        if got > LISTED {
            return Err(Failure::failed("the listing is larger than 64 MiB"));
        }
        listing.feed(piece).map_err(no_listing)?;
    }
    let entries = listing.finish().map_err(no_listing)?;
    match step.expect.entries {
        Some(expected) if entries != expected => {
            Err(Failure::failed(format!("{entries} entries, expected {expected}")))
        }
        _ => Ok(()),
    }
}

fn stat(answer: &Answer, call: &Call<'_>) -> Result<(), Failure> {
    match (call.content, answer.stated()) {
        (Some(object), Some(stated)) if answer.status().is_success() => size(stated, Some(object.size)),
        // RFC 9110, 8.6: it may be left out, and Apache does so for an empty file
        (Some(object), None) if object.size == 0 => Ok(()),
        (Some(_), None) if answer.status().is_success() => Err(Failure::failed("the answer states no size")),
        _ => Ok(()),
    }
}
