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
    /// The other headers.
    pub(crate) headers: Headers<'a>,
}

/// Headers besides those that every request has.
pub(crate) enum Headers<'a> {
    /// Written already.
    Written(&'a [u8]),
    /// To be written.
    Own(HeaderMap),
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
            Headers::Own(headers) => write_headers(into, headers),
        }
        into.extend_from_slice(b"x-pileup-id: ");
        write_number(into, self.id);
        if let Some(size) = self.size {
            into.extend_from_slice(b"\r\ncontent-length: ");
            write_number(into, size);
        }
        into.extend_from_slice(b"\r\n\r\n");
    }
}

/// Write headers, each with its line end. Values hold no line breaks: their type sees to that.
pub(crate) fn write_headers(into: &mut Vec<u8>, headers: &HeaderMap) {
    for (name, value) in headers {
        into.extend_from_slice(name.as_str().as_bytes());
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
        let headers = Headers::Written(b"host: h\r\n");
        Request { method: &Method::PUT, path: "/a?b", id: 7, size: Some(3), headers }.write(&mut text);
        assert_eq!(text, b"PUT /a?b HTTP/1.1\r\nhost: h\r\nx-pileup-id: 7\r\ncontent-length: 3\r\n\r\n");
    }
}
