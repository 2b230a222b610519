//! What WebDAV adds to HTTP (RFC 4918, class 1): folders, listings, properties, copies and other names.

pub(crate) mod asked;
pub(crate) mod listing;
pub(crate) mod properties;
mod third;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode, Uri};
use http_body_util::BodyExt;
use hyper::body::Incoming;

use crate::answer::{Answer, plain, says};
use crate::dav::asked::Change;
use crate::dav::properties::Name;
use crate::storage::{Storage, text, trouble};
use crate::store::{Node, Path, Trouble};
use crate::wire::Turn;

/// Largest body of a question.
const ASKED: usize = 1 << 18;

const DEPTH: HeaderName = HeaderName::from_static("depth");
const DESTINATION: HeaderName = HeaderName::from_static("destination");
const OVERWRITE: HeaderName = HeaderName::from_static("overwrite");
const FINITE: &str = "propfind-finite-depth";

/// Make a folder.
pub(crate) async fn mkcol(server: &Storage, turn: &Turn, path: &Path, request: &mut Request<Incoming>) -> Answer {
    if asked(turn, request.body_mut()).await.is_none_or(|body| !body.is_empty()) {
        return says(415, "a folder is made without a body");
    }
    match server.store.borrow_mut().make_folder(path) {
        Ok(()) => plain(StatusCode::CREATED),
        Err(cause) => trouble(cause),
    }
}

/// Report the properties of something, and of what is in it.
pub(crate) async fn propfind(server: &Storage, turn: &Turn, path: &Path, request: &mut Request<Incoming>) -> Answer {
    let Some(body) = asked(turn, request.body_mut()).await else { return says(413, "the body is too long") };
    let wanted = match asked::wanted(&body) {
        Ok(wanted) => wanted,
        Err(why) => return says(400, &why),
    };
    let deep = match text(request.headers(), &DEPTH).map(str::trim) {
        Some("0") => false,
        // Without the header all depths are meant (RFC 4918, 9.1); clients that leave it out are content with one.
        None | Some("1") => true,
        Some(depth) if is_infinity(depth) => {
            let told = format!("{}<D:error xmlns:D=\"DAV:\"><D:{FINITE}/></D:error>", listing::DECLARATION);
            return xml(StatusCode::FORBIDDEN, told);
        }
        Some(_) => return says(400, "depth is neither 0 nor 1"),
    };
    let store = server.store.borrow();
    match at(path, store.get(&path.names)) {
        Some(node) => xml(StatusCode::MULTI_STATUS, listing::multistatus(&path.names, node, deep, &wanted)),
        None => trouble(Trouble::Missing),
    }
}

/// Change what is noted of something: all that is asked for, or nothing.
pub(crate) async fn proppatch(server: &Storage, turn: &Turn, path: &Path, request: &mut Request<Incoming>) -> Answer {
    let Some(body) = asked(turn, request.body_mut()).await else { return says(413, "the body is too long") };
    let changes = match asked::changes(&body) {
        Ok(changes) => changes,
        Err(why) => return says(400, &why),
    };
    let mut store = server.store.borrow_mut();
    let Some(node) = at(path, store.get(&path.names)) else { return trouble(Trouble::Missing) };
    let folder = matches!(node, Node::Folder(_));
    let mut properties = node.properties().clone();
    let names: Vec<Name> = changes.iter().map(|change| change.name().clone()).collect();
    let mut failed = names.iter().any(is_protected).then_some("403 Forbidden");
    for change in changes {
        match change {
            Change::Set(name, element) => properties.set(name, element),
            Change::Remove(name) => properties.remove(&name),
        }
    }
    if failed.is_none() && store.note(&path.names, properties).is_err() {
        failed = Some("507 Insufficient Storage");
    }
    let status = |name: &Name| match failed {
        None => "200 OK",
        Some("403 Forbidden") if !is_protected(name) => "424 Failed Dependency",
        Some(why) => why,
    };
    xml(StatusCode::MULTI_STATUS, listing::changed(&path.names, folder, names.iter().map(|name| (name, status(name)))))
}

