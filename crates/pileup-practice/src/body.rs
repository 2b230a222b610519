//! The body of an answer, sent at the server's bandwidth, whole or with a fault in it.

use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use pileup_pacer::{Sleep, clock};

use crate::core::Core;
use crate::report::{Cut, Report};
use crate::wire::Turn;

/// The body.
pub(crate) struct AnswerBody {
    core: Rc<Core>,
    turn: Rc<Turn>,
    rest: Bytes,
    /// How much of the rest is still sent; less than it is long: then the connection is cut.
    sends: usize,
    /// What is made while it is sent; none: nothing more.
    report: Option<Report>,
    /// The connection is to be cut when what was sent has left.
    cut: bool,
    /// How far into the rest the wrong byte is.
    wrong: Option<usize>,
    /// The piece that has been booked, and the time at which it is through.
    booked: Option<usize>,
    sleep: Option<Sleep>,
}

impl AnswerBody {
    /// The whole of these bytes.
    pub(crate) fn new(core: &Rc<Core>, turn: &Rc<Turn>, data: Bytes) -> Self {
        let (sends, report) = (data.len(), turn.take_report());
        let (core, turn) = (Rc::clone(core), Rc::clone(turn));
        Self { core, turn, rest: data, sends, report, cut: false, wrong: None, booked: None, sleep: None }
    }

    /// Only the first half, then the connection is cut.
    pub(crate) fn cut(mut self) -> Self {
        self.sends /= 2;
        self
    }

    /// With one byte wrong, at a place drawn.
    pub(crate) fn spoil(mut self, draw: u64) -> Self {
        self.wrong = Some((draw % self.rest.len().max(1) as u64) as usize);
        self
    }

    /// The next piece of what is made meanwhile: a few lines, which the bandwidth is not about.
    fn poll_report(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        if self.cut {
            ready!(self.turn.poll_left(context));
            return Poll::Ready(Some(Err(Cut)));
        }
        let Some(report) = &mut self.report else { return Poll::Ready(None) };
        match ready!(report.poll_recv(context)) {
            None => {
                self.report = None;
                Poll::Ready(None)
            }
            Some(Ok(piece)) => {
                self.turn.open.note(|line| line.bytes_out += piece.len() as u64);
                Poll::Ready(Some(Ok(Frame::data(piece))))
            }
            Some(Err(Cut)) => {
                self.cut = true;
                self.poll_report(context)
            }
        }
    }

    fn poll_sleep(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if let Some(sleep) = &mut self.sleep {
            ready!(Pin::new(sleep).poll(context));
            self.sleep = None;
        }
        Poll::Ready(())
    }

    fn piece(&mut self, length: usize) -> Bytes {
        let mut piece = self.rest.split_to(length);
        self.sends -= length;
        match self.wrong {
            Some(at) if at < length => {
                let mut spoilt = piece.to_vec();
                spoilt[at] ^= 0xff;
                piece = Bytes::from(spoilt);
                self.wrong = None;
            }
            other => self.wrong = other.map(|at| at - length),
        }
        self.turn.open.note(|line| line.bytes_out += length as u64);
        piece
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        loop {
            ready!(self.poll_sleep(context));
            if self.sends == 0 {
                if self.rest.is_empty() {
                    return self.poll_report(context);
                }
                ready!(self.turn.poll_left(context));
                return Poll::Ready(Some(Err(Cut)));
            }
            if let Some(until) = self.core.faults.frozen_until(clock::now()) {
                self.sleep = Some(self.core.pacer.sleep_until(until));
                continue;
            }
            if let Some(length) = self.booked.take() {
                return Poll::Ready(Some(Ok(Frame::data(self.piece(length)))));
            }
            let length = self.sends.min(self.core.pipe.piece());
            self.booked = Some(length);
            self.sleep = self.core.pipe.book(length);
        }
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.report.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        if self.report.is_some() { SizeHint::new() } else { SizeHint::with_exact(self.rest.len() as u64) }
    }
}

impl Drop for AnswerBody {
    fn drop(&mut self) {
        if self.rest.is_empty() && self.report.is_none() {
            self.turn.complete();
        }
    }
}
