//! An answer: its head, and its body as it comes.

use std::rc::Rc;
use std::sync::{Arc, LazyLock};

use http::header::CONTENT_RANGE;
use http::{HeaderMap, StatusCode};
use pileup_engine::client::{Act, Failure};
use pileup_net::token::is_over;

use crate::connect::Link;
use crate::error;
use crate::multipart::Span;
use crate::server::Server;
use crate::wire::Head;

/// Most that is read of an answer nobody looks at, so that its connection can be used again.
const DRAINED: u64 = 64 * 1024;

/// A server as one client holds it, with a separate count, so that clients on several cores do not share one.
pub(crate) type Known = Rc<Arc<Server>>;

/// An answer whose head has come.
pub struct Answer {
    pub(crate) server: Known,
    pub(crate) link: Link,
    head: Head,
    /// The token that its request has shown.
    token: Option<Arc<str>>,
    /// Path that was asked for, where it is another than at first.
    pub(crate) path: Option<String>,
    /// Bytes of its body so far.
    got: u64,
    /// When its head came, ns since the epoch.
    came: i64,
}

/// The headers of answers with none that are looked at.
static NONE: LazyLock<HeaderMap> = LazyLock::new(HeaderMap::new);

impl Answer {
    pub(crate) fn new(server: Known, link: Link, head: Head, token: Option<Arc<str>>, came: i64) -> Self {
        Self { server, link, head, token, path: None, got: 0, came }
    }

    /// The failure of its status, when that does not pass: of a no to a token (401, 403) with the cause, where that was over.
    #[must_use]
    pub fn failure(&self) -> Failure {
        let about_token = matches!(self.head.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        let over = about_token && self.token.as_deref().is_some_and(is_over);
        error::status(self.head.status).of_bearer(over)
    }

    /// Its status.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.head.status
    }

    /// Size that it states, bytes.
    #[must_use]
    pub fn stated(&self) -> Option<u64> {
        self.head.stated
    }

    /// Content-Range, Content-Type, Digest, Location, and what the request keeps beside them.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        self.head.headers.as_deref().unwrap_or_else(|| &NONE)
    }

    /// Path that was asked for, where redirects have led to another than at first.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }

    /// Which bytes of the object it says it has.
    pub(crate) fn span(&self) -> Option<Span> {
        self.headers().get(CONTENT_RANGE).and_then(|value| Span::parse(value.as_bytes()))
    }

    /// When the next piece of its body came, where it came with the head, ns since the epoch; none: it is still to be read.
    pub(crate) fn came(&self) -> Option<i64> {
        (self.got == 0 && self.link.has_more()).then_some(self.came)
    }

    /// The next piece of its body; none at the end.
    ///
    /// # Errors
    /// When it ends early, or is not HTTP/1.
    pub async fn piece(&mut self) -> Result<Option<&[u8]>, Failure> {
        let (got, stated) = (self.got, self.head.stated);
        match self.link.piece().await {
            None => Ok(None),
            Some(Err(broken)) => Err(error::broken_body(&broken, got, stated)),
            Some(Ok(piece)) => {
                self.got += piece.len() as u64;
                Ok(Some(piece))
            }
        }
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
