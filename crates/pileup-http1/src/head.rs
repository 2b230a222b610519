//! The head of an answer: what matters of it, read once. Its length and its headers are bounded.

use http::header::{CONTENT_RANGE, CONTENT_TYPE, HeaderName, LOCATION};
use http::{HeaderMap, HeaderValue};

use crate::error::Broken;

/// Longest head of an answer.
pub(crate) const HEAD: usize = 64 * 1024;
/// Most headers of an answer.
const HEADERS: usize = 100;

const DIGEST: HeaderName = HeaderName::from_static("digest");

/// A head as far as it matters.
pub(crate) struct Parsed {
    pub(crate) status: u16,
    pub(crate) stated: Option<u64>,
    /// Whether a Transfer-Encoding is given, and whether it ends with chunked.
    pub(crate) coded: bool,
    pub(crate) chunked: bool,
    /// Whether the connection can be kept, and whether the server announces that it closes it.
    pub(crate) keep: bool,
    pub(crate) closes: bool,
    pub(crate) headers: HeaderMap,
    /// Names of further headers that are wanted.
    keeps: &'static [HeaderName],
}

/// Read a head: its length and what is in it; none while it is not whole. `keeps`: further headers that are wanted.
pub(crate) fn parse(input: &[u8], keeps: &'static [HeaderName]) -> Result<Option<(usize, Parsed)>, Broken> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    let length = match response.parse(input) {
        Ok(httparse::Status::Complete(length)) if length <= HEAD => length,
        Ok(httparse::Status::Complete(_)) | Err(httparse::Error::TooManyHeaders) => return Err(Broken::TooLarge),
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err(Broken::head(input)),
    };
    let newer = response.version == Some(1);
    let status = response.code.ok_or(Broken::NotHttp)?;
    let mut head = Parsed {
        status,
        stated: None,
        coded: false,
        chunked: false,
        keep: newer,
        closes: false,
        headers: HeaderMap::new(),
        keeps,
    };
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
            self.headers.append(name, value);
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
            let digits = !word.is_empty() && word.iter().all(u8::is_ascii_digit);
            let text = std::str::from_utf8(word).ok().filter(|_| digits);
            let stated: u64 = text.and_then(|text| text.parse().ok()).ok_or(Broken::NotHttp)?;
            if self.stated.is_some_and(|before| before != stated) {
                return Err(Broken::NotHttp);
            }
            self.stated = Some(stated);
        }
        Ok(())
    }
}
