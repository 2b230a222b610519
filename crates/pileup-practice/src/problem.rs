//! What cannot be done as it was asked: problem details (RFC 7807), as the Tape REST API has them.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response, StatusCode};
use serde_json::json;

use crate::answer::Answer;

/// Why not.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) status: u16,
    /// The kind of problem.
    pub(crate) title: &'static str,
    /// What it is here.
    pub(crate) detail: String,
}

impl Problem {
    /// With this status.
    pub(crate) fn new(status: u16, title: &'static str, detail: impl Into<String>) -> Self {
        Self { status, title, detail: detail.into() }
    }

    /// A body that is not as it should be.
    pub(crate) fn body(detail: impl Into<String>) -> Self {
        Self::new(400, "JSON Validation error", detail)
    }

    /// There is no such stage request.
    pub(crate) fn no_request(id: &str) -> Self {
        Self::new(
            404,
            "Not found",
            format!("There is no stage request {id}; expected one that was made and not deleted"),
        )
    }

    /// A path that a stage request has not.
    pub(crate) fn no_file(path: &str, id: &str) -> Self {
        let detail = format!(
            "The file {path} does not belong to the STAGE request {id}. No modification has been made to this request."
        );
        Self::new(400, "File missing from stage request", detail)
    }

    /// As an answer.
    pub(crate) fn answer(&self) -> Answer {
        let body = json!({"status": self.status, "title": self.title, "detail": self.detail});
        let mut answer = Response::new(Bytes::from(format!("{body}\n")));
        *answer.status_mut() = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        answer
    }
}
