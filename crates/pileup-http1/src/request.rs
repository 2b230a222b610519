//! Requests: what a protocol above asks for, and their heads as bytes.

use std::borrow::Cow;

use http::{HeaderMap, HeaderName, HeaderValue, Method};
use pileup_net::Unusable;

use crate::upload::Body;

/// A request, as the protocol above asks for it.
#[derive(Debug)]
pub struct Request<'a> {
    /// Method.
    pub method: Method,
    /// Path and query at the target, legal in a URL; at most 64 KiB.
    pub path: Cow<'a, str>,
    /// Headers for the target itself, and for hosts that may have its credentials: written in this spelling.
    pub confided: &'a [(String, HeaderValue)],
    /// Headers beside those that every request to its server has; each takes the place of one of the same name.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// What is sent.
    pub body: Body,
    /// Id of the operation's row, sent to the server in `X-Pileup-Id`.
    pub id: u64,
    /// Whether the Adler-32 of the body is wanted: `Session::sent_sum`.
    pub sums: bool,
    /// Whether the server is asked before the body is sent (RFC 9110, 10.1.1).
    pub asks: bool,
    /// Whether doing it twice is the same as doing it once, for what it does and for what is answered (RFC 9110, 9.2.2): then it is sent again
    /// where a kept connection turns out to be dead and the server has not read it.
    pub repeatable: bool,
    /// Where a redirect may lead it.
    pub follows: Follows,
    /// Statuses that are an answer, though they may say that it is elsewhere.
    pub answers: &'a [u16],
    /// Headers of the answer that are wanted beside Content-Range, Content-Type, Digest and Location.
    pub keeps: &'static [HeaderName],
}

/// Where a redirect may lead a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follows {
    /// Nowhere: a redirect is its answer.
    Never,
    /// To the same object of the same host, unless the target's `redirect_writes` allows more: what changes something is done where it was
    /// meant to be.
    Same,
    /// Anywhere.
    Anywhere,
}

/// What is in the head of a request.
pub(crate) struct Out<'a> {
    pub(crate) method: &'a Method,
    /// Path and query, legal in a URL.
    pub(crate) path: &'a str,
    /// Id of the operation's row.
    pub(crate) id: u64,
    /// Size of the body; none: no body.
    pub(crate) size: Option<u64>,
    /// Whether the server is asked before the body is sent.
    pub(crate) asks: bool,
    /// Token that gives access.
    pub(crate) token: Option<&'a str>,
    /// The other headers.
    pub(crate) headers: Headers<'a>,
    /// Those of `Request.confided`, where this server may see them.
    pub(crate) confided: &'a [(String, HeaderValue)],
}

/// Headers besides those that every request has.
pub(crate) enum Headers<'a> {
    /// Written already.
    Written(&'a [u8]),
    /// To be written.
    Own(Box<HeaderMap>),
}

impl Out<'_> {
    /// Write the head.
    pub(crate) fn write(&self, into: &mut Vec<u8>) {
        into.extend_from_slice(self.method.as_str().as_bytes());
        into.push(b' ');
        into.extend_from_slice(self.path.as_bytes());
        into.extend_from_slice(b" HTTP/1.1\r\n");
        match &self.headers {
            Headers::Written(written) => into.extend_from_slice(written),
            Headers::Own(headers) => write_headers(into, headers),
        }
        for (name, value) in self.confided {
            write_header(into, name, value);
        }
        if let Some(token) = self.token {
            into.extend_from_slice(b"Authorization: Bearer ");
            into.extend_from_slice(token.as_bytes());
            into.extend_from_slice(b"\r\n");
        }
        if self.asks {
            into.extend_from_slice(b"Expect: 100-continue\r\n");
        }
        into.extend_from_slice(b"X-Pileup-Id: ");
        write_number(into, self.id);
        if let Some(size) = self.size {
            into.extend_from_slice(b"\r\nContent-Length: ");
            write_number(into, size);
        }
        into.extend_from_slice(b"\r\n\r\n");
    }
}

/// Write headers, each with its line end. Values hold no line breaks: their type sees to that.
///
/// Names are written as RFC 9110 writes them: to some servers (XRootD 5.5) `content-length` says nothing.
pub(crate) fn write_headers(into: &mut Vec<u8>, headers: &HeaderMap) {
    for (name, value) in headers {
        write_header(into, &capital(name), value);
    }
}

fn write_header(into: &mut Vec<u8>, name: &str, value: &HeaderValue) {
    into.extend_from_slice(name.as_bytes());
    into.extend_from_slice(b": ");
    into.extend_from_slice(value.as_bytes());
    into.extend_from_slice(b"\r\n");
}

/// A name as RFC 9110 writes it.
pub(crate) fn capital(name: &HeaderName) -> String {
    let mut first = true;
    let letter = |letter: char| {
        let written = if first { letter.to_ascii_uppercase() } else { letter };
        first = letter == '-';
        written
    };
    name.as_str().chars().map(letter).collect()
}

/// Read a header that a user wrote.
///
/// # Errors
/// When it is none, or one that pileup must set itself. The value is not shown, it may be a secret.
pub fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), Unusable> {
    let parsed = HeaderName::from_bytes(name.as_bytes()).map_err(|_| {
        Unusable::new(format!("{name:?} is not a name of a header"), "letters, digits and dashes", "correct it")
    })?;
    if matches!(
        parsed.as_str(),
        "content-length" | "transfer-encoding" | "connection" | "upgrade" | "expect" | "x-pileup-id"
    ) {
        let what = format!("header {parsed} is given");
        return Err(Unusable::new(what, "none of those that pileup sets itself", "take it out"));
    }
    let value = HeaderValue::from_str(value).map_err(|_| {
        Unusable::new(format!("the value of header {parsed} has a control character"), "plain text", "correct it")
    })?;
    Ok((parsed, value))
}

fn write_number(into: &mut Vec<u8>, number: u64) {
    into.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_decimal() {
        for number in [0, 7, 10, 1_234_567_890, u64::MAX] {
            let mut text = Vec::new();
            write_number(&mut text, number);
            assert_eq!(String::from_utf8(text).unwrap(), number.to_string());
        }
    }

    #[test]
    fn a_head_ends_with_an_empty_line() {
        let mut text = Vec::new();
        let headers = Headers::Written(b"Host: h\r\n");
        let (method, token) = (&Method::PUT, Some("t"));
        Out { method, path: "/a?b", id: 7, size: Some(3), asks: true, token, headers, confided: &[] }.write(&mut text);
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "PUT /a?b HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer t\r\nExpect: 100-continue\r\nX-Pileup-Id: 7\r\nContent-Length: 3\r\n\r\n"
        );
    }

    #[test]
    fn names_begin_with_capitals() {
        let (mut text, mut headers) = (Vec::new(), HeaderMap::new());
        headers.insert("want-digest", http::HeaderValue::from_static("adler32"));
        write_headers(&mut text, &headers);
        assert_eq!(text, b"Want-Digest: adler32\r\n");
    }
}
