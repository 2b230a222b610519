//! Error messages, equal for equal causes: without ports, addresses or object names, so that errors can be counted by text.

use std::io;

use http::StatusCode;
use pileup_engine::client::Failure;
use pileup_net::route::NoConnection;
use pileup_net::words;

/// Why an answer did not come, or not to its end.
#[derive(Debug)]
pub(crate) enum Broken {
    /// Its head is larger than 64 KiB.
    TooLarge,
    /// It is not HTTP/1.
    NotHttp,
    /// It does not even begin as HTTP does: its first bytes, escaped.
    Foreign(String),
    /// It states another length than its chunks have (RFC 9112, 6.3: an error, it may hide an answer within another).
    Contradiction,
    /// The stream has ended, or failed.
    Io(io::Error),
}

/// Most that is shown of what came instead of an answer: enough to recognise a protocol, since errors are counted by text.
const SHOWN: usize = 16;

impl Broken {
    /// What these bytes are, which should begin an answer and do not.
    pub(crate) fn head(input: &[u8]) -> Self {
        let begin = b"HTTP/";
        if input.iter().zip(begin).all(|(one, other)| one == other) {
            return Self::NotHttp;
        }
        Self::Foreign(input[..input.len().min(SHOWN)].escape_ascii().to_string())
    }

    /// Whether the stream has ended in order.
    pub(crate) fn is_end(&self) -> bool {
        matches!(self, Self::Io(cause) if cause.kind() == io::ErrorKind::UnexpectedEof)
    }

    pub(crate) fn end() -> Self {
        Self::Io(io::ErrorKind::UnexpectedEof.into())
    }
}

/// The failure of a status that does not pass: refused where the system refused, else failed.
#[must_use]
pub fn status(code: StatusCode) -> Failure {
    let text = match code.canonical_reason() {
        Some(reason) => format!("HTTP {} {reason}", code.as_u16()),
        None => format!("HTTP {}", code.as_u16()),
    };
    if is_refusal(code) { Failure::refused(text) } else { Failure::failed(text) }
}

/// Whether the status says that the system will not, rather than cannot: no right (401, 403), too much (429, 503), no room (507).
fn is_refusal(code: StatusCode) -> bool {
    matches!(code.as_u16(), 401 | 403 | 429 | 503 | 507)
}

/// The failure of a request without an answer: `begun` says whether some bytes of the answer had come.
pub(crate) fn no_answer(broken: &Broken, begun: bool) -> Failure {
    let cause = match broken {
        Broken::TooLarge => return Failure::failed("the head of the answer is larger than 64 KiB"),
        Broken::Foreign(begin) => {
            return Failure::failed(format!("the answer is not HTTP/1: it begins with \"{begin}\""));
        }
        Broken::NotHttp | Broken::Contradiction => return Failure::failed("the answer is not HTTP/1"),
        Broken::Io(cause) => cause,
    };
    if let Some(text) = words::tls(cause) {
        return Failure::failed(text);
    }
    let place = if begun { "in the head of the answer" } else { "before the answer" };
    Failure::ambiguous(if is_end(cause) {
        format!("connection closed {place}")
    } else {
        format!("{} {place}", words::io(cause))
    })
}

/// The failure of an answer behind which something comes that nobody has asked for.
pub(crate) fn surplus() -> Failure {
    Failure::failed("the server sent more than its answer")
}

/// The failure of an operation before which that is found, on the connection that it was to have.
pub(crate) fn surplus_before() -> Failure {
    Failure::failed("the server sent more than its answer to the request before")
}

/// The failure of a connection that could not be made.
pub(crate) fn no_connection(why: NoConnection) -> Failure {
    let failure = if why.unreachable { Failure::unreachable(why.words) } else { Failure::failed(why.words) };
    failure.of_system(why.number)
}

/// The failure of an answer that ended early.
pub(crate) fn broken_body(broken: &Broken, got: u64, stated: Option<u64>) -> Failure {
    let cause = match broken {
        Broken::TooLarge | Broken::NotHttp | Broken::Foreign(_) => {
            return Failure::failed("the body of the answer is not HTTP/1");
        }
        Broken::Contradiction => return Failure::failed("the answer states another length than its chunks have"),
        Broken::Io(cause) => cause,
    };
    if let Some(text) = words::tls(cause) {
        return Failure::failed(text);
    }
    Failure::failed(match stated {
        Some(stated) => format!("truncated: {got} of {stated} bytes"),
        None => format!("truncated: the answer ended after {got} bytes"),
    })
}

fn is_end(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::UnexpectedEof
}

#[cfg(test)]
mod tests {
    use pileup_engine::client::Kind;

    use super::*;

    #[test]
    fn a_no_is_refused_and_the_rest_has_failed() {
        assert_eq!(status(StatusCode::SERVICE_UNAVAILABLE), Failure::refused("HTTP 503 Service Unavailable"));
        assert_eq!(status(StatusCode::NOT_FOUND), Failure::failed("HTTP 404 Not Found"));
        assert_eq!(status(StatusCode::from_u16(599).unwrap()), Failure::failed("HTTP 599"));
        for code in [401, 403, 429, 507] {
            assert_eq!(status(StatusCode::from_u16(code).unwrap()).kind, Kind::Refused);
        }
    }
}
