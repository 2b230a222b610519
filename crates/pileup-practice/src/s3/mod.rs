//! The practice S3: objects under keys, requests that must be signed, uploads in parts, and the faults of such systems.
//!
//! `gate` checks signatures, `store` keeps, `listing` lists, `uploads` are those in parts, `sums` checksums, `no` answers, `time` times; this
//! file says what is asked.

mod gate;
mod listing;
mod no;
mod settings;
mod store;
mod sums;
mod time;
mod uploads;

use std::cell::RefCell;
use std::rc::Rc;

use bytes::Bytes;
use http::header::{
    ACCEPT_RANGES, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, HOST, IF_MATCH, IF_NONE_MATCH, LAST_MODIFIED,
    RANGE,
};
use http::request::Parts;
use http::{HeaderValue, Method, Request, StatusCode};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use pileup_pacer::clock;
use pileup_schedule::Law;

use self::gate::Promise;
use self::listing::Query;
use self::no::{No, code_of};
use self::store::{Object, Part, Store};
use crate::answer::{Answer, plain};
use crate::core::Core;
use crate::front::Kind;
use crate::range::{Range, part};
use crate::server::Work;
use crate::wire::Turn;

pub(crate) use self::settings::Settings;

/// Largest body that says something, and is no content.
const SAID: usize = 2 << 20;

/// The server.
pub(crate) struct S3 {
    core: Rc<Core>,
    settings: Settings,
    store: RefCell<Store>,
    started: i64,
}

/// What a request is for: bucket, key (empty: the bucket), and its query.
struct Asked {
    bucket: String,
    key: String,
    query: Query,
}

impl Asked {
    fn has(&self, name: &str) -> bool {
        self.query.contains_key(name)
    }

    /// The upload that it names.
    fn upload(&self) -> (&str, &str, &str) {
        (&self.bucket, &self.key, self.query.get("uploadId").map_or("", String::as_str))
    }
}

impl S3 {
    /// One with empty buckets.
    pub(crate) fn new(core: &Rc<Core>, settings: Settings) -> Self {
        let store = RefCell::new(Store::new(&settings.buckets, settings.capacity));
        Self { core: Rc::clone(core), settings, store, started: clock::now() }
    }

