//! The head of an answer: what matters of it, read once. Its length and its headers are bounded.

use std::mem::MaybeUninit;

use http::header::{CONTENT_RANGE, CONTENT_TYPE, HeaderName, LOCATION};
use http::{HeaderMap, HeaderValue};

use crate::error::Broken;

/// Longest head of an answer.
pub(crate) const HEAD: usize = 64 * 1024;
/// Most headers of an answer.
const HEADERS: usize = 100;

const DIGEST: HeaderName = HeaderName::from_static("digest");

/// A head as far as it matters.
#[derive(Default)]
pub(crate) struct Parsed {
    pub(crate) status: u16,
    pub(crate) stated: Option<u64>,
    /// Whether a Transfer-Encoding is given, and whether it ends with chunked.
    pub(crate) coded: bool,
    pub(crate) chunked: bool,
    /// Whether the connection can be kept, and whether the server announces that it closes it.
    pub(crate) keep: bool,
    pub(crate) closes: bool,
    /// The headers that are looked at later; most answers have none of them.
    pub(crate) headers: Option<Box<HeaderMap>>,
    /// Names of further headers that are wanted.
    keeps: &'static [HeaderName],
}

/// Longest head that is remembered.
const REMEMBERED: usize = 1024;

/// The head before: many servers answer one request after another with the same bytes, which mean the same.
#[derive(Default)]
pub(crate) struct Before {
    text: Vec<u8>,
    head: Parsed,
}

impl Before {
    /// Read a head as `parse` does: its length and its status; `head` has it all.
    pub(crate) fn read(&mut self, input: &[u8], keeps: &'static [HeaderName]) -> Result<Option<(usize, u16)>, Broken> {
        let length = self.text.len();
        if length > 0 && input.starts_with(&self.text) && self.head.keeps == keeps {
            return Ok(Some((length, self.head.status)));
        }
        let Some((length, head)) = parse(input, keeps)? else { return Ok(None) };
        self.text.clear();
        if length <= REMEMBERED {
            self.text.extend_from_slice(&input[..length]);
        }
        self.head = head;
        Ok(Some((length, self.head.status)))
    }

    /// The head that was read last.
    pub(crate) fn head(&self) -> &Parsed {
        &self.head
    }
}

/// Read a head: its length and what is in it; none while it is not whole. `keeps`: further headers that are wanted.
pub(crate) fn parse(input: &[u8], keeps: &'static [HeaderName]) -> Result<Option<(usize, Parsed)>, Broken> {
    let mut headers = [const { MaybeUninit::uninit() }; HEADERS];
    let mut response = httparse::Response::new(&mut []);
    let parser = httparse::ParserConfig::default();
    let length = match parser.parse_response_with_uninit_headers(&mut response, input, &mut headers) {
        Ok(httparse::Status::Complete(length)) if length <= HEAD => length,
        Ok(httparse::Status::Complete(_)) | Err(httparse::Error::TooManyHeaders) => return Err(Broken::TooLarge),
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err(Broken::head(input)),
    };
    let newer = response.version == Some(1);
    let status = response.code.ok_or(Broken::NotHttp)?;
    let mut head =
        Parsed { status, stated: None, coded: false, chunked: false, keep: newer, closes: false, headers: None, keeps };
    for header in response.headers.iter() {
        head.note(header.name.as_bytes(), header.value)?;
    }
    if head.coded && !newer {
        return Err(Broken::NotHttp);
    }
    Ok(Some((length, head)))
}

impl Parsed {
    fn note(&mut self, name: &[u8], value: &[u8]) -> Result<(), Broken> {
        // by length first: most headers are none of these
        match name.len() {
            6 if name.eq_ignore_ascii_case(b"digest") => self.keep_header(DIGEST, value),
            8 if (300..400).contains(&self.status) && name.eq_ignore_ascii_case(b"location") => {
                self.keep_header(LOCATION, value);
            }
            10 if name.eq_ignore_ascii_case(b"connection") => self.connection(value),
            12 if self.status == 206 && name.eq_ignore_ascii_case(b"content-type") => {
                self.keep_header(CONTENT_TYPE, value)
            }
            13 if name.eq_ignore_ascii_case(b"content-range") => self.keep_header(CONTENT_RANGE, value),
            14 if name.eq_ignore_ascii_case(b"content-length") => return self.length(value),
            17 if name.eq_ignore_ascii_case(b"transfer-encoding") => {
                let last = value.rsplit(|byte| *byte == b',').next().unwrap_or_default();
                self.coded = true;
                self.chunked = last.trim_ascii().eq_ignore_ascii_case(b"chunked");
            }
            _ => {
                let wanted = self.keeps.iter().find(|wanted| name.eq_ignore_ascii_case(wanted.as_str().as_bytes()));
                if let Some(wanted) = wanted {
                    self.keep_header(wanted.clone(), value);
                }
            }
        }
        Ok(())
    }

    fn keep_header(&mut self, name: HeaderName, value: &[u8]) {
        if let Ok(value) = HeaderValue::from_bytes(value) {
            self.headers.get_or_insert_default().append(name, value);
        }
    }

    fn connection(&mut self, value: &[u8]) {
        for word in value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
            self.closes |= word.eq_ignore_ascii_case(b"close");
            self.keep |= word.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    /// Several equal ones count as one (RFC 9110, 8.6); several that differ hide an answer within another.
    fn length(&mut self, value: &[u8]) -> Result<(), Broken> {
        for word in value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
            let stated = decimal(word).ok_or(Broken::NotHttp)?;
            if self.stated.is_some_and(|before| before != stated) {
                return Err(Broken::NotHttp);
            }
            self.stated = Some(stated);
        }
        Ok(())
    }
}

/// A number of digits alone.
fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |number, digit| {
        let digit = char::from(*digit).to_digit(10)?;
        number.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_bytes_are_read_as_before_and_others_anew() {
        static KEPT: [HeaderName; 2] = [DIGEST, http::header::ETAG];
        let mut before = Before::default();
        let heads =
            ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\nETag: x\r\n\r\n", "HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\n"];
        for (head, keeps) in
            [(0, &[][..]), (0, &[]), (1, &[]), (0, &[]), (0, &KEPT[..]), (0, &KEPT), (0, &[]), (1, &KEPT)]
        {
            let text = format!("{}ok", heads[head]);
            let (length, status) = before.read(text.as_bytes(), keeps).ok().flatten().unwrap();
            let (whole, head) = parse(text.as_bytes(), keeps).ok().flatten().unwrap();
            let seen = |head: &Parsed| (head.status, head.stated, head.keep, head.headers.clone());
            assert_eq!((length, status, seen(before.head())), (whole, head.status, seen(&head)));
            assert!(
                before.read(&text.as_bytes()[..30], keeps).is_ok_and(|found| found.is_none()),
                "half a head is none"
            );
        }
        assert!(before.read(b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", &[]).is_err());
    }

    #[test]
    fn a_length_is_digits_alone_and_fits() {
        for (text, number) in [("0", Some(0)), ("007", Some(7)), ("18446744073709551615", Some(u64::MAX))] {
            assert_eq!(decimal(text.as_bytes()), number);
        }
        for text in ["", "+7", "-1", "1 2", "18446744073709551616", "\u{663}", "1e3", "0x1"] {
            assert_eq!(decimal(text.as_bytes()), None, "{text}");
        }
    }
}
