//! Reading an object by GET: which part the next request asks for, and whether its answer holds that.

use std::fmt::Write;

use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};
use pileup_engine::client::{Act, Call, Failure, no_sum};
use pileup_engine::content::Adler32;
use pileup_engine::program::{Checksum, Range};

use crate::answer::Answer;
use crate::check::{self, Check};
use crate::multipart::{self, Multipart, Next};
use crate::pieces::Pieces;

/// Most ranges of one request.
const RANGES: u64 = 4096;

/// What a read of one object asks for and has had, in one request or several.
pub struct Reading {
    /// What the next request asks for, where it is not the whole.
    parts: Vec<Range>,
    /// Size of the object, once an answer has it.
    total: Option<u64>,
    /// Sum of what has been read so far, where it is wanted.
    sum: Option<Adler32>,
}

impl Reading {
    /// Of the whole object at first; `sums` asks for the Adler-32 of all that is read.
    #[must_use]
    pub fn new(sums: bool) -> Self {
        Self { parts: Vec::new(), total: None, sum: sums.then(Adler32::new) }
    }

    /// Ask for these parts in one request; none: for the whole object.
    pub fn set(&mut self, parts: &[Range]) {
        self.parts.clear();
        self.parts.extend_from_slice(parts);
    }

    /// The one part that is asked for, or the first of several; none: the whole.
    #[must_use]
    pub fn part(&self) -> Option<Range> {
        self.parts.first().copied()
    }

    /// Size of the object, bytes, once an answer has it.
    #[must_use]
    pub fn total(&self) -> Option<u64> {
        self.total
    }

    /// The value of the Range header; none where the whole is asked for.
    #[must_use]
    pub fn range(&self) -> Option<HeaderValue> {
        if self.parts.is_empty() { None } else { HeaderValue::from_str(&ranges(&self.parts)).ok() }
    }

    /// Adler-32 of all that has been read, where it is wanted.
    pub fn finish(&mut self) -> Option<u32> {
        self.sum.take().map(|sum| sum.finish())
    }

    /// Whether an answer of this status is one to what was asked for.
    #[must_use]
    pub fn passes(&self, status: StatusCode, call: &Call<'_>) -> bool {
        match self.part() {
            Some(part) => {
                status == StatusCode::PARTIAL_CONTENT
                    || (status == StatusCode::RANGE_NOT_SATISFIABLE && wants_nothing(part, call))
            }
            None => status == StatusCode::OK,
        }
    }

    /// Take in the body of an answer that passes.
    ///
    /// # Errors
    /// When it is not what was asked for, or not what it should be.
    pub async fn take(&mut self, answer: &mut Answer, call: &Call<'_>, act: &mut Act) -> Result<(), Failure> {
        match answer.status() {
            StatusCode::RANGE_NOT_SATISFIABLE => Ok(()),
            StatusCode::PARTIAL_CONTENT if self.parts.len() > 1 => pieces(answer, &self.parts, call, act).await,
            status if status.is_success() => self.one(answer, call, act).await,
            _ => receive(answer, &mut Check::answer(call.step), act).await.map(drop),
        }
    }

    async fn one(&mut self, answer: &mut Answer, call: &Call<'_>, act: &mut Act) -> Result<(), Failure> {
        let partial = answer.status() == StatusCode::PARTIAL_CONTENT;
        let part = self.part().filter(|_| partial);
        if let Some(part) = part {
            let span = answer.span().filter(|span| span.first == part.offset);
            let span = span.ok_or_else(|| Failure::failed("another range than the one asked for"))?;
            if let Some(total) = span.total {
                check::size(total, call.content.map(|object| object.size))?;
                self.total = Some(total);
            }
        }
        let whole = part.is_none() && call.step.checksum == Checksum::Adler32;
        let stated = || check::digest(answer.headers()).ok_or_else(no_sum);
        let sum = if whole { Some(stated()?) } else { None };
        let mut check = Check::object(call, part, self.sum.take(), sum);
        self.sum = receive(answer, &mut check, act).await?;
        Ok(())
    }
}