    /// Read what is asked: the bucket is the first name of the path, or stands before the domain in the name of the host.
    fn asked(&self, head: &Parts) -> Option<Asked> {
        let path = crate::store::decode(head.uri.path())?;
        let path = path.strip_prefix('/')?;
        let host = head.headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
        let of_host = name.strip_suffix(&self.settings.domain).and_then(|rest| rest.strip_suffix('.'));
        let (bucket, key) = of_host.map_or_else(|| path.split_once('/').unwrap_or((path, "")), |bucket| (bucket, path));
        let mut query = Query::new();
        for pair in head.uri.query().unwrap_or("").split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            query.insert(crate::store::decode(name)?, crate::store::decode(value)?);
        }
        Some(Asked { bucket: bucket.to_owned(), key: key.to_owned(), query })
    }

    async fn answer(&self, turn: &Turn, head: &Parts, body: &mut Incoming) -> Result<Answer, No> {
        let promise = gate::admit(&self.settings, head, clock::now() - self.started)?;
        let asked = self.asked(head).ok_or_else(|| No::new(400, "InvalidURI"))?;
        if asked.key.is_empty() {
            self.of_bucket(head, &asked)
        } else {
            self.of_key(turn, head, &asked, body, &promise).await
        }
    }

    fn of_bucket(&self, head: &Parts, asked: &Asked) -> Result<Answer, No> {
        let mut store = self.store.borrow_mut();
        match head.method.as_str() {
            "PUT" if asked.query.is_empty() => store.make(&asked.bucket).map(|()| plain(StatusCode::OK)),
            "HEAD" => store.bucket(&asked.bucket).map(|_| plain(StatusCode::OK)),
            "GET" if asked.query.get("list-type").is_some_and(|kind| kind == "2") => {
                listing::objects(store.bucket(&asked.bucket)?, &asked.query, self.settings.page)
            }
            "GET" if asked.has("uploads") => {
                store.bucket(&asked.bucket)?;
                Ok(listing::uploads(&store, &asked.bucket, &asked.query))
            }
            _ => Err(No::new(501, "NotImplemented")),
        }
    }

    async fn of_key(
        &self,
        turn: &Turn,
        head: &Parts,
        asked: &Asked,
        body: &mut Incoming,
        promise: &Promise,
    ) -> Result<Answer, No> {
        let (bucket, key) = (asked.bucket.as_str(), asked.key.as_str());
        match head.method.as_str() {
            "GET" | "HEAD" if asked.query.is_empty() => self.get(head, asked),
            "PUT" if asked.has("uploadId") => self.part(turn, head, asked, body, promise).await,
            "PUT" if asked.query.is_empty() => self.put(turn, head, asked, body, promise).await,
            "POST" if asked.has("uploads") => {
                let sum = text(head, "x-amz-checksum-algorithm");
                uploads::begin(&mut self.store.borrow_mut(), bucket, key, sum)
            }
            "POST" if asked.has("uploadId") => {
                let said = self.receive(turn, body, promise, SAID).await?;
                if turn.meets(Kind::ErrorIn200) {
                    let error = No::new(200, "InternalError");
                    return Ok(error.answer()); // and nothing is done
                }
                let new = creates(head);
                uploads::complete(&mut self.store.borrow_mut(), asked.upload(), &said, new, self.settings.clock_ahead)
            }
            "DELETE" if asked.has("uploadId") => {
                let mut store = self.store.borrow_mut();
                store.upload(bucket, key, asked.upload().2)?;
                store.forget(asked.upload().2);
                Ok(plain(StatusCode::NO_CONTENT))
            }
            "DELETE" if asked.query.is_empty() => {
                self.store.borrow_mut().remove(bucket, key)?;
                Ok(plain(StatusCode::NO_CONTENT))
            }
            _ => Err(No::new(501, "NotImplemented")),
        }
    }

    fn get(&self, head: &Parts, asked: &Asked) -> Result<Answer, No> {
        let store = self.store.borrow();
        let object = store.bucket(&asked.bucket)?.get(&asked.key).ok_or_else(|| No::new(404, "NoSuchKey"))?;
        if text(head, IF_MATCH.as_str()).is_some_and(|tag| tag != "*" && tag != object.tag) {
            return Err(No::new(412, "PreconditionFailed"));
        }
        if text(head, IF_NONE_MATCH.as_str()).is_some_and(|tag| tag == "*" || tag == object.tag) {
            return Ok(plain(StatusCode::NOT_MODIFIED));
        }
        let (size, only_head) = (object.data.len(), head.method == Method::HEAD);
        let range = text(head, RANGE.as_str()).filter(|_| !only_head).and_then(|value| part(value, size));
        let mut answer = plain(StatusCode::OK);
        match range.unwrap_or(Range::Whole) {
            Range::Whole if only_head => insert(&mut answer, CONTENT_LENGTH.as_str(), &size.to_string()),
            Range::Whole => *answer.body_mut() = object.data.clone(),
            Range::Part(from, to) => {
                *answer.status_mut() = StatusCode::PARTIAL_CONTENT;
                *answer.body_mut() = object.data.slice(from..to);
                insert(&mut answer, CONTENT_RANGE.as_str(), &format!("bytes {from}-{}/{size}", to - 1));
            }
            Range::Nowhere => return Err(No::new(416, "InvalidRange")),
        }
        insert(&mut answer, ETAG.as_str(), &object.tag);
        insert(&mut answer, LAST_MODIFIED.as_str(), &httpdate::fmt_http_date(object.modified));
        insert(&mut answer, ACCEPT_RANGES.as_str(), "bytes");
        insert(&mut answer, CONTENT_TYPE.as_str(), "application/octet-stream");
        let asks = text(head, "x-amz-checksum-mode").is_some_and(|mode| mode.eq_ignore_ascii_case("enabled"));
        if let Some((name, sum)) = object.sum.as_ref().filter(|_| asks) {
            insert(&mut answer, sums::header(name), sum);
        }
        Ok(answer)
    }

    async fn put(
        &self,
        turn: &Turn,
        head: &Parts,
        asked: &Asked,
        body: &mut Incoming,
        promise: &Promise,
    ) -> Result<Answer, No> {
        let new = creates(head);
        if new && self.store.borrow().bucket(&asked.bucket)?.contains_key(&asked.key) {
            return Err(No::new(412, "PreconditionFailed"));
        }
        let (data, sum) = self.content(turn, head, body, promise).await?;
        let mut store = self.store.borrow_mut();
        let tag = format!("\"{:x}-{:x}\"", store.next(), data.len());
        let object = Object { data, modified: time::now(self.settings.clock_ahead), tag: tag.clone(), sum };
        store.put(&asked.bucket, &asked.key, object, new)?;
        Ok(tagged(&tag))
    }

    async fn part(
        &self,
        turn: &Turn,
        head: &Parts,
        asked: &Asked,
        body: &mut Incoming,
        promise: &Promise,
    ) -> Result<Answer, No> {
        let number = asked.query.get("partNumber").and_then(|number| number.parse().ok());
        let number =
            number.filter(|number| (1..=10_000).contains(number)).ok_or_else(|| No::new(400, "InvalidArgument"))?;
        let (bucket, key, id) = asked.upload();
        self.store.borrow_mut().upload(bucket, key, id)?;
        let (data, sum) = self.content(turn, head, body, promise).await?;
        let mut store = self.store.borrow_mut();
        let tag = format!("\"{:x}-{:x}\"", store.next(), data.len());
        store.keep((bucket, key, id), number, Part { data, tag: tag.clone(), sum })?;
        Ok(tagged(&tag))
    }

    /// Take content in, and check the sum that is stated of it.
    async fn content(
        &self,
        turn: &Turn,
        head: &Parts,
        body: &mut Incoming,
        promise: &Promise,
    ) -> Result<(Bytes, Option<sums::Sum>), No> {
        let stated = sums::stated(&head.headers);
        let data = self.receive(turn, body, promise, usize::MAX).await?;
        if stated.as_ref().is_some_and(|(name, sum)| sums::of(name, &data) != *sum) {
            return Err(No::new(400, "BadDigest"));
        }
        Ok((Bytes::from(data), stated))
    }

    /// Take a body in at the server's bandwidth.
    async fn receive(&self, turn: &Turn, body: &mut Incoming, promise: &Promise, most: usize) -> Result<Vec<u8>, No> {
        let stated = body.size_hint().exact().unwrap_or(0);
        self.store.borrow().has_room(stated)?;
        let mut data = Vec::with_capacity(usize::try_from(stated).unwrap_or(0));
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else { return Err(No::new(400, "IncompleteBody")) };
            let Ok(piece) = frame.into_data() else { continue };
            turn.open.note(|line| line.bytes_in += piece.len() as u64);
            self.core.pass(piece.len()).await;
            if data.len() + piece.len() > most {
                return Err(No::new(400, "EntityTooLarge"));
            }
            data.extend_from_slice(&piece);
        }
        match promise {
            Promise::Sha256(sum) if gate::sha256(&data) != *sum => Err(No::new(400, "XAmzContentSHA256Mismatch")),
            _ => Ok(data),
        }
    }
}