/// Whether the storage alone says what a property is.
fn is_protected(name: &Name) -> bool {
    name.dav().is_some_and(|local| local != listing::OPEN)
}

/// Copy something, also from another server and to one, or give it another name.
pub(crate) async fn transfer(
    server: &Storage,
    turn: &Turn,
    path: &Path,
    request: &mut Request<Incoming>,
    moves: bool,
) -> Answer {
    if asked(turn, request.body_mut()).await.is_none_or(|body| !body.is_empty()) {
        return says(415, "what is copied or moved is named without a body");
    }
    let Some(overwrite) = overwrites(request.headers()) else { return says(400, "overwrite is neither T nor F") };
    if !moves && let Some(other) = third::other(request.headers()) {
        return third::begin(server, turn, path, request.headers(), other, overwrite);
    }
    let to = match destination(request.headers()) {
        Ok(to) => to,
        Err((status, why)) => return says(status, why),
    };
    let deep = match text(request.headers(), &DEPTH).map(str::trim) {
        None => true,
        Some(depth) if is_infinity(depth) => true,
        Some("0") if !moves => false,
        Some(_) => return says(400, "a copy has depth 0 or infinity, a move infinity"),
    };
    let mut store = server.store.borrow_mut();
    let done = if moves { store.rename(path, &to, overwrite) } else { store.copy(path, &to, deep, overwrite) };
    match done {
        Ok(true) => plain(StatusCode::NO_CONTENT),
        Ok(false) => plain(StatusCode::CREATED),
        Err(cause) => trouble(cause),
    }
}

/// Where something is to go: a path, or a url of this server (RFC 4918, 10.3).
fn destination(headers: &HeaderMap) -> Result<Path, (u16, &'static str)> {
    let Some(uri) = text(headers, &DESTINATION).and_then(|text| text.trim().parse::<Uri>().ok()) else {
        return Err((400, "no destination that can be understood"));
    };
    if let Some(authority) = uri.authority() {
        let web = matches!(uri.scheme_str(), Some("http" | "https" | "dav" | "davs"));
        let host = text(headers, &HOST).unwrap_or_default();
        if !web || !authority.as_str().eq_ignore_ascii_case(host) {
            return Err((502, "the destination is another server"));
        }
    }
    Path::parse(uri.path()).ok_or((400, "the path of the destination cannot be understood"))
}

/// Whether what is there may be replaced (RFC 4918, 10.6); none: the header says neither.
fn overwrites(headers: &HeaderMap) -> Option<bool> {
    match text(headers, &OVERWRITE).map(str::trim) {
        None | Some("T" | "t") => Some(true),
        Some("F" | "f") => Some(false),
        Some(_) => None,
    }
}

fn is_infinity(depth: &str) -> bool {
    depth.eq_ignore_ascii_case("infinity")
}

/// What is at a path; an object is nothing where a folder is asked for.
fn at<'a>(path: &Path, found: Option<&'a Node>) -> Option<&'a Node> {
    found.filter(|node| !(path.folder && matches!(node, Node::Object(_))))
}

fn xml(status: StatusCode, text: String) -> Answer {
    let mut answer = Response::new(Bytes::from(text));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/xml; charset=utf-8"));
    answer
}

/// Take in a body that only asks for something; `None` when it is too long.
async fn asked(turn: &Turn, body: &mut Incoming) -> Option<Vec<u8>> {
    let mut whole = Vec::new();
    while let Some(frame) = body.frame().await {
        let piece = frame.ok()?.into_data().unwrap_or_default();
        turn.open.note(|line| line.bytes_in += piece.len() as u64);
        if whole.len() + piece.len() > ASKED {
            return None;
        }
        whole.extend_from_slice(&piece);
    }
    Some(whole)
}
