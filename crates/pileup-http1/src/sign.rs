//! Requests signed by a protocol above: Signature Version 4 of S3, say.

use http::{HeaderMap, HeaderName, HeaderValue, Method};
use pileup_engine::client::Failure;
use pileup_engine::content::Maker;
use ring::digest::{Context, SHA256};

use crate::upload::Body;

/// How much of known content is made at a time to be summed up.
const PIECE: usize = 64 * 1024;

/// Signs requests: every one is shown to it when it is complete, just before it is written, and again when it is sent again.
pub trait Sign: Send + Sync {
    /// The headers that a request gets beside its own; each takes the place of one of the same name.
    ///
    /// # Errors
    /// When it cannot be signed: then it is not sent.
    fn sign(&self, request: &Unsigned<'_>) -> Result<Vec<(HeaderName, HeaderValue)>, Failure>;
}

/// A request that is complete but for its signature.
#[derive(Debug)]
pub struct Unsigned<'a> {
    /// Method.
    pub method: &'a Method,
    /// Path and query as they are sent.
    pub path: &'a str,
    /// Host and all other headers so far; Content-Length, Expect and X-Pileup-Id are written behind them.
    pub headers: &'a HeaderMap,
    /// What is sent behind the head.
    pub body: &'a Body,
}

impl Unsigned<'_> {
    /// SHA-256 of the body. Known content is made once more for that: a signer that may leave a body unsigned saves the CPU time.
    #[must_use]
    pub fn sha256(&self) -> [u8; 32] {
        let mut digest = Context::new(&SHA256);
        match self.body {
            Body::None | Body::Empty => {}
            Body::Fixed(text) => digest.update(text),
            Body::Known { object, begin, end } => {
                let (maker, mut at, mut piece) = (Maker::new(object), *begin, vec![0; PIECE]);
                while at < *end {
                    let length = usize::try_from(end - at).unwrap_or(PIECE).min(PIECE);
                    maker.fill(at, &mut piece[..length]);
                    digest.update(&piece[..length]);
                    at += length as u64;
                }
            }
        }
        let mut sum = [0; 32];
        sum.copy_from_slice(digest.finish().as_ref());
        sum
    }
}
