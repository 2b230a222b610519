//! Answers that are the same whatever is served.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response, StatusCode};

/// A finished answer: the body still as bytes.
pub(crate) type Answer = Response<Bytes>;

/// An answer without a body.
pub(crate) fn plain(status: StatusCode) -> Answer {
    let mut answer = Response::new(Bytes::new());
    *answer.status_mut() = status;
    answer
}

/// An answer that says in words what is wrong.
pub(crate) fn says(status: u16, text: &str) -> Answer {
    let mut answer = Response::new(Bytes::from(format!("{text}\n")));
    *answer.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    answer
}
