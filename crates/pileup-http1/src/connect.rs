//! Connections: the exchange of one request for one answer on an open one.

use std::future::poll_fn;
use std::task::Poll;

use pileup_engine::client::Failure;
use pileup_net::stream::{Rest, Stream};

use crate::error::{self, Broken};
use crate::upload::Upload;
use crate::wire::{Head, Wanted, Wire};

/// Why there is no answer.
pub(crate) enum NoAnswer {
    /// The request did not leave, or not a byte of an answer came on a connection that had been idle before.
    Stale {
        /// Whether a byte of the request was sent.
        left: bool,
        /// Whether the server has not read it, although it was sent.
        unread: bool,
        /// The failure, if it is not tried again.
        failure: Failure,
    },
    /// Anything else.
    Final(Failure),
}

/// A connection without background tasks: it moves only while its client waits on it.
pub(crate) struct Link {
    wire: Box<Wire>,
    /// Whether it has carried an exchange before.
    used: bool,
}

impl Link {
    /// On a stream that is open.
    pub(crate) fn new(stream: Stream) -> Self {
        Self { wire: Box::new(Wire::new(stream)), used: false }
    }

    /// What has come since the last answer: usually it shows whether the server has closed the connection.
    pub(crate) async fn at_rest(&mut self) -> Rest {
        poll_fn(|context| Poll::Ready(self.wire.poll_rest(context))).await
    }

    /// Whether more has come than the answer, which was read to its end.
    pub(crate) fn has_surplus(&self) -> bool {
        self.wire.has_surplus()
    }

    /// Whether some of the body is there already.
    pub(crate) fn has_more(&self) -> bool {
        self.wire.has_more()
    }

    /// End it in order.
    pub(crate) async fn end(mut self) {
        poll_fn(|context| {
            self.wire.end(context);
            Poll::Ready(())
        })
        .await;
    }

    /// Release memory that only a large answer needed.
    pub(crate) fn rest(&mut self) {
        self.wire.rest();
    }

    /// Send a request, its head written by `write`, and wait for the head of its answer, which is read for what is `wanted`; the body waits
    /// for the server's word where the request `asks`. `watch` is called whenever something may have moved.
    pub(crate) async fn exchange(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>),
        body: Upload,
        wanted: Wanted,
        asks: bool,
        mut watch: impl FnMut(&mut Wire),
    ) -> Result<Head, NoAnswer> {
        let idle = std::mem::replace(&mut self.used, true);
        let wire = &mut self.wire;
        wire.begin(write, body, wanted, asks);
        let answer = poll_fn(|context| {
            let answer = wire.poll_head(context);
            watch(wire);
            answer
        })
        .await;
        answer.map_err(|broken| {
            let (left, begun) = (wire.left(), wire.begun());
            let failure = error::no_answer(&broken, begun);
            let unread = wire.was_not_read(&broken);
            if !left || (idle && !begun) { NoAnswer::Stale { left, unread, failure } } else { NoAnswer::Final(failure) }
        })
    }

    /// The next piece of the body; `None` at its end.
    pub(crate) async fn piece(&mut self) -> Option<Result<&[u8], Broken>> {
        let wire = &mut self.wire;
        let found = poll_fn(|context| wire.poll_piece(context)).await?;
        Some(found.map(|piece| self.wire.bytes(piece)))
    }
}
