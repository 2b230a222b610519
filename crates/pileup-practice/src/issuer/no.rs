//! Why nothing is granted, and answers in JSON.

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, PRAGMA, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, Response, StatusCode};
use serde_json::{Value, json};

use crate::answer::Answer;

/// Why nothing was granted (RFC 6749, 5.2).
#[derive(Debug)]
pub(crate) struct No {
    pub(crate) status: u16,
    pub(crate) error: &'static str,
    pub(crate) why: &'static str,
}

impl No {
    /// The form is wrong.
    pub(crate) fn request(why: &'static str) -> Self {
        Self { status: 400, error: "invalid_request", why }
    }

    /// The client is not known.
    pub(crate) fn client(why: &'static str) -> Self {
        Self { status: 401, error: "invalid_client", why }
    }

    /// The refresh token is not good.
    pub(crate) fn grant(why: &'static str) -> Self {
        Self { status: 400, error: "invalid_grant", why }
    }

    /// Something is wrong with this machine.
    pub(crate) fn broken() -> Self {
        Self { status: 500, error: "server_error", why: "the system has no random numbers" }
    }

    /// The answer that says so.
    pub(crate) fn answer(&self) -> Answer {
        let mut answer = send(self.status, &json!({"error": self.error, "error_description": self.why}));
        match self.status {
            401 => answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Basic realm=\"pileup\"")),
            429 => answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1")),
            _ => None,
        };
        answer
    }
}

/// An answer that nobody keeps.
pub(crate) fn send(status: u16, value: &Value) -> Answer {
    let mut answer = Response::new(Bytes::from(value.to_string() + "\n"));
    *answer.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store")); // RFC 6749, 5.1
    headers.insert(PRAGMA, HeaderValue::from_static("no-cache"));
    answer
}
