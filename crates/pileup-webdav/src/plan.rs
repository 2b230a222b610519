//! What is asked: which request a verb is.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, IF_NONE_MATCH, RANGE};
use http::{HeaderName, HeaderValue, Method};
use pileup_engine::client::{Call, Failure};
use pileup_engine::content;
use pileup_engine::program::{Checksum, Step, Verb};
use pileup_engine::verb::{Names, Traits};
use pileup_http1::{Body, Follows, Reading, Request, Site};

const DIGEST: HeaderName = HeaderName::from_static("digest");
const WANT_DIGEST: HeaderName = HeaderName::from_static("want-digest");
const DEPTH: HeaderName = HeaderName::from_static("depth");
const OVERWRITE: HeaderName = HeaderName::from_static("overwrite");
const DESTINATION: HeaderName = HeaderName::from_static("destination");
/// Body of a request for a listing.
const PROPFIND: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n\
    <propfind xmlns=\"DAV:\"><prop><resourcetype/><getcontentlength/></prop></propfind>";

/// What is asked; made into a request again for every part that is read.
pub(crate) struct Plan {
    method: Method,
    /// Path and query at the target.
    pub(crate) path: String,
    /// What of the object is read.
    pub(crate) reading: Reading,
    /// Whether the server is asked before the body is sent.
    asks: bool,
    /// Where an object is renamed to: its url.
    to: Option<String>,
}

/// The path of a client's last request, which is often that of its next one.
#[derive(Default)]
pub(crate) struct Made {
    /// What it was made for; none: it is in use.
    verb: Option<Verb>,
    key: String,
    path: String,
}

impl Made {
    /// Path and query of a call.
    fn path(&mut self, call: &Call<'_>, site: &Site) -> String {
        let verb = call.step.verb;
        if self.verb.take() == Some(verb) && self.key == call.key {
            return std::mem::take(&mut self.path);
        }
        self.key.clear();
        self.key.push_str(call.key);
        match verb {
            Verb::Request => site.address.request(call.key),
            verb => site.address.object(call.key, matches!(verb, Verb::List | Verb::Mkdir)),
        }
    }

    /// Keep the path of a call that has been done.
    pub(crate) fn keep(&mut self, call: &Call<'_>, path: String) {
        (self.verb, self.path) = (Some(call.step.verb), path);
    }
}

impl Plan {
    /// For a call that is a request.
    ///
    /// # Errors
    /// When it can be none.
    pub(crate) fn new(call: &Call<'_>, site: &Site, made: &mut Made) -> Result<Self, Failure> {
        let step = call.step;
        let method = method(step)?;
        inside(call.key, step)?;
        let to = if step.verb.traits().names == Names::Two {
            let to = call.renamed();
            inside(&to, step)?;
            Some(site.url(&site.address.named(&to)))
        } else {
            None
        };
        if step.verb == Verb::Read && step.length == Some(0) {
            return Err(Failure::failed("a part of 0 bytes cannot be asked for over HTTP"));
        }
        if step.read_ahead.is_some_and(|ahead| ahead > 0) {
            return Err(Failure::failed("nothing can be asked for ahead over HTTP; expected no read_ahead"));
        }
        let reading = Reading::new(call.sums && step.verb == Verb::Read);
        let asks = site.asks(body(call).size());
        Ok(Self { method, path: made.path(call, site), reading, asks, to })
    }

