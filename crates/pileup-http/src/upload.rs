//! Bodies of requests: nothing, a fixed text, or known content made while it is sent.

use std::cell::Cell;
use std::rc::Rc;

use bytes::{Bytes, BytesMut};
use pileup_engine::content::{Maker, Object};

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
    /// What has been handed to the connection, for whoever counts.
    moved: Rc<Cell<u64>>,
}

impl Upload {
    /// The whole of an object.
    pub(crate) fn known(object: &Object, moved: Rc<Cell<u64>>) -> Self {
        let maker = Maker::new(object);
        Self::Known(Known { maker, size: object.size, at: 0, buffer: BytesMut::new(), moved })
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
        self.moved.set(self.moved.get() + length as u64);
        Some(self.buffer.split().freeze())
    }
}
