//! Heads of requests, as bytes.

use http::{HeaderMap, Method};

/// What stands in the head of a request.
pub(crate) struct Request<'a> {
    /// Method.
    pub(crate) method: &'a Method,
    /// Path and query, legal in a URL.
    pub(crate) path: &'a str,
    /// Id of the operation's row.
    pub(crate) id: u64,
    /// Size of the body; none: no body.
    pub(crate) size: Option<u64>,
    /// Whether the server is asked before the body is sent.
    pub(crate) asks: bool,
    /// Token that lets us in.
    pub(crate) token: Option<&'a str>,
    /// The other headers.
    pub(crate) headers: Headers<'a>,
}

/// Headers besides those that every request has.
pub(crate) enum Headers<'a> {
    /// Written already.
    Written(&'a [u8]),
    /// To be written; `token` says whether one may stand beside them.
    Own {
        /// They.
        headers: HeaderMap,
        /// Whether nothing else says who we are.
        token: bool,
    },
}

impl Request<'_> {
    /// Write the head.
    pub(crate) fn write(&self, into: &mut Vec<u8>) {
        into.extend_from_slice(self.method.as_str().as_bytes());
        into.push(b' ');
        into.extend_from_slice(self.path.as_bytes());
        into.extend_from_slice(b" HTTP/1.1\r\n");
        match &self.headers {
            Headers::Written(written) => into.extend_from_slice(written),
            Headers::Own { headers, .. } => write_headers(into, headers),
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
        let mut first = true;
        for byte in name.as_str().bytes() {
            into.push(if first { byte.to_ascii_uppercase() } else { byte });
            first = byte == b'-';
        }
        into.extend_from_slice(b": ");
        into.extend_from_slice(value.as_bytes());
        into.extend_from_slice(b"\r\n");
    }
}

fn write_number(into: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    into.extend_from_slice(&digits[at..]);
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
        Request { method, path: "/a?b", id: 7, size: Some(3), asks: true, token, headers }.write(&mut text);
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