impl Work for S3 {
    fn cost(&self, _method: &Method, _path: &str) -> &Law {
        &self.settings.service
    }

    async fn act(&self, turn: &Turn, request: &mut Request<Incoming>) -> Answer {
        let head = parts_of(request);
        let mut answer = self.answer(turn, &head, request.body_mut()).await.unwrap_or_else(|no| {
            turn.open.note(|line| no.code.clone_into(&mut line.note));
            if head.method == Method::HEAD {
                plain(StatusCode::from_u16(no.status).unwrap_or_default())
            } else {
                no.answer()
            }
        });
        if is_xml(&answer) && answer.status().is_success() && turn.meets(Kind::BrokenXml) {
            let length = answer.body().len() * 2 / 3;
            *answer.body_mut() = answer.body().slice(..length);
        }
        answer
    }

    /// What the server says for reasons that all servers have is said as S3 says it.
    fn dress(&self, answer: Answer) -> Answer {
        let words = answer.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/plain"));
        let status = answer.status().as_u16();
        if words { No::new(status, code_of(status)).answer() } else { answer }
    }
}

/// The head of a request, apart from its body.
fn parts_of(request: &Request<Incoming>) -> Parts {
    let mut head = Request::new(()).into_parts().0;
    head.method = request.method().clone();
    head.uri = request.uri().clone();
    head.headers = request.headers().clone();
    head
}

/// Whether nothing may be there yet.
fn creates(head: &Parts) -> bool {
    text(head, IF_NONE_MATCH.as_str()) == Some("*")
}

fn is_xml(answer: &Answer) -> bool {
    answer.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes() == b"application/xml")
}

fn text<'a>(head: &'a Parts, name: &str) -> Option<&'a str> {
    head.headers.get(name)?.to_str().ok()
}

fn tagged(tag: &str) -> Answer {
    let mut answer = plain(StatusCode::OK);
    insert(&mut answer, ETAG.as_str(), tag);
    answer
}

fn insert(answer: &mut Answer, name: &'static str, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        answer.headers_mut().insert(name, value);
    }
}
