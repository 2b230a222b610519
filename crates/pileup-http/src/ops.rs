//! The verbs: which request each is, and when its answer passes.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_RANGE, CONTENT_TYPE, RANGE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use pileup_engine::client::{Act, Call, Client, Fault};
use pileup_engine::content;
use pileup_engine::program::{Checksum, Step, Verb};
use pileup_pacer::clock::now;

use crate::Target;
use crate::check::{self, Check};
use crate::connect::{Link, NoAnswer};
use crate::error;
use crate::listing::Listing;
use crate::request::{Headers, Request};
use crate::upload::Upload;
use crate::wire::Head;

/// Most that is read of an answer nobody looks at, so that its connection can be used again.
const DRAINED: u64 = 64 * 1024;
/// Largest listing.
const LISTED: u64 = 64 << 20;
/// Longest path of a request.
const PATH: usize = 64 * 1024;

const DIGEST: HeaderName = HeaderName::from_static("digest");
const WANT_DIGEST: HeaderName = HeaderName::from_static("want-digest");
const DEPTH: HeaderName = HeaderName::from_static("depth");
const PROPFIND: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n\
    <propfind xmlns=\"DAV:\"><prop><resourcetype/><getcontentlength/></prop></propfind>";

/// One virtual client: it has at most one connection, and nobody else uses that.
pub struct HttpClient {
    target: Arc<Target>,
    number: u32,
    /// Operations so far.
    turn: u64,
    link: Option<Link>,
    /// Bytes of the body that is being sent.
    sent: Rc<Cell<u64>>,
}

/// What is asked; made into a request anew for every attempt.
struct Plan {
    method: Method,
    path: String,
    /// What of the object is read, where it is not the whole.
    part: Option<Part>,
    /// Bytes of the parts before.
    moved: u64,
}

/// A part of an object.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    /// Its first byte.
    pub(crate) offset: u64,
    /// Its length; none: to the end.
    pub(crate) length: Option<u64>,
}

/// An answer whose head has come.
struct Answer {
    link: Link,
    head: Head,
}

impl Client for HttpClient {
    async fn open(&mut self) -> Result<(), Fault> {
        if self.target.keep_alive && self.link.is_none() {
            self.link = Some(self.target.route.connect(self.number).await?);
        }
        Ok(())
    }

    async fn act(&mut self, call: &Call<'_>, act: &mut Act) -> Result<(), Fault> {
        if call.step.verb == Verb::Noop {
            return Ok(());
        }
        let plan = self.plan(call)?;
        self.turn += 1;
        match call.step.buffer {
            Some(buffer) if call.step.verb == Verb::Read => self.read_in_parts(plan, buffer.max(1), call, act).await,
            _ => self.ask(&plan, call, act).await,
        }
    }

    async fn close(&mut self) {
        self.link = None;
    }
}

impl HttpClient {
    pub(crate) fn new(target: Arc<Target>, number: u32) -> Self {
        Self { target, number, turn: 0, link: None, sent: Rc::new(Cell::new(0)) }
    }

    /// One request with its answer.
    async fn ask(&mut self, plan: &Plan, call: &Call<'_>, act: &mut Act) -> Result<(), Fault> {
        let mut answer = self.exchange(plan, call, act).await?;
        let result = judge(&mut answer, plan, call, act).await;
        self.put_back(answer).await;
        result
    }

    /// Read by one range request after another, as a client with a buffer of that size does; a part that is short is the last.
    async fn read_in_parts(
        &mut self,
        mut plan: Plan,
        buffer: u64,
        call: &Call<'_>,
        act: &mut Act,
    ) -> Result<(), Fault> {
        let step = call.step;
        let size = call.content.map(|object| object.size);
        let begin = plan.part.map_or(0, |part| part.offset);
        let asked = step.length.map(|length| begin.saturating_add(length));
        let end = [size, asked].into_iter().flatten().min();
        let mut at = begin;
        loop {
            let length = end.map_or(buffer, |end| buffer.min(end.saturating_sub(at)).max(1));
            plan.part = Some(Part { offset: at, length: Some(length) });
            plan.moved = act.bytes;
            self.ask(&plan, call, act).await?;
            let got = act.bytes - plan.moved;
            at += got;
            if got < length || end.is_some_and(|end| at >= end) {
                return Ok(());
            }
        }
    }

