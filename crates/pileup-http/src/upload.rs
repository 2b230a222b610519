//! Bodies of requests: nothing, a fixed text, or known content made while it is sent.

use std::cell::Cell;
use std::rc::Rc;

use bytes::{Bytes, BytesMut};
use pileup_engine::content::{Adler32, Maker, Object};

/// Largest piece handed to the connection at once.
const PIECE: u64 = 64 * 1024;

/// The body of a request.
pub(crate) enum Upload {
    /// None.
    Empty,
    /// A text.
    Fixed(Bytes),
    /// Known content.
    Known(Known),
}

/// Known content on its way out.
pub(crate) struct Known {
    maker: Maker,
    size: u64,
    at: u64,
    /// One buffer for all pieces: it is used again as soon as the connection has written the piece before.
    buffer: BytesMut,
    sum: Option<Adler32>,
    /// What has been handed to the connection, for whoever counts.
    notes: Rc<Cell<Notes>>,
}

/// What has been handed to the connection so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Notes {
    pub(crate) bytes: u64,
    /// Adler-32 of it, where that is wanted.
    pub(crate) sum: u32,
}

impl Upload {
    /// The whole of an object; `sums` asks for its sum among the notes.
    pub(crate) fn known(object: &Object, notes: Rc<Cell<Notes>>, sums: bool) -> Self {
        let sum = sums.then(Adler32::new);
        notes.set(Notes { bytes: 0, sum: 1 });
        Self::Known(Known { maker: Maker::new(object), size: object.size, at: 0, buffer: BytesMut::new(), sum, notes })
    }

    /// The next piece, never an empty one; none at the end.
    pub(crate) fn next(&mut self) -> Option<Bytes> {
        match self {
            Self::Empty => None,
            Self::Fixed(text) if text.is_empty() => None,
            Self::Fixed(text) => Some(std::mem::take(text)),
            Self::Known(known) => known.piece(),
        }
    }
}

impl Known {
    fn piece(&mut self) -> Option<Bytes> {
        let length = (self.size - self.at).min(PIECE) as usize;
        if length == 0 {
            return None;
        }
        self.buffer.reserve(length);
        self.buffer.resize(length, 0);
        self.maker.fill(self.at, &mut self.buffer);
        self.at += length as u64;
        let mut notes = self.notes.get();
        notes.bytes += length as u64;
        if let Some(sum) = &mut self.sum {
            sum.write(&self.buffer);
            notes.sum = sum.finish();
        }
        self.notes.set(notes);
        Some(self.buffer.split().freeze())
    }
}