    /// The request for it, or for the part of it that is read now; its path is to be given back.
    ///
    /// # Errors
    /// When one of the user's headers is none.
    pub(crate) fn request<'a>(&mut self, call: &Call<'a>) -> Result<Request<'a>, Failure> {
        let step = call.step;
        let safe = matches!(self.method.as_str(), "GET" | "HEAD" | "PROPFIND" | "OPTIONS");
        Ok(Request {
            method: self.method.clone(),
            headers: self.headers(call)?,
            path: std::mem::take(&mut self.path),
            body: body(call),
            id: call.id,
            sums: call.sums,
            asks: self.asks,
            repeatable: safe || (step.missing_ok && matches!(step.verb, Verb::Delete | Verb::Mkdir)),
            follows: follows(step),
            answers: &step.expect.statuses,
            keeps: &[],
        })
    }

    /// The headers that this request has and others have not.
    fn headers(&self, call: &Call<'_>) -> Result<Vec<(HeaderName, HeaderValue)>, Failure> {
        let step = call.step;
        let mut headers = Vec::new();
        match step.verb {
            Verb::Write if step.new => headers.push((IF_NONE_MATCH, HeaderValue::from_static("*"))),
            Verb::Rename if step.new => headers.push((OVERWRITE, HeaderValue::from_static("F"))),
            _ => {}
        }
        match step.verb {
            Verb::Write | Verb::Request if uploads(step) => {
                if let (Checksum::Adler32, Some(object)) = (step.checksum, call.content) {
                    headers.push((DIGEST, value(&format!("adler32={:08x}", content::adler32(&object)))?));
                }
            }
            Verb::Checksum => headers.push((WANT_DIGEST, HeaderValue::from_static("adler32"))),
            Verb::Read => match self.reading.range() {
                Some(range) => headers.push((RANGE, range)),
                None if step.checksum == Checksum::Adler32 => {
                    headers.push((WANT_DIGEST, HeaderValue::from_static("adler32")));
                }
                None => {}
            },
            Verb::List => {
                headers.push((DEPTH, HeaderValue::from_static("1")));
                headers.push((CONTENT_TYPE, HeaderValue::from_static("application/xml; charset=utf-8")));
            }
            Verb::Rename => headers.push((DESTINATION, value(self.to.as_deref().unwrap_or_default())?)),
            _ => {}
        }
        for (name, value) in &step.headers {
            headers.push(pileup_http1::header(name, value).map_err(Failure::failed)?);
        }
        Ok(headers)
    }
}

/// Where a redirect may lead: a plain request is one request, a new name is one of its server, and what changes something is asked for where
/// it was meant to be.
fn follows(step: &Step) -> Follows {
    match step.verb.traits() {
        Traits { names: Names::Url | Names::Two, .. } => Follows::Never,
        Traits { changes: true, .. } => Follows::Same,
        _ => Follows::Anywhere,
    }
}

/// What is sent.
fn body(call: &Call<'_>) -> Body {
    match (call.step.verb, call.content) {
        (Verb::List, _) => Body::Fixed(Bytes::from_static(PROPFIND.as_bytes())),
        (Verb::Write | Verb::Request, Some(object)) if uploads(call.step) => Body::whole(object),
        (Verb::Write | Verb::Request, None) if uploads(call.step) => Body::Empty,
        _ => Body::None,
    }
}

fn method(step: &Step) -> Result<Method, Failure> {
    Ok(match step.verb {
        Verb::Noop | Verb::Connect => {
            return Err(Failure::failed("there is nothing to ask for (an internal error of pileup)"));
        }
        Verb::Request if step.method.is_empty() => Method::GET,
        Verb::Request => Method::from_bytes(step.method.as_bytes())
            .ok()
            .filter(|method| method != Method::CONNECT)
            .ok_or_else(|| Failure::failed(format!("{:?} is not a method of a request", step.method)))?,
        Verb::Write => Method::PUT,
        Verb::Read => Method::GET,
        Verb::Stat | Verb::Open | Verb::Checksum => Method::HEAD,
        Verb::List => extension(b"PROPFIND")?,
        Verb::Delete => Method::DELETE,
        Verb::Mkdir => extension(b"MKCOL")?,
        Verb::Rename => extension(b"MOVE")?,
        verb => return Err(Failure::unable(verb)),
    })
}

fn inside(key: &str, step: &Step) -> Result<(), Failure> {
    if step.verb.traits().names != Names::Url && key.split('/').any(|name| name == "..") {
        return Err(Failure::failed("the path leaves the target's folder; expected one without .."));
    }
    Ok(())
}

/// Whether the request has a body of its own, if only an empty one.
fn uploads(step: &Step) -> bool {
    step.content.is_some() || step.verb == Verb::Write || matches!(step.method.as_str(), "PUT" | "POST" | "PATCH")
}

fn extension(name: &[u8]) -> Result<Method, Failure> {
    Method::from_bytes(name).map_err(|error| Failure::failed(error.to_string()))
}

fn value(text: &str) -> Result<HeaderValue, Failure> {
    HeaderValue::from_str(text).map_err(|error| Failure::failed(error.to_string()))
}
