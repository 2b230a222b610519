//! The methods of the practice storage, WebDAV over a store in memory: what each does to the store and what it answers.

use bytes::Bytes;
use http::header::{
    ACCEPT_RANGES, ALLOW, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderName, IF_RANGE, LAST_MODIFIED, RANGE,
};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use pileup_schedule::Law;

use crate::answer::{Answer, plain, says};
use crate::bearer::storage_scopes;
use crate::conditions;
use crate::dav;
use crate::range::{Range, part};
use crate::server::Work;
use crate::storage::{Room, Storage, text, trouble};
use crate::store::{Node, Object, Path, Trouble};
use crate::wire::Turn;

/// Methods that are understood.
const ALLOWED: &str = "OPTIONS, GET, HEAD, PUT, DELETE, MKCOL, COPY, MOVE, PROPFIND, PROPPATCH";

const DAV: HeaderName = HeaderName::from_static("dav");
const DIGEST: HeaderName = HeaderName::from_static("digest");
const WANT_DIGEST: HeaderName = HeaderName::from_static("want-digest");

impl Work for Storage {
    fn cost(&self, _method: &Method, path: &str) -> &Law {
        if self.pool_of(path).is_some() { &Law::Fixed(0) } else { &self.service }
    }

    fn scopes(&self, method: &Method, path: &str) -> &'static [&'static str] {
        if self.pool_of(path).is_some() { &[] } else { storage_scopes(method) }
    }

    async fn act(&self, turn: &Turn, request: &mut Request<Incoming>) -> Answer {
        match self.pool_of(request.uri().path()) {
            Some(pool) => pool.act(turn, request).await,
            None => act(self, turn, request).await,
        }
    }
}

/// Do what is asked.
async fn act(server: &Storage, turn: &Turn, request: &mut Request<Incoming>) -> Answer {
    let Some(path) = Path::parse(request.uri().path()) else { return says(400, "the path cannot be understood") };
    let unmet = conditions::unmet(request.method(), request.headers(), server.store.borrow().get(&path.names));
    if let Some(answer) = unmet {
        return answer;
    }
    match request.method().as_str() {
        "GET" => get(server, &path, request.headers(), false),
        "HEAD" => get(server, &path, request.headers(), true),
        "PUT" => put(server, turn, &path, request).await,
        "DELETE" => delete(server, &path),
        "MKCOL" => dav::mkcol(server, turn, &path, request).await,
        "COPY" => dav::transfer(server, turn, &path, request, false).await,
        "MOVE" => dav::transfer(server, turn, &path, request, true).await,
        "PROPFIND" => dav::propfind(server, turn, &path, request).await,
        "PROPPATCH" => dav::proppatch(server, turn, &path, request).await,
        "OPTIONS" => options(),
        _ => {
            let mut answer = says(405, "this method is not understood");
            answer.headers_mut().insert(ALLOW, HeaderValue::from_static(ALLOWED));
            answer
        }
    }
}

fn options() -> Answer {
    let mut answer = plain(StatusCode::OK);
    let headers = answer.headers_mut();
    headers.insert(ALLOW, HeaderValue::from_static(ALLOWED));
    headers.insert(DAV, HeaderValue::from_static("1"));
    headers.insert("ms-author-via", HeaderValue::from_static("DAV"));
    answer
}

fn get(server: &Storage, path: &Path, headers: &HeaderMap, head: bool) -> Answer {
    let store = server.store.borrow();
    match store.get(&path.names) {
        Some(Node::Object(object)) if !path.folder => send(object, headers, head),
        Some(Node::Folder(folder)) => {
            let mut answer =
                says(200, &format!("pileup practice storage: a folder with {} entries", folder.children.len()));
            if head {
                let size = answer.body().len();
                answer.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(size));
                *answer.body_mut() = Bytes::new();
            }
            answer
        }
        _ if head => plain(StatusCode::NOT_FOUND),
        _ => trouble(Trouble::Missing),
    }
}

