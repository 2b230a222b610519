//! Connections: the exchange of one request for one answer on an open one.

use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

use pileup_engine::client::Failure;
use pileup_net::stream::{Rest, Stream};

use crate::error::{self, Broken};
use crate::server::Known;
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

/// What has come of an answer.
#[derive(Default)]
pub(crate) struct Coming {
    pub(crate) head: Head,
    /// The token that its request has shown.
    pub(crate) token: Option<Arc<str>>,
    /// Path that was asked for, where it is another than at first.
    pub(crate) path: Option<String>,
    /// Bytes of its body so far.
    pub(crate) got: u64,
    /// When its head came, ns since the epoch.
    pub(crate) came: i64,
}

/// A connection without background tasks: it moves only while its client waits on it. It goes from hand to hand with every request, so all of it
/// is behind one pointer.
pub(crate) struct Link(Box<Ends>);

/// What a connection consists of.
struct Ends {
    server: Known,
    wire: Wire,
    /// Whether it has carried an exchange.
    used: bool,
    /// Whether it had before the one under way.
    idle: bool,
    coming: Coming,
}

impl Link {
    /// On a stream that is open, to this server.
    pub(crate) fn new(server: &Known, stream: Stream) -> Self {
        let (server, wire, coming) = (Rc::clone(server), Wire::new(stream), Coming::default());
        Self(Box::new(Ends { server, wire, used: false, idle: false, coming }))
    }

    /// Where it leads.
    pub(crate) fn server(&self) -> &Known {
        &self.0.server
    }

    /// The answer under way.
    pub(crate) fn coming(&self) -> &Coming {
        &self.0.coming
    }

    /// The same, to be changed.
    pub(crate) fn coming_mut(&mut self) -> &mut Coming {
        &mut self.0.coming
    }

    /// What has come since the last answer: usually it shows whether the server has closed the connection.
    pub(crate) async fn at_rest(&mut self) -> Rest {
        poll_fn(|context| Poll::Ready(self.0.wire.poll_rest(context))).await
    }

    /// Whether the last exchange has ended so that another can follow.
    pub(crate) fn is_over(&self) -> bool {
        self.0.wire.is_over()
    }

    /// Whether more has come than the answer, which was read to its end.
    pub(crate) fn has_surplus(&self) -> bool {
        self.0.wire.has_surplus()
    }

    /// Whether some of the body is there already.
    pub(crate) fn has_more(&self) -> bool {
        self.0.wire.has_more()
    }

    /// End it in order.
    pub(crate) async fn end(mut self) {
        poll_fn(|context| {
            self.0.wire.end(context);
            Poll::Ready(())
        })
        .await;
    }

    /// Release memory that only a large answer needed.
    pub(crate) fn rest(&mut self) {
        self.0.wire.rest();
    }

    /// Begin an exchange of a request, its head written by `write`, for an answer, which is read for what is `wanted`; the body waits for the
    /// server's word where the request `asks`.
    pub(crate) fn begin(&mut self, write: impl FnOnce(&mut Vec<u8>), body: Upload, wanted: Wanted, asks: bool) {
        self.0.idle = std::mem::replace(&mut self.0.used, true);
        self.0.wire.begin(write, body, wanted, asks);
    }

    /// Send the request, and wait for the head of its answer, which is then in `coming`. `watch` is called whenever something may have moved.
    pub(crate) async fn head(&mut self, mut watch: impl FnMut(&mut Wire)) -> Result<(), NoAnswer> {
        let Ends { wire, idle, coming, .. } = &mut *self.0;
        let answer = poll_fn(|context| {
            let answer = wire.poll_head(context);
            watch(wire);
            answer
        })
        .await;
        match answer {
            Ok(head) => {
                coming.head = head;
                Ok(())
            }
            Err(broken) => Err(no_answer(wire, *idle, &broken)),
        }
    }

    /// Whether the answer has been read to its end, and another exchange can follow.
    pub(crate) fn is_read(&self) -> bool {
        self.0.wire.is_read()
    }

    /// The next piece of the body; none at its end.
    pub(crate) async fn piece(&mut self) -> Result<Option<&[u8]>, Failure> {
        let Ends { wire, coming, .. } = &mut *self.0;
        match poll_fn(|context| wire.poll_piece(context)).await {
            None => Ok(None),
            Some(Err(broken)) => Err(error::broken_body(&broken, coming.got, coming.head.stated)),
            Some(Ok(piece)) => {
                let piece = wire.bytes(piece);
                coming.got += piece.len() as u64;
                Ok(Some(piece))
            }
        }
    }
}

/// Why there is no answer on this connection, which was `idle` before.
#[cold]
fn no_answer(wire: &Wire, idle: bool, broken: &Broken) -> NoAnswer {
    let (left, begun) = (wire.left(), wire.begun());
    let failure = error::no_answer(broken, begun);
    let unread = wire.was_not_read(broken);
    if !left || (idle && !begun) { NoAnswer::Stale { left, unread, failure } } else { NoAnswer::Final(failure) }
}
