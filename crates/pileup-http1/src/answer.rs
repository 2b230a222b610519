//! An answer: its head, and its body as it comes.

use std::sync::{Arc, LazyLock};

use http::header::CONTENT_RANGE;
use http::{HeaderMap, StatusCode};
use pileup_engine::client::{Act, Failure};
use pileup_net::token::is_over;

use crate::connect::{Coming, Link};
use crate::error;
use crate::multipart::Span;

/// Most that is read of an answer nobody looks at, so that its connection can be used again.
const DRAINED: u64 = 64 * 1024;

/// An answer whose head has come.
pub struct Answer {
    pub(crate) link: Link,
}

/// The headers of answers with none that are looked at.
static NONE: LazyLock<HeaderMap> = LazyLock::new(HeaderMap::new);

impl Answer {
    /// On a connection with its head, which came at that time, ns since the epoch.
    pub(crate) fn new(mut link: Link, token: Option<Arc<str>>, came: i64) -> Self {
        let coming = link.coming_mut();
        (coming.token, coming.path, coming.got, coming.came) = (token, None, 0, came);
        Self { link }
    }

    /// The failure of its status, when that does not pass: of a no to a token (401, 403) with the cause, where that was over.
    #[must_use]
    pub fn failure(&self) -> Failure {
        let Coming { head, token, .. } = self.link.coming();
        let about_token = matches!(head.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        let over = about_token && token.as_deref().is_some_and(is_over);
        error::status(head.status).of_bearer(over)
    }

    /// Its status.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.link.coming().head.status
    }

    /// Size that it states, bytes.
    #[must_use]
    pub fn stated(&self) -> Option<u64> {
        self.link.coming().head.stated
    }

    /// Content-Range, Content-Type, Digest, Location, and what the request keeps beside them.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        self.link.coming().head.headers.as_deref().unwrap_or_else(|| &NONE)
    }

    /// Path that was asked for, where redirects have led to another than at first.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        self.link.coming().path.as_deref()
    }

    /// Which bytes of the object it says it has.
    pub(crate) fn span(&self) -> Option<Span> {
        self.headers().get(CONTENT_RANGE).and_then(|value| Span::parse(value.as_bytes()))
    }

    /// When the next piece of its body came, where it came with the head, ns since the epoch; none: it is still to be read.
    pub(crate) fn came(&self) -> Option<i64> {
        (self.link.coming().got == 0 && self.link.has_more()).then_some(self.link.coming().came)
    }

    /// Whether it has been read to its end, so that there is no further piece, and another request can follow on its connection.
    pub(crate) fn is_read(&self) -> bool {
        self.link.is_read()
    }

    /// The next piece of its body; none at the end.
    ///
    /// # Errors
    /// When it ends early, or is not HTTP/1.
    pub async fn piece(&mut self) -> Result<Option<&[u8]>, Failure> {
        self.link.piece().await
    }

    /// Read the rest of the body and forget it; false when it is too long for that. `act` counts it.
    ///
    /// # Errors
    /// As `piece`.
    pub async fn drain(&mut self, mut act: Option<&mut Act>) -> Result<bool, Failure> {
        let mut got = 0;
        let before = act.as_ref().map_or(0, |act| act.bytes);
        while let Some(piece) = self.piece().await? {
            got += piece.len() as u64;
            if let Some(act) = &mut act {
                act.moved(before + got);
            }
            if got > DRAINED {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
