//! Bodies of requests: nothing, a fixed text, or known content made while it is sent.

use std::cell::Cell;
use std::convert::Infallible;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use hyper::body::{Body, Frame, SizeHint};
use pileup_engine::content::Maker;
use pileup_engine::program::Content;

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
    /// The whole of object `number`.
    pub(crate) fn known(content: Content, number: u64, moved: Rc<Cell<u64>>) -> Self {
        let maker = Maker::new(content.seed, number);
        Self::Known(Known { maker, size: content.size, at: 0, buffer: BytesMut::new(), moved })
    }

    /// Size in bytes.
    pub(crate) fn size(&self) -> u64 {
        match self {
            Self::Empty => 0,
            Self::Fixed(text) => text.len() as u64,
            Self::Known(known) => known.size - known.at,
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

impl Body for Upload {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = match &mut *self {
            Self::Empty => None,
            Self::Fixed(text) if text.is_empty() => None,
            Self::Fixed(text) => Some(std::mem::take(text)),
            Self::Known(known) => known.piece(),
        };
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.size() == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.size())
    }
}
