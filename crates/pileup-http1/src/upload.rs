//! Bodies of requests: nothing, a fixed text, or known content made while it is sent.

use std::cell::Cell;
use std::rc::Rc;

use bytes::{Bytes, BytesMut};
use pileup_engine::content::{Adler32, Maker, Object};

/// Largest piece handed to the connection at once.
const PIECE: u64 = 64 * 1024;

/// What a request sends.
#[derive(Clone, Debug)]
pub enum Body {
    /// Nothing, and no Content-Length.
    None,
    /// A body of 0 bytes.
    Empty,
    /// A text.
    Fixed(Bytes),
    /// Known content of an object, from a byte on up to before another: made while it is sent.
    Known {
        /// Of which object.
        object: Object,
        /// The first byte.
        begin: u64,
        /// Behind the last.
        end: u64,
    },
}

impl Body {
    /// The whole of an object.
    #[must_use]
    pub fn whole(object: Object) -> Self {
        Self::Known { object, begin: 0, end: object.size }
    }

    /// Bytes; none: there is no body.
    #[must_use]
    pub fn size(&self) -> Option<u64> {
        match self {
            Self::None => None,
            Self::Empty => Some(0),
            Self::Fixed(text) => Some(text.len() as u64),
            Self::Known { begin, end, .. } => Some(end.saturating_sub(*begin)),
        }
    }

    /// Begin to send it; `notes` learns how far it is, `sums` asks for its sum among them.
    pub(crate) fn upload(&self, notes: &Rc<Cell<Notes>>, sums: bool) -> Upload {
        let begun = if matches!(self, Self::Known { .. }) { Notes { bytes: 0, sum: 1 } } else { Notes::default() };
        notes.set(begun);
        match self {
            Self::None | Self::Empty => Upload::Empty,
            Self::Fixed(text) => Upload::Fixed(text.clone()),
            Self::Known { object, begin, end } => Upload::Known(Box::new(Known {
                maker: Maker::new(object),
                end: *end,
                at: *begin,
                buffer: BytesMut::new(),
                sum: sums.then(Adler32::new),
                notes: Rc::clone(notes),
            })),
        }
    }
}

/// The body of a request on its way out.
pub(crate) enum Upload {
    /// None.
    Empty,
    /// A text.
    Fixed(Bytes),
    /// Known content; most requests have none, and all carry the size of this.
    Known(Box<Known>),
}

/// Known content on its way out.
pub(crate) struct Known {
    maker: Maker,
    end: u64,
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
        let length = self.end.saturating_sub(self.at).min(PIECE) as usize;
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
