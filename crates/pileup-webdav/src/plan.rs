//! What is asked: which request a verb is.

use std::borrow::Cow;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, IF_NONE_MATCH, RANGE};
use http::{HeaderName, HeaderValue, Method};
use pileup_engine::client::{Call, Failure};
use pileup_engine::content;
use pileup_engine::program::{Checksum, Step, Verb};
use pileup_engine::verb::{Names, Traits};
use pileup_http1::{Body, Follows, Reading, Request, Site};

const DIGEST: HeaderName = HeaderName::from_static("digest");
pub(crate) const WANT_DIGEST: HeaderName = HeaderName::from_static("want-digest");
const DEPTH: HeaderName = HeaderName::from_static("depth");
pub(crate) const OVERWRITE: HeaderName = HeaderName::from_static("overwrite");
pub(crate) const DESTINATION: HeaderName = HeaderName::from_static("destination");
/// Body of a request for a listing.
const PROPFIND: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n\
    <propfind xmlns=\"DAV:\"><prop><resourcetype/><getcontentlength/></prop></propfind>";

/// What a client asks; made into a request again for every part that is read. It stays with its client: the next operation often has the same
/// path.
pub(crate) struct Plan {
    /// What method and path were made for: a verb, the method of its step, and a key; none: for nothing yet.
    verb: Option<Verb>,
    word: String,
    key: String,
    method: Method,
    /// Whether the method changes nothing.
    safe: bool,
    /// Path and query at the target.
    pub(crate) path: String,
    /// What of the object is read.
    pub(crate) reading: Reading,
    /// Where an object is renamed to: its url.
    to: Option<String>,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            verb: None,
            word: String::new(),
            key: String::new(),
            method: Method::GET,
            safe: true,
            path: String::new(),
            reading: Reading::new(false),
            to: None,
        }
    }
}

impl Plan {
    /// Make it that of a call that is a request.
    ///
    /// # Errors
    /// When it can be none.
    pub(crate) fn set(&mut self, call: &Call<'_>, site: &Site) -> Result<(), Failure> {
        let step = call.step;
        if self.verb != Some(step.verb) || self.word != step.method || self.key != call.key {
            self.make(call, site)?;
        }
        self.to = if step.verb.traits().names == Names::Two {
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
        self.reading = Reading::new(call.sums && step.verb == Verb::Read);
        Ok(())
    }

    /// Make method and path those of a call.
    fn make(&mut self, call: &Call<'_>, site: &Site) -> Result<(), Failure> {
        let step = call.step;
        self.verb = None;
        self.method = method(step)?;
        inside(call.key, step)?;
        self.safe = matches!(self.method.as_str(), "GET" | "HEAD" | "PROPFIND" | "OPTIONS");
        self.path = match step.verb {
            Verb::Request => site.address.request(call.key),
            verb => site.address.object(call.key, matches!(verb, Verb::List | Verb::Mkdir)),
        };
        step.method.clone_into(&mut self.word);
        call.key.clone_into(&mut self.key);
        self.verb = Some(step.verb);
        Ok(())
    }

    /// The request for it, or for the part of it that is read now, with its headers.
    pub(crate) fn request<'a>(
        &'a self,
        call: &Call<'a>,
        site: &Site,
        headers: Vec<(HeaderName, HeaderValue)>,
    ) -> Request<'a> {
        let (step, body) = (call.step, body(call));
        Request {
            confided: &[],
            method: self.method.clone(),
            headers,
            path: Cow::Borrowed(&self.path),
            asks: site.asks(body.size()),
            body,
            id: call.id,
            sums: call.sums,
            repeatable: self.safe || (step.missing_ok && matches!(step.verb, Verb::Delete | Verb::Mkdir)),
            follows: follows(step),
            answers: &step.expect.statuses,
            keeps: &[],
        }
    }

    /// The headers that its request has and others have not.
    ///
    /// # Errors
    /// When one of the user's is none.
    pub(crate) fn headers(&self, call: &Call<'_>) -> Result<Vec<(HeaderName, HeaderValue)>, Failure> {
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

pub(crate) fn inside(key: &str, step: &Step) -> Result<(), Failure> {
    if step.verb.traits().names != Names::Url && key.split('/').any(|name| name == "..") {
        return Err(Failure::failed("the path leaves the target's folder; expected one without .."));
    }
    Ok(())
}

/// Whether the request has a body of its own, if only an empty one.
fn uploads(step: &Step) -> bool {
    step.content.is_some() || step.verb == Verb::Write || matches!(step.method.as_str(), "PUT" | "POST" | "PATCH")
}

pub(crate) fn extension(name: &[u8]) -> Result<Method, Failure> {
    Method::from_bytes(name).map_err(|error| Failure::failed(error.to_string()))
}

pub(crate) fn value(text: &str) -> Result<HeaderValue, Failure> {
    HeaderValue::from_str(text).map_err(|error| Failure::failed(error.to_string()))
}
