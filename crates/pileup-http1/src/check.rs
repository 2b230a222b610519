//! Checks what was read: size, content, checksum, a text in it. Piece by piece; nothing is kept.

use http::HeaderMap;
use pileup_engine::client::{Call, Failure};
use pileup_engine::content::{Adler32, Maker};
use pileup_engine::program::{Range, Step};

/// How far a text is looked for.
const SEARCHED: usize = 1 << 20;

/// Takes the pieces of a body.
pub struct Check<'a> {
    /// Content to compare with.
    content: Option<Maker>,
    /// Where in the object the next piece begins.
    at: u64,
    got: u64,
    /// How much must come.
    expected: Option<u64>,
    /// Offset of the first byte that is another.
    wrong: Option<u64>,
    /// The sum of what has been read, of the requests before too.
    sum: Option<Adler32>,
    /// What it must be.
    stated: Option<u32>,
    contains: Option<&'a str>,
    /// The begin of the body, kept only to look for the text.
    begin: Vec<u8>,
}

impl<'a> Check<'a> {
    /// For a whole object, or the part that was asked for. `sum` goes on with what comes, where one is kept; `stated`: what it must come to.
    #[must_use]
    pub fn object(call: &Call<'a>, part: Option<Range>, sum: Option<Adler32>, stated: Option<u32>) -> Self {
        let offset = part.map_or(0, |part| part.offset);
        let expected = call.content.map(|object| {
            let rest = object.size.saturating_sub(offset);
            part.and_then(|part| part.length).map_or(rest, |length| length.min(rest))
        });
        Self {
            content: call.verified().map(|object| Maker::new(&object)),
            at: offset,
            expected,
            sum: sum.or_else(|| stated.map(|_| Adler32::new())),
            stated,
            ..Self::answer(call.step)
        }
    }

    /// For the answer to a request: only the text is looked for.
    #[must_use]
    pub fn answer(step: &'a Step) -> Self {
        let contains = step.expect.contains.as_deref();
        Self {
            content: None,
            at: 0,
            got: 0,
            expected: None,
            wrong: None,
            sum: None,
            stated: None,
            contains,
            begin: Vec::new(),
        }
    }

    /// How much must come, when that is known.
    #[must_use]
    pub fn expected(&self) -> Option<u64> {
        self.expected
    }

    /// How much has come.
    #[must_use]
    pub fn got(&self) -> u64 {
        self.got
    }

    /// Take the next piece.
    ///
    /// # Errors
    /// When more comes than expected, which might never end.
    pub fn take(&mut self, piece: &[u8]) -> Result<(), Failure> {
        self.got += piece.len() as u64;
        if let Some(expected) = self.expected.filter(|expected| self.got > *expected) {
            return Err(Failure::failed(format!("size: more than the {expected} bytes expected")));
        }
        if let Some(maker) = self.content.as_ref().filter(|_| self.wrong.is_none()) {
            self.wrong = maker.first_wrong(self.at, piece);
        }
        self.at += piece.len() as u64;
        if let Some(sum) = &mut self.sum {
            sum.write(piece);
        }
        if self.contains.is_some() {
            let room = SEARCHED - self.begin.len();
            self.begin.extend_from_slice(&piece[..piece.len().min(room)]);
        }
        Ok(())
    }

    /// Judge what has come; returns the sum, where one is kept.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn finish(&mut self) -> Result<Option<Adler32>, Failure> {
        size(self.got, self.expected)?;
        if let Some(offset) = self.wrong {
            return Err(Failure::failed(format!("wrong content at offset {offset}")));
        }
        if let (Some(sum), Some(stated)) = (&self.sum, self.stated)
            && sum.clone().finish() != stated
        {
            return Err(Failure::failed("checksum: the adler32 of what was read is not the one stated"));
        }
        match self.contains {
            Some(text) if memchr::memmem::find(&self.begin, text.as_bytes()).is_none() => {
                Err(Failure::failed(format!("answer does not contain {text:?}")))
            }
            _ => Ok(self.sum.take()),
        }
    }
}

/// Compare two sizes.
///
/// # Errors
/// When they differ.
pub fn size(got: u64, expected: Option<u64>) -> Result<(), Failure> {
    match expected {
        Some(expected) if got != expected => Err(Failure::failed(format!("size {got}, expected {expected}"))),
        _ => Ok(()),
    }
}

/// The adler32 that the server states (RFC 3230: `Digest: adler32=03da0195`), among other sums perhaps.
#[must_use]
pub fn digest(headers: &HeaderMap) -> Option<u32> {
    let values = headers.get_all("digest").iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).find_map(|one| {
        let (name, sum) = one.trim().split_once('=')?;
        if name.eq_ignore_ascii_case("adler32") { u32::from_str_radix(sum, 16).ok() } else { None }
    })
}
