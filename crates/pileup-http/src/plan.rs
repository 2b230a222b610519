//! What is asked: which request a verb is.

use std::fmt::Write;

use http::header::{AUTHORIZATION, CONTENT_TYPE, IF_NONE_MATCH, RANGE};
use http::{HeaderName, HeaderValue, Method};
use pileup_engine::client::{Call, Fault};
use pileup_engine::content::{self, Adler32};
use pileup_engine::program::{Checksum, Range, Step, Verb};

use crate::address::Address;
use crate::request::Headers;
use crate::server::Server;

const DIGEST: HeaderName = HeaderName::from_static("digest");
const WANT_DIGEST: HeaderName = HeaderName::from_static("want-digest");
const DEPTH: HeaderName = HeaderName::from_static("depth");
const OVERWRITE: HeaderName = HeaderName::from_static("overwrite");
const DESTINATION: HeaderName = HeaderName::from_static("destination");
/// Body of a request for a listing.
pub(crate) const PROPFIND: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n\
    <propfind xmlns=\"DAV:\"><prop><resourcetype/><getcontentlength/></prop></propfind>";
/// Before it is sent a body that is larger than this is asked for (RFC 9110, 10.1.1), as curl does: a server may want it elsewhere.
const LARGE: u64 = 1 << 20;

/// What is asked; made into a request anew for every attempt.
pub(crate) struct Plan {
    pub(crate) method: Method,
    /// Path and query at the target.
    pub(crate) path: String,
    /// What of the object is read, where it is not the whole.
    pub(crate) parts: Vec<Range>,
    /// Bytes of the requests before.
    pub(crate) moved: u64,
    /// Size of the object, once an answer has told it.
    pub(crate) total: Option<u64>,
    /// Sum of what has been read so far, where it is wanted.
    pub(crate) sum: Option<Adler32>,
    /// Whether the server is asked before the body is sent.
    pub(crate) asks: bool,
    /// Where an object is renamed to: its path.
    to: Option<String>,
}

impl Plan {
    /// For a call that is a request; `asks`: a server is asked before a large body is sent.
    ///
    /// # Errors
    /// When it can be none.
    pub(crate) fn new(call: &Call<'_>, address: &Address, asks: bool) -> Result<Self, Fault> {
        let step = call.step;
        let method = method(step)?;
        inside(call.key, step)?;
        let to = match step.verb {
            Verb::Rename => {
                let to = call.renamed();
                inside(&to, step)?;
                Some(address.named(&to))
            }
            _ => None,
        };
        let path = match step.verb {
            Verb::Request => address.request(call.key),
            verb => address.object(call.key, matches!(verb, Verb::List | Verb::Mkdir)),
        };
        if step.verb == Verb::Read && step.length == Some(0) {
            return Err(Fault::failed("a part of 0 bytes cannot be asked for over HTTP"));
        }
        if step.read_ahead.is_some_and(|ahead| ahead > 0) {
            return Err(Fault::failed("nothing can be asked for ahead over HTTP; expected no read_ahead"));
        }
        let sum = (call.sums && step.verb == Verb::Read).then(Adler32::new);
        let asks = asks && size(call).is_some_and(|size| size > LARGE);
        Ok(Self { method, path, parts: Vec::new(), moved: 0, total: None, sum, asks, to })
    }

    /// Ask for this range alone.
    pub(crate) fn set_part(&mut self, range: Range) {
        self.parts.clear();
        if range.offset > 0 || range.length.is_some() {
            self.parts.push(range);
        }
    }

    /// The one part that is asked for.
    pub(crate) fn part(&self) -> Option<Range> {
        self.parts.first().copied()
    }

    /// Whether a redirect of its answer is to be followed: a plain request is one request, and a new name is one of its server.
    pub(crate) fn follows(step: &Step) -> bool {
        !matches!(step.verb, Verb::Request | Verb::Rename)
    }

    /// Whether a step changes something, and must be asked for where it was meant to be: not wherever an answer sends it.
    pub(crate) fn stays(step: &Step) -> bool {
        matches!(step.verb, Verb::Write | Verb::Delete | Verb::Mkdir)
    }

