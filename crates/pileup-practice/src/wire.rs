//! The bytes of a connection, watched: the log gets the moment at which the system took the first and the last byte of an answer.

use std::cell::{Cell, RefCell};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use pileup_pacer::clock::now;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::bearer::{allows, has};
use crate::front::Kind;
use crate::log::Open;
use crate::report::Report;

/// A request and how far its answer is.
pub(crate) struct Turn {
    /// Its line in the log.
    pub(crate) open: Rc<Open>,
    /// Scopes of its token; none: tokens are not looked at.
    scopes: RefCell<Option<String>>,
    /// Fault that it meets.
    met: Cell<Option<Kind>>,
    /// The answer is under way.
    answering: Cell<bool>,
    /// All of its body has been handed over.
    complete: Cell<bool>,
    /// The rest of its answer, which is still to be made; none: there is no such thing.
    report: RefCell<Option<Report>>,
    /// Who wants to know when everything handed over so far has left.
    waiting: RefCell<Option<Waker>>,
    left: Cell<bool>,
}

impl Turn {
    /// A request whose answer is still to be made.
    pub(crate) fn new(open: Rc<Open>) -> Rc<Self> {
        Rc::new(Self {
            open,
            scopes: RefCell::new(None),
            met: Cell::new(None),
            answering: Cell::new(false),
            complete: Cell::new(false),
            report: RefCell::new(None),
            waiting: RefCell::new(None),
            left: Cell::new(false),
        })
    }

    /// Its token was looked at, and has these scopes.
    pub(crate) fn limit(&self, scopes: String) {
        *self.scopes.borrow_mut() = Some(scopes);
    }

    /// Whether its token has one of these scopes for a path.
    pub(crate) fn allows(&self, may: &[&str], path: &str) -> bool {
        self.scopes.borrow().as_deref().is_none_or(|scopes| may.iter().any(|scope| allows(scopes, scope, path)))
    }

    /// Whether its token has this scope for any path.
    pub(crate) fn has(&self, scope: &str) -> bool {
        self.scopes.borrow().as_deref().is_none_or(|scopes| has(scopes, scope))
    }

    /// The rest of its answer is made while it is sent.
    pub(crate) fn reports(&self, report: Report) {
        *self.report.borrow_mut() = Some(report);
    }

    /// The rest of its answer, where that is made while it is sent.
    pub(crate) fn take_report(&self) -> Option<Report> {
        self.report.borrow_mut().take()
    }

    /// It meets this fault, which its kind of server has to make.
    pub(crate) fn meet(&self, kind: Kind) {
        self.met.set(Some(kind));
    }

    /// Whether it meets this fault; then the log says so.
    pub(crate) fn meets(&self, kind: Kind) -> bool {
        let meets = self.met.get() == Some(kind);
        if meets {
            self.open.note(|line| line.fault = kind.name());
        }
        meets
    }

    /// From now on what is written is the answer.
    pub(crate) fn answer(&self) {
        self.answering.set(true);
    }

    /// Nothing more will be handed over.
    pub(crate) fn complete(&self) {
        self.complete.set(true);
    }

    /// Ready when everything handed over before the first call has left.
    pub(crate) fn poll_left(&self, context: &Context<'_>) -> Poll<()> {
        if self.left.get() {
            return Poll::Ready(());
        }
        *self.waiting.borrow_mut() = Some(context.waker().clone());
        Poll::Pending
    }

    fn writing(&self) {
        if self.answering.get() {
            self.open.note(|line| {
                if line.first_byte == 0 {
                    line.first_byte = now();
                }
            });
        }
    }

    fn flushed(&self) -> bool {
        let waiting = self.waiting.borrow_mut().take();
        if self.complete.get() || waiting.is_some() {
            self.open.note(|line| line.ended = now());
        }
        if let Some(waker) = waiting {
            self.left.set(true);
            waker.wake();
        }
        self.complete.get()
    }
}

/// The request at hand of a connection.
pub(crate) type Current = Rc<RefCell<Option<Rc<Turn>>>>;

/// A stream that informs the current request about the progress of its answer.
pub(crate) struct Wire<S> {
    stream: S,
    current: Current,
}

impl<S> Wire<S> {
    /// Watch a stream.
    pub(crate) fn new(stream: S, current: Current) -> Self {
        Self { stream, current }
    }

    fn writing(&self) {
        if let Some(turn) = &*self.current.borrow() {
            turn.writing();
        }
    }

    fn flushed(&self) {
        let done = self.current.borrow().as_ref().is_some_and(|turn| turn.flushed());
        if done {
            self.current.borrow_mut().take();
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Wire<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Wire<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        self.writing();
        Pin::new(&mut self.stream).poll_write(context, data)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        data: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.writing();
        Pin::new(&mut self.stream).poll_write_vectored(context, data)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.stream).poll_flush(context);
        if matches!(done, Poll::Ready(Ok(()))) {
            self.flushed();
        }
        done
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