fn send(object: &Object, asked: &HeaderMap, head: bool) -> Answer {
    let size = object.data.len();
    let range = if head { Range::Whole } else { range(asked, object) };
    let mut answer = match range {
        Range::Whole if head => plain(StatusCode::OK),
        Range::Whole => Response::new(object.data.clone()),
        Range::Part(from, to) => {
            let mut answer = Response::new(object.data.slice(from..to));
            *answer.status_mut() = StatusCode::PARTIAL_CONTENT;
            insert(&mut answer, CONTENT_RANGE, &format!("bytes {from}-{}/{size}", to - 1));
            answer
        }
        Range::Nowhere => {
            let mut answer = plain(StatusCode::RANGE_NOT_SATISFIABLE);
            insert(&mut answer, CONTENT_RANGE, &format!("bytes */{size}"));
            return answer;
        }
    };
    if head {
        answer.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(size));
    }
    insert(&mut answer, ETAG, &object.tag());
    insert(&mut answer, LAST_MODIFIED, &httpdate::fmt_http_date(object.modified));
    answer.headers_mut().insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    if text(asked, &WANT_DIGEST).is_some_and(|wanted| wanted.to_ascii_lowercase().contains("adler32")) {
        insert(&mut answer, DIGEST, &format!("adler32={:08x}", object.adler32()));
    }
    answer
}

fn insert(answer: &mut Answer, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        answer.headers_mut().insert(name, value);
    }
}

/// RFC 9110, 14.2: what cannot be understood, and several ranges at once, are answered with the whole.
fn range(asked: &HeaderMap, object: &Object) -> Range {
    if text(asked, &IF_RANGE).is_some_and(|tag| tag != object.tag()) {
        return Range::Whole;
    }
    text(asked, &RANGE).and_then(|value| part(value, object.data.len())).unwrap_or(Range::Whole)
}

async fn put(server: &Storage, turn: &Turn, path: &Path, request: &mut Request<Incoming>) -> Answer {
    if request.headers().contains_key(CONTENT_RANGE) {
        return says(400, "only whole objects can be written");
    }
    if let Err(cause) = server.store.borrow().may_put(path) {
        return trouble(cause);
    }
    let stated = text(request.headers(), &DIGEST).and_then(adler32_of);
    let mut room = Room::new(&server.store);
    let data = match receive(server, turn, request.body_mut(), &mut room).await {
        Ok(data) => data,
        Err(answer) => return answer,
    };
    if stated.is_some_and(|stated| stated != simd_adler32::adler32(&data.as_slice())) {
        return says(400, "the content has another adler32 than the one stated");
    }
    let mut store = server.store.borrow_mut();
    // Somebody may have been faster while this body came.
    if let Some(answer) = conditions::unmet(request.method(), request.headers(), store.get(&path.names)) {
        drop(store);
        return answer;
    }
    let replaced = store.may_put(path);
    match (replaced, store.put(path, Bytes::from(data))) {
        (Ok(replaced), Ok(tag)) => {
            drop(store);
            room.keep();
            let mut answer = plain(if replaced { StatusCode::NO_CONTENT } else { StatusCode::CREATED });
            insert(&mut answer, ETAG, &tag);
            answer
        }
        (Err(cause), _) | (_, Err(cause)) => {
            drop(store);
            trouble(cause)
        }
    }
}

fn adler32_of(digest: &str) -> Option<u32> {
    digest.split(',').find_map(|one| {
        let (name, sum) = one.trim().split_once('=')?;
        if name.eq_ignore_ascii_case("adler32") { u32::from_str_radix(sum, 16).ok() } else { None }
    })
}

/// Take a body in at the server's bandwidth.
async fn receive(server: &Storage, turn: &Turn, body: &mut Incoming, room: &mut Room) -> Result<Vec<u8>, Answer> {
    let stated = body.size_hint().exact();
    room.grow(stated.unwrap_or(0)).map_err(trouble)?;
    let mut data = Vec::with_capacity(stated.unwrap_or(0) as usize);
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return Err(says(400, "the body ended early")) };
        let Ok(piece) = frame.into_data() else { continue };
        turn.open.note(|line| line.bytes_in += piece.len() as u64);
        if stated.is_none() {
            room.grow(piece.len() as u64).map_err(trouble)?;
        }
        server.core.pass(piece.len()).await;
        data.extend_from_slice(&piece);
    }
    Ok(data)
}

fn delete(server: &Storage, path: &Path) -> Answer {
    match server.store.borrow_mut().remove(path) {
        Ok(()) => plain(StatusCode::NO_CONTENT),
        Err(cause) => trouble(cause),
    }
}
