//! Answers in XML: errors, and what else S3 says.

use std::fmt::Write;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response, StatusCode};

use crate::answer::Answer;

const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
const SPACE: &str = " xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"";

/// Why something is not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct No {
    pub(crate) status: u16,
    pub(crate) code: &'static str,
    /// Further elements.
    pub(crate) more: String,
}

impl No {
    pub(crate) fn new(status: u16, code: &'static str) -> Self {
        Self { status, code, more: String::new() }
    }

    /// The answer that says so.
    pub(crate) fn answer(&self) -> Answer {
        let text = format!("<Error><Code>{}</Code>{}<Resource>practice</Resource></Error>", self.code, self.more);
        xml(self.status, &text)
    }
}

/// The code for a status that the server gives for reasons that all servers have.
pub(crate) fn code_of(status: u16) -> &'static str {
    match status {
        503 => "SlowDown",
        500 => "InternalError",
        404 => "NoSuchKey",
        401 | 403 => "AccessDenied",
        400 => "InvalidRequest",
        501 => "NotImplemented",
        _ => "PracticeError",
    }
}

/// An answer in XML.
pub(crate) fn xml(status: u16, text: &str) -> Answer {
    let mut answer = Response::new(Bytes::from(format!("{DECLARATION}{text}")));
    *answer.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/xml"));
    answer
}

/// A document of S3 with these elements.
pub(crate) fn document(root: &str, inner: &str) -> Answer {
    xml(200, &format!("<{root}{SPACE}>{inner}</{root}>"))
}

/// Append an element with a text.
pub(crate) fn element(into: &mut String, name: &str, text: &str) {
    let _ = write!(into, "<{name}>");
    for character in text.chars() {
        match character {
            '&' => into.push_str("&amp;"),
            '<' => into.push_str("&lt;"),
            '>' => into.push_str("&gt;"),
            other => into.push(other),
        }
    }
    let _ = write!(into, "</{name}>");
}
