//! Whether the parts of an answer are the pieces that were asked for, and what they should be.

use pileup_engine::client::{Call, Failure};
use pileup_engine::content::Maker;
use pileup_engine::program::Range;

use crate::check;
use crate::multipart::Span;

/// A piece that was asked for.
struct Piece {
    begin: u64,
    end: u64,
    come: bool,
}

/// The pieces of one request.
pub(crate) struct Pieces {
    pieces: Vec<Piece>,
    content: Option<Maker>,
    size: Option<u64>,
    /// Where in the object the next byte is.
    at: u64,
    got: u64,
}

impl Pieces {
    /// That were asked for.
    pub(crate) fn new(ranges: &[Range], call: &Call<'_>) -> Self {
        let size = call.content.map(|object| object.size);
        let end = |range: &Range| range.length.map_or(u64::MAX, |length| range.offset.saturating_add(length));
        let piece =
            |range: Range| Piece { begin: range.offset, end: end(&range).min(size.unwrap_or(u64::MAX)), come: false };
        let content = call.verified().map(|object| Maker::new(&object));
        Self { pieces: ranges.iter().copied().map(piece).collect(), content, size, at: 0, got: 0 }
    }

    /// Bytes so far.
    pub(crate) fn got(&self) -> u64 {
        self.got
    }

    /// A part begins. A server may give pieces that lie close together as one part (RFC 9110, 15.3.7.2).
    ///
    /// # Errors
    /// When nobody has asked for it.
    pub(crate) fn begin(&mut self, span: Span) -> Result<(), Failure> {
        if let Some(total) = span.total {
            check::size(total, self.size)?;
        }
        let (begin, end) = (span.first, span.last.saturating_add(1));
        let (mut new, mut last) = (false, 0);
        for piece in &mut self.pieces {
            let piece_end = piece.end.min(span.total.unwrap_or(u64::MAX));
            if begin <= piece.begin && piece_end <= end && !piece.come {
                (new, piece.come) = (true, true);
                last = piece_end;
            }
        }
        // what it begins and ends with must have been asked for: else a part could be as long as it likes
        if !new || last != end || !self.pieces.iter().any(|piece| piece.begin == begin) {
            return Err(Failure::failed("another range than those asked for"));
        }
        self.at = begin;
        Ok(())
    }

    /// The next bytes of the part.
    ///
    /// # Errors
    /// When they are others than they should be.
    pub(crate) fn take(&mut self, data: &[u8]) -> Result<(), Failure> {
        if let Some(offset) = self.content.as_ref().and_then(|maker| maker.first_wrong(self.at, data)) {
            return Err(Failure::failed(format!("wrong content at offset {offset}")));
        }
        self.at += data.len() as u64;
        self.got += data.len() as u64;
        Ok(())
    }

    /// All parts have come.
    ///
    /// # Errors
    /// When a piece has not.
    pub(crate) fn finish(&self) -> Result<(), Failure> {
        match self.pieces.iter().filter(|piece| !piece.come).count() {
            0 => Ok(()),
            missing => Err(Failure::failed(format!("{missing} of {} ranges have not come", self.pieces.len()))),
        }
    }
}