    fn plan(&self, call: &Call<'_>) -> Result<Plan, Fault> {
        let (step, address) = (call.step, &self.target.address);
        let method = match step.verb {
            Verb::Noop => Method::OPTIONS, // never sent
            Verb::Rename | Verb::Checksum | Verb::Open | Verb::Connect => {
                return Err(Fault::failed(format!("an http target has no {:?} yet", step.verb).to_lowercase()));
            }
            Verb::Request if step.method.is_empty() => Method::GET,
            Verb::Request => Method::from_bytes(step.method.as_bytes())
                .ok()
                .filter(|method| method != Method::CONNECT)
                .ok_or_else(|| Fault::failed(format!("{:?} is no method of a request", step.method)))?,
            Verb::Write => Method::PUT,
            Verb::Read => Method::GET,
            Verb::Stat => Method::HEAD,
            Verb::List => extension(b"PROPFIND")?,
            Verb::Delete => Method::DELETE,
            Verb::Mkdir => extension(b"MKCOL")?,
        };
        if step.verb != Verb::Request && call.key.split('/').any(|name| name == "..") {
            return Err(Fault::failed("the path leaves the target's folder; expected one without .."));
        }
        let path = match step.verb {
            Verb::Request => address.request(call.key),
            verb => address.object(call.key, matches!(verb, Verb::List | Verb::Mkdir)),
        };
        if step.verb == Verb::Read && step.length == Some(0) {
            return Err(Fault::failed("a part of 0 bytes cannot be asked for over HTTP"));
        }
        if step.pieces > 1 || step.fraction.is_some() {
            return Err(Fault::failed("an http target has no reads of several pieces yet"));
        }
        let mut ranges = step.ranges(self.number, self.turn, call.content.map(|object| object.size));
        let begin = ranges.next().map_or(0, |range| range.offset);
        Ok(Plan { method, path, part: part(step, begin), moved: 0 })
    }

    /// Size of the body that a request has, if only an empty one.
    fn size(call: &Call<'_>) -> Option<u64> {
        let step = call.step;
        match step.verb {
            Verb::Write | Verb::Request if uploads(step) => Some(call.content.map_or(0, |object| object.size)),
            Verb::List => Some(PROPFIND.len() as u64),
            _ => None,
        }
    }

