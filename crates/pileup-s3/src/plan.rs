//! What is asked: requests, and what of a program S3 can do at all.

use std::borrow::Cow;
use std::fmt::Write;

use http::header::{ETAG, SERVER};
use http::{HeaderName, HeaderValue, Method};
use pileup_engine::client::{Call, Failure};
use pileup_engine::program::{Checksum, Verb};
use pileup_engine::verb::Names;
use pileup_http1::{Body, Follows, Request};

use crate::canonical::{encode, is_plain};
use crate::sums;

/// Headers of answers that are looked at.
static KEEPS: [HeaderName; 5] = [ETAG, SERVER, sums::CRC32, sums::CRC32C, sums::SHA];
/// Asks for the checksum of an object.
pub(crate) const CHECKSUM_MODE: HeaderName = HeaderName::from_static("x-amz-checksum-mode");

/// A request.
#[derive(Debug)]
pub(crate) struct Ask {
    method: Method,
    path: String,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) body: Body,
    /// Id of the operation's row.
    id: u64,
}

impl Ask {
    pub(crate) fn new(method: Method, path: String, id: u64) -> Self {
        Self { method, path, headers: Vec::new(), body: Body::None, id }
    }

    /// The same with a body.
    pub(crate) fn with(mut self, body: Body) -> Self {
        self.body = body;
        self
    }

    /// The same with a header more.
    pub(crate) fn and(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// As it is sent; `asks`: the server is asked before the body is sent.
    pub(crate) fn request(&self, asks: bool) -> Request<'_> {
        let looks = matches!(self.method, Method::GET | Method::HEAD);
        Request {
            confided: &[],
            method: self.method.clone(),
            path: Cow::Borrowed(&self.path),
            headers: self.headers.clone(),
            body: self.body.clone(),
            id: self.id,
            sums: false,
            asks,
            repeatable: looks || self.method == Method::DELETE, // S3 answers a second delete as the first
            follows: if looks { Follows::Anywhere } else { Follows::Same },
            answers: &[],
            keeps: &KEEPS,
        }
    }
}

/// A query of these pairs, the values encoded.
pub(crate) fn query(pairs: &[(&str, &str)]) -> String {
    let mut text = String::new();
    for (name, value) in pairs {
        let and = if text.is_empty() { "" } else { "&" };
        let _ = write!(text, "{and}{name}=");
        encode(&mut text, value.as_bytes(), is_plain);
    }
    text
}

/// A header's value of plain characters.
pub(crate) fn value(text: &str) -> Result<HeaderValue, Failure> {
    HeaderValue::from_str(text).map_err(|error| Failure::failed(error.to_string()))
}

/// Why S3 cannot do a step.
///
/// # Errors
/// When it cannot.
pub(crate) fn able(call: &Call<'_>) -> Result<(), Failure> {
    let step = call.step;
    let cannot = |text: &str| Err(Failure::failed(text));
    match step.verb {
        verb if !matches!(verb.traits().names, Names::One | Names::None) => return Err(Failure::unable(verb)),
        Verb::Mkdir if !step.missing_ok => {
            return cannot("S3 has no folders to make: a prefix is there when something is in it");
        }
        _ => {}
    }
    if call.key.split('/').any(|name| name == "..") {
        return cannot("the path leaves the target's prefix; expected one without ..");
    }
    if step.verb == Verb::Read && step.length == Some(0) {
        return cannot("a part of 0 bytes cannot be asked for over S3");
    }
    if step.pieces > 1 {
        return cannot("S3 answers one range in a request; expected a piece in a request");
    }
    if step.read_ahead.is_some_and(|ahead| ahead > 0) {
        return cannot("nothing can be asked for ahead over S3; expected no read_ahead");
    }
    // to ask for a checksum is to ask for that of the target
    if step.checksum == Checksum::Adler32 && step.verb != Verb::Checksum {
        return cannot("S3 has no Adler-32; expected no checksum in the test, and `checksum` of the target");
    }
    Ok(())
}
