//! When an answer passes.

use http::StatusCode;
use http::header::{CONTENT_RANGE, CONTENT_TYPE};
use pileup_engine::client::{Act, Call, Fault, Incomplete, NOT_OURS};
use pileup_engine::program::{Checksum, Step, Verb};

use crate::check::{self, Check};
use crate::error;
use crate::listing::Listing;
use crate::multipart::{self, Multipart, Next, Span};
use crate::ops::Answer;
use crate::pieces::Pieces;
use crate::plan::Plan;

/// Largest listing.
const LISTED: u64 = 64 << 20;

/// Whether the answer passes; takes its body in.
pub(crate) async fn judge(answer: &mut Answer, plan: &mut Plan, call: &Call<'_>, act: &mut Act) -> Result<(), Fault> {
    let step = call.step;
    let status = answer.head.status;
    if !passes(status, call, plan) {
        let fault = match status {
            StatusCode::OK if plan.part().is_some() => Fault::failed("HTTP 200 OK, though only a part was asked for"),
            // RFC 9110, 13.1.2; RFC 4918, 10.6
            StatusCode::PRECONDITION_FAILED if step.new => Fault::failed(NOT_OURS),
            other => error::status(other),
        };
        // what comes with a no has come all the same, whether it ends or not
        act.incomplete = act.incomplete.map(|incomplete| Incomplete { kind: fault.kind, ..incomplete });
        let _ = answer.drain(Some(act)).await;
        return Err(fault);
    }
    match step.verb {
        Verb::Read if status == StatusCode::RANGE_NOT_SATISFIABLE => Ok(()),
        Verb::Read if status == StatusCode::PARTIAL_CONTENT && plan.parts.len() > 1 => {
            pieces(answer, plan, call, act).await
        }
        Verb::Read if status.is_success() => read(answer, plan, call, act).await,
        Verb::List if status == StatusCode::MULTI_STATUS => list(answer, plan, step, act).await,
        Verb::Stat | Verb::Open => stat(answer, call),
        Verb::Checksum if status.is_success() => match check::digest(&answer.head.headers) {
            Some(sum) => call.judge_sum(sum),
            None => act.not_stated(step),
        },
        Verb::Request | Verb::Read => receive(answer, Check::answer(step), act).await.map(drop),
        Verb::Write => {
            answer.drain(None).await?;
            match check::digest(&answer.head.headers) {
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
        Verb::Delete | Verb::Mkdir | Verb::Write | Verb::Rename if code == 207 => false,
        Verb::List => code == 207,
        Verb::Read if plan.part().is_some() => code == 206 || (code == 416 && wants_nothing(call, plan)),
        Verb::Read => code == 200,
        _ => status.is_success(),
    }
}

/// Whether the part asked for lies behind the end: of the known content, or of an object that was read up to there.
fn wants_nothing(call: &Call<'_>, plan: &Plan) -> bool {
    let offset = plan.part().map_or(0, |part| part.offset);
    call.content.map_or(offset > call.step.offset, |object| offset >= object.size)
}

async fn read(answer: &mut Answer, plan: &mut Plan, call: &Call<'_>, act: &mut Act) -> Result<(), Fault> {
    let partial = answer.head.status == StatusCode::PARTIAL_CONTENT;
    let part = plan.part().filter(|_| partial);
    if let Some(part) = part {
        let span = answer.span().filter(|span| span.first == part.offset);
        let span = span.ok_or_else(|| Fault::failed("another range than the one asked for"))?;
        if let Some(total) = span.total {
            check::size(total, call.content.map(|object| object.size))?;
            plan.total = Some(total);
        }
    }
    let whole = part.is_none() && call.step.checksum == Checksum::Adler32;
    let stated = || check::digest(&answer.head.headers).ok_or_else(pileup_engine::client::no_sum);
    let sum = if whole { Some(stated()?) } else { None };
    let check = Check::object(call, part, plan.sum.take(), sum);
    plan.sum = receive(answer, check, act).await?;
    Ok(())
}

/// Take the body in; returns the sum with it, where one is kept.
async fn receive(
    answer: &mut Answer,
    mut check: Check<'_>,
    act: &mut Act,
) -> Result<Option<pileup_engine::content::Adler32>, Fault> {
    let stated = answer.head.stated;
    if let Some(stated) = stated {
        check::size(stated, check.expected())?;
    }
    let sent = act.bytes;
    while let Some(piece) = answer.link.piece().await {
        let piece = piece.map_err(|error| error::broken_body(&error, check.got(), stated))?;
        act.moved(sent + check.got() + piece.len() as u64);
        act.came(check.got() + piece.len() as u64);
        check.take(piece)?;
    }
    check.finish()
}

/// Take several parts in: a server may give them as one when they lie close together.
async fn pieces(answer: &mut Answer, plan: &Plan, call: &Call<'_>, act: &mut Act) -> Result<(), Fault> {
    let no_parts = |why: &str| Fault::failed(format!("the answer is no multipart: {why}"));
    let (mut pieces, before, stated) = (Pieces::new(&plan.parts, call), act.bytes, answer.head.stated);
    let boundary = answer.head.headers.get(CONTENT_TYPE).and_then(|value| multipart::boundary(value.as_bytes()));
    let mut parts = boundary.map(|boundary| Multipart::new(&boundary));
    if parts.is_none() {
        let span = answer.span().ok_or_else(|| Fault::failed("another range than those asked for"))?;
        if let Some(stated) = stated {
            check::size(stated, Some((span.last - span.first).saturating_add(1)))?;
        }
        pieces.begin(span)?;
    }
    let mut got = 0;
    while let Some(piece) = answer.link.piece().await {
        let mut there = piece.map_err(|error| error::broken_body(&error, got, stated))?;
        got += there.len() as u64;
        act.came(got);
        let Some(parts) = &mut parts else {
            pieces.take(there)?;
            act.moved(before + pieces.got());
            continue;
        };
        while !there.is_empty() {
            let (skipped, next) = parts.next(there);
            there = &there[skipped..];
            match next {
                Next::Part(span) => pieces.begin(span)?,
                Next::Data(length) => {
                    pieces.take(&there[..length])?;
                    act.moved(before + pieces.got());
                    there = &there[length..];
                }
                Next::More | Next::End => break,
                Next::Wrong(why) => return Err(no_parts(why)),
            }
        }
    }
    match &parts {
        Some(parts) if !parts.is_done() => Err(no_parts("it ends too early")),
        _ => pieces.finish(),
    }
}

async fn list(answer: &mut Answer, plan: &Plan, step: &Step, act: &mut Act) -> Result<(), Fault> {
    let no_listing = |why: &str| Fault::failed(format!("the answer is no WebDAV listing: {why}"));
    let mut listing = Listing::new(answer.path.as_deref().unwrap_or(&plan.path));
    let (mut got, stated) = (0, answer.head.stated);
    while let Some(piece) = answer.link.piece().await {
        let piece = piece.map_err(|error| error::broken_body(&error, got, stated))?;
        got += piece.len() as u64;
        act.came(got);
        if got > LISTED {
            return Err(Fault::failed("the listing is larger than 64 MiB"));
        }
        listing.feed(piece).map_err(no_listing)?;
    }
    let entries = listing.finish().map_err(no_listing)?;
    match step.expect.entries {
        Some(expected) if entries != expected => Err(Fault::failed(format!("{entries} entries, expected {expected}"))),
        _ => Ok(()),
    }
}

fn stat(answer: &Answer, call: &Call<'_>) -> Result<(), Fault> {
    match (call.content, answer.head.stated) {
        (Some(object), Some(stated)) if answer.head.status.is_success() => check::size(stated, Some(object.size)),
        // RFC 9110, 8.6: it may be left out, and Apache does so for an empty file
        (Some(object), None) if object.size == 0 => Ok(()),
        (Some(_), None) if answer.head.status.is_success() => Err(Fault::failed("the answer states no size")),
        _ => Ok(()),
    }
}

impl Answer {
    /// Which bytes of the object it says it has.
    fn span(&self) -> Option<Span> {
        self.head.headers.get(CONTENT_RANGE).and_then(|value| Span::parse(value.as_bytes()))
    }
}