    fn headers(&self, plan: &Plan, call: &Call<'_>) -> Result<Headers<'_>, Fault> {
        let step = call.step;
        let usual = step.headers.is_empty() && step.checksum == Checksum::None && plan.part.is_none();
        if usual && step.verb != Verb::List {
            return Ok(Headers::Written(&self.target.written));
        }
        let mut headers = self.target.headers.clone();
        match step.verb {
            Verb::Write | Verb::Request if uploads(step) => {
                if let (Checksum::Adler32, Some(object)) = (step.checksum, call.content) {
                    let sum = content::adler32(&object);
                    headers.insert(DIGEST, value(&format!("adler32={sum:08x}"))?);
                }
            }
            Verb::Read => {
                if let Some(part) = plan.part {
                    headers.insert(RANGE, value(&range(part))?);
                }
                if step.checksum == Checksum::Adler32 {
                    headers.insert(WANT_DIGEST, HeaderValue::from_static("adler32"));
                }
            }
            Verb::List => {
                headers.insert(DEPTH, HeaderValue::from_static("1"));
                headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/xml; charset=utf-8"));
            }
            _ => {}
        }
        for (name, value) in &step.headers {
            let (name, value) = crate::header(name, value).map_err(Fault::failed)?;
            headers.insert(name, value);
        }
        Ok(Headers::Own(headers))
    }

    fn body(&self, call: &Call<'_>) -> Upload {
        self.sent.set(0);
        match (call.step.verb, call.content) {
            (Verb::List, _) => Upload::Fixed(Bytes::from_static(PROPFIND.as_bytes())),
            (Verb::Write | Verb::Request, Some(object)) => Upload::known(&object, Rc::clone(&self.sent)),
            _ => Upload::Empty,
        }
    }

    fn request<'a>(&'a self, plan: &'a Plan, call: &Call<'_>) -> Result<Request<'a>, Fault> {
        if plan.path.len() > PATH {
            return Err(Fault::failed("path of the request: longer than 64 KiB"));
        }
        let (id, size, headers) = (call.id, Self::size(call), self.headers(plan, call)?);
        Ok(Request { method: &plan.method, path: &plan.path, id, size, headers })
    }

    /// Send the request and wait for the head of its answer.
    ///
    /// A kept connection may turn out to be dead. What had not left is sent again on a new one; what had left is sent again once only
    /// where doing it twice is the same as doing it once and changes nothing (RFC 9110, 9.2.1), and is counted as a further call.
    async fn exchange(&mut self, plan: &Plan, call: &Call<'_>, act: &mut Act) -> Result<Answer, Fault> {
        let again = matches!(plan.method.as_str(), "GET" | "HEAD" | "PROPFIND" | "OPTIONS");
        let kept = self.kept().await;
        let fresh = kept.is_none();
        match self.attempt(kept, plan, call, act).await {
            Ok(answer) => Ok(answer),
            Err(NoAnswer::Stale { left, .. }) if !fresh && (again || !left) => {
                act.sent = left;
                let retried = self.attempt(None, plan, call, act).await;
                retried.map_err(fault_of)
            }
            Err(trouble) => Err(fault_of(trouble)),
        }
    }

    /// The connection of the exchange before, when it is still good.
    async fn kept(&mut self) -> Option<Link> {
        let mut link = self.link.take()?;
        if link.is_ready().await { Some(link) } else { None }
    }

    async fn attempt(
        &mut self,
        kept: Option<Link>,
        plan: &Plan,
        call: &Call<'_>,
        act: &mut Act,
    ) -> Result<Answer, NoAnswer> {
        let request = self.request(plan, call).map_err(NoAnswer::Final)?;
        let mut link = match kept {
            Some(link) => link,
            None => self.target.route.connect(self.number).await.map_err(NoAnswer::Final)?,
        };
        act.calls += 1;
        act.sent = true;
        let (body, bodiless) = (self.body(call), plan.method == Method::HEAD);
        let watch = || act.bytes = plan.moved + self.sent.get();
        let head = link.exchange(|into| request.write(into), body, bodiless, watch).await?;
        if act.first_byte == 0 {
            act.first_byte = now();
        }
        Ok(Answer { link, head })
    }

    /// Keep the connection of an answer that was read to its end.
    async fn put_back(&mut self, mut answer: Answer) {
        if self.target.keep_alive && answer.drain().await.is_ok_and(|whole| whole) {
            answer.link.rest();
            self.link = Some(answer.link);
        }
    }
}