    /// Headers for a server.
    ///
    /// # Errors
    /// When one of the user's is none.
    pub(crate) fn headers<'a>(&self, call: &Call<'_>, server: &'a Server) -> Result<Headers<'a>, Fault> {
        let step = call.step;
        let usual = step.headers.is_empty() && step.checksum == Checksum::None && self.parts.is_empty() && !step.new;
        if usual && !matches!(step.verb, Verb::List | Verb::Rename | Verb::Checksum) {
            return Ok(Headers::Written(&server.written));
        }
        let mut headers = server.headers.clone();
        match step.verb {
            Verb::Write if step.new => drop(headers.insert(IF_NONE_MATCH, HeaderValue::from_static("*"))),
            Verb::Rename if step.new => drop(headers.insert(OVERWRITE, HeaderValue::from_static("F"))),
            _ => {}
        }
        match step.verb {
            Verb::Write | Verb::Request if uploads(step) => {
                if let (Checksum::Adler32, Some(object)) = (step.checksum, call.content) {
                    headers.insert(DIGEST, value(&format!("adler32={:08x}", content::adler32(&object)))?);
                }
            }
            Verb::Checksum => drop(headers.insert(WANT_DIGEST, HeaderValue::from_static("adler32"))),
            Verb::Read => {
                if !self.parts.is_empty() {
                    headers.insert(RANGE, value(&ranges(&self.parts))?);
                }
                if step.checksum == Checksum::Adler32 && self.parts.is_empty() {
                    headers.insert(WANT_DIGEST, HeaderValue::from_static("adler32"));
                }
            }
            Verb::List => {
                headers.insert(DEPTH, HeaderValue::from_static("1"));
                headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/xml; charset=utf-8"));
            }
            Verb::Rename => {
                headers.insert(DESTINATION, value(&server.url(self.to.as_deref().unwrap_or_default()))?);
            }
            _ => {}
        }
        for (name, value) in &step.headers {
            let (name, value) = crate::header(name, value).map_err(Fault::failed)?;
            headers.insert(name, value);
        }
        let token = !step.headers.is_empty() && headers.contains_key(AUTHORIZATION);
        Ok(Headers::Own { headers, token: !token })
    }
}

fn method(step: &Step) -> Result<Method, Fault> {
    Ok(match step.verb {
        Verb::Noop | Verb::Connect => return Err(Fault::failed("there is nothing to ask for (a fault of pileup)")),
        Verb::Request if step.method.is_empty() => Method::GET,
        Verb::Request => Method::from_bytes(step.method.as_bytes())
            .ok()
            .filter(|method| method != Method::CONNECT)
            .ok_or_else(|| Fault::failed(format!("{:?} is no method of a request", step.method)))?,
        Verb::Write => Method::PUT,
        Verb::Read => Method::GET,
        Verb::Stat | Verb::Open | Verb::Checksum => Method::HEAD,
        Verb::List => extension(b"PROPFIND")?,
        Verb::Delete => Method::DELETE,
        Verb::Mkdir => extension(b"MKCOL")?,
        Verb::Rename => extension(b"MOVE")?,
    })
}

fn inside(key: &str, step: &Step) -> Result<(), Fault> {
    if step.verb != Verb::Request && key.split('/').any(|name| name == "..") {
        return Err(Fault::failed("the path leaves the target's folder; expected one without .."));
    }
    Ok(())
}

/// Size of the body that a request has, if only an empty one.
pub(crate) fn size(call: &Call<'_>) -> Option<u64> {
    let step = call.step;
    match step.verb {
        Verb::Write | Verb::Request if uploads(step) => Some(call.content.map_or(0, |object| object.size)),
        Verb::List => Some(PROPFIND.len() as u64),
        _ => None,
    }
}

/// Whether the request has a body of its own, if only an empty one.
fn uploads(step: &Step) -> bool {
    step.content.is_some() || step.verb == Verb::Write || matches!(step.method.as_str(), "PUT" | "POST" | "PATCH")
}

fn extension(name: &[u8]) -> Result<Method, Fault> {
    Method::from_bytes(name).map_err(|error| Fault::failed(error.to_string()))
}

fn value(text: &str) -> Result<HeaderValue, Fault> {
    HeaderValue::from_str(text).map_err(|error| Fault::failed(error.to_string()))
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