/// Read an object as its step says: one range or several, each by itself, in parts as large as its buffer, or some in one request. `client` and
/// `turn` are what the ranges are drawn from. `ask` does one request for these parts, for the whole object where there are none, and
/// returns how many bytes the object has, once an answer has it.
///
/// # Errors
/// The first of `ask`, or a step that cannot be asked for over HTTP.
pub async fn read(
    call: &Call<'_>,
    client: u32,
    turn: u64,
    act: &mut Act,
    mut ask: impl AsyncFnMut(&[Range], &mut Act) -> Result<Option<u64>, Failure>,
) -> Result<(), Failure> {
    let mut ranges = call.step.ranges(client, turn, call.content.map(|object| object.size));
    let together = call.step.pieces.max(1);
    if together > RANGES {
        return Err(Failure::failed(format!("{together} pieces in a request; expected at most {RANGES} over HTTP")));
    }
    while let Some(first) = ranges.next() {
        if together > 1 {
            let rest = usize::try_from(together - 1).unwrap_or(0);
            let parts: Vec<Range> = std::iter::once(first).chain(ranges.by_ref().take(rest)).collect();
            ask(&parts, act).await?;
        } else if let Some(buffer) = call.step.buffer {
            by_buffer(first, buffer.max(1), call, act, &mut ask).await?;
        } else {
            // XRootD 5.5 promises what lies behind the end, and sends nothing at all
            let rest = call.content.map_or(0, |object| object.size.saturating_sub(first.offset));
            let length = first.length.map(|length| if rest > 0 { length.min(rest) } else { length });
            let part = Range { length, ..first };
            let whole = part.offset == 0 && part.length.is_none();
            ask(if whole { &[] } else { std::slice::from_ref(&part) }, act).await?;
        }
    }
    Ok(())
}

/// Read by one range request after another, as a client with a buffer of that size does; a part that is short is the last.
async fn by_buffer(
    range: Range,
    buffer: u64,
    call: &Call<'_>,
    act: &mut Act,
    ask: &mut impl AsyncFnMut(&[Range], &mut Act) -> Result<Option<u64>, Failure>,
) -> Result<(), Failure> {
    let size = call.content.map(|object| object.size);
    let asked = range.length.map(|length| range.offset.saturating_add(length));
    let mut end = [size, asked].into_iter().flatten().min();
    let mut at = range.offset;
    loop {
        let length = end.map_or(buffer, |end| buffer.min(end.saturating_sub(at)).max(1));
        let before = act.bytes;
        let total = ask(&[Range { offset: at, length: Some(length) }], act).await?;
        let got = act.bytes - before;
        at += got;
        end = [end, total].into_iter().flatten().min();
        if got < length || end.is_some_and(|end| at >= end) {
            return Ok(());
        }
    }
}

/// Whether a part that was asked for lies behind the end: of the known content, or of an object that was read up to there.
fn wants_nothing(part: Range, call: &Call<'_>) -> bool {
    call.content.map_or(part.offset > call.step.offset, |object| part.offset >= object.size)
}

/// Take a body in; returns the sum with it, where one is kept.
///
/// # Errors
/// When it ends early, or `check` finds it wrong.
pub async fn receive(answer: &mut Answer, check: &mut Check<'_>, act: &mut Act) -> Result<Option<Adler32>, Failure> {
    if let Some(stated) = answer.stated() {
        check::size(stated, check.expected())?;
    }
    let sent = act.bytes;
    loop {
        let came = answer.came();
        let Some(piece) = answer.piece().await? else { break };
        let got = check.got() + piece.len() as u64;
        let taken = check.take(piece);
        let (total, last) = (sent + got, answer.is_read());
        match came {
            Some(at) if last => act.moved_whole(total, at),
            Some(at) => act.moved_at(total, at),
            None => act.moved(total),
        }
        act.came(got);
        taken?;
        if last {
            break;
        }
    }
    check.finish()
}

/// Take several parts in: a server may give them as one when they lie close together.
async fn pieces(answer: &mut Answer, asked: &[Range], call: &Call<'_>, act: &mut Act) -> Result<(), Failure> {
    let no_parts = |why: &str| Failure::failed(format!("the answer is not a multipart: {why}"));
    let (mut pieces, before) = (Pieces::new(asked, call), act.bytes);
    let boundary = answer.headers().get(CONTENT_TYPE).and_then(|value| multipart::boundary(value.as_bytes()));
    let mut parts = boundary.map(|boundary| Multipart::new(&boundary));
    if parts.is_none() {
        let span = answer.span().ok_or_else(|| Failure::failed("another range than those asked for"))?;
        if let Some(stated) = answer.stated() {
            check::size(stated, Some((span.last - span.first).saturating_add(1)))?;
        }
        pieces.begin(span)?;
    }
    let mut got = 0;
    while let Some(piece) = answer.piece().await? {
        let mut there = piece;
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

/// The Range header; the last byte of each counts (RFC 9110, 14.1.2).
fn ranges(parts: &[Range]) -> String {
    let mut text = "bytes=".to_owned();
    for (number, part) in parts.iter().enumerate() {
        let comma = if number > 0 { "," } else { "" };
        // writing into a String cannot fail
        let _ = match part.length {
            Some(length) => {
                let last = part.offset.saturating_add(length.saturating_sub(1));
                write!(text, "{comma}{}-{last}", part.offset)
            }
            None => write!(text, "{comma}{}-", part.offset),
        };
    }
    text
}