impl Answer {
    /// Read the rest of the body and forget it; false when it is too long for that.
    async fn drain(&mut self) -> Result<bool, Fault> {
        let (mut got, stated) = (0, self.head.stated);
        while let Some(piece) = self.link.piece().await {
            got += piece.map_err(|error| error::broken_body(&error, got, stated))?.len() as u64;
            if got > DRAINED {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn fault_of(trouble: NoAnswer) -> Fault {
    match trouble {
        NoAnswer::Stale { left: false, .. } => Fault::failed("connection closed before the request was sent"),
        NoAnswer::Stale { fault, .. } | NoAnswer::Final(fault) => fault,
    }
}

fn extension(name: &[u8]) -> Result<Method, Fault> {
    Method::from_bytes(name).map_err(|error| Fault::failed(error.to_string()))
}

fn value(text: &str) -> Result<HeaderValue, Fault> {
    HeaderValue::from_str(text).map_err(|error| Fault::failed(error.to_string()))
}

/// Whether the request has a body of its own, if only an empty one.
fn uploads(step: &Step) -> bool {
    step.content.is_some() || step.verb == Verb::Write || matches!(step.method.as_str(), "PUT" | "POST" | "PATCH")
}

/// What a step reads, where it is not the whole object.
fn part(step: &Step, begin: u64) -> Option<Part> {
    let whole = step.verb != Verb::Read || (begin == 0 && step.length.is_none());
    if whole { None } else { Some(Part { offset: begin, length: step.length }) }
}

/// The Range header; the last byte counts (RFC 9110, 14.1.2).
fn range(part: Part) -> String {
    match part.length {
        Some(length) => {
            format!("bytes={}-{}", part.offset, part.offset.saturating_add(length.saturating_sub(1)))
        }
        None => format!("bytes={}-", part.offset),
    }
}

/// Whether the answer passes.
async fn judge(answer: &mut Answer, plan: &Plan, call: &Call<'_>, act: &mut Act) -> Result<(), Fault> {
    let step = call.step;
    let status = answer.head.status;
    if !passes(status, call, plan.part) {
        return Err(match status {
            StatusCode::OK if plan.part.is_some() => Fault::failed("HTTP 200 OK, though only a part was asked for"),
            other => error::status(other),
        });
    }
    match step.verb {
        Verb::Read if status == StatusCode::RANGE_NOT_SATISFIABLE => Ok(()),
        Verb::Read if status.is_success() => read(answer, plan.part, call, act).await,
        Verb::List if status == StatusCode::MULTI_STATUS => list(answer, plan, step).await,
        Verb::Stat => stat(answer, call),
        Verb::Request | Verb::Read => receive(answer, Check::answer(step), act).await,
        _ => answer.drain().await.map(drop),
    }
}

/// Whether the status is one that passes.
fn passes(status: StatusCode, call: &Call<'_>, part: Option<Part>) -> bool {
    let (step, code) = (call.step, status.as_u16());
    if !step.expect.statuses.is_empty() {
        return step.expect.statuses.contains(&code);
    }
    match step.verb {
        Verb::Delete if code == 404 => step.missing_ok,
        Verb::Mkdir if code == 405 => step.missing_ok,
        // RFC 4918, 9.6.1: of several objects not all were removed.
        Verb::Delete | Verb::Mkdir | Verb::Write if code == 207 => false,
        Verb::List => code == 207,
        Verb::Read if part.is_some() => code == 206 || (code == 416 && wants_nothing(call, part)),
        Verb::Read => code == 200,
        _ => status.is_success(),
    }
}

/// Whether the part asked for lies behind the end: of the known content, or of an object that was read up to there.
fn wants_nothing(call: &Call<'_>, part: Option<Part>) -> bool {
    let offset = part.map_or(0, |part| part.offset);
    call.content.map_or(offset > call.step.offset, |object| offset >= object.size)
}

async fn read(answer: &mut Answer, part: Option<Part>, call: &Call<'_>, act: &mut Act) -> Result<(), Fault> {
    let part = part.filter(|_| answer.head.status == StatusCode::PARTIAL_CONTENT);
    if part.is_some_and(|part| !begins_at(&answer.head.headers, part.offset)) {
        return Err(Fault::failed("another range than the one asked for"));
    }
    let check = Check::object(call, part, &answer.head.headers);
    receive(answer, check, act).await
}

/// Whether Content-Range names this first byte.
fn begins_at(headers: &HeaderMap, offset: u64) -> bool {
    let value = headers.get(CONTENT_RANGE).and_then(|value| value.to_str().ok());
    let first = value.and_then(|value| value.trim().strip_prefix("bytes ")?.split_once('-'));
    first.is_some_and(|(first, _)| first.trim().parse() == Ok(offset))
}

/// Take the body in.
async fn receive(answer: &mut Answer, mut check: Check<'_>, act: &mut Act) -> Result<(), Fault> {
    let stated = answer.head.stated;
    if let Some(stated) = stated {
        check::size(stated, check.expected())?;
    }
    let sent = act.bytes;
    while let Some(piece) = answer.link.piece().await {
        let piece = piece.map_err(|error| error::broken_body(&error, check.got(), stated))?;
        act.bytes = sent + check.got() + piece.len() as u64;
        check.take(piece)?;
    }
    check.finish()
}

async fn list(answer: &mut Answer, plan: &Plan, step: &Step) -> Result<(), Fault> {
    let no_listing = |why: &str| Fault::failed(format!("the answer is no WebDAV listing: {why}"));
    let mut listing = Listing::new(&plan.path);
    let (mut got, stated) = (0, answer.head.stated);
    while let Some(piece) = answer.link.piece().await {
        let piece = piece.map_err(|error| error::broken_body(&error, got, stated))?;
        got += piece.len() as u64;
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
        (Some(_), None) if answer.head.status.is_success() => Err(Fault::failed("the answer states no size")),
        _ => Ok(()),
    }
}
