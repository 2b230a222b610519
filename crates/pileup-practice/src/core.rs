//! What all requests of a server share: the pipe, the slots, the clock, injected faults.

use std::cell::Cell;
use std::rc::Rc;

use pileup_pacer::{Pacer, clock::now};
use tokio::sync::watch;

use crate::bearer::Door;
use crate::fault::Faults;
use crate::front::{Front, Kind};
use crate::log::Log;
use crate::pipe::Pipe;
use crate::slots::Slots;
use crate::wire::Turn;

/// A thread that comes later than this, ns, did not run: what it should have done meanwhile was not done.
const LATE: i64 = 50_000_000;

/// Whether the server should stop.
pub(crate) type Stop = watch::Receiver<bool>;

/// What all kinds of servers share, and all connections of one. One thread, no locks.
pub(crate) struct Core {
    pub(crate) pipe: Pipe,
    pub(crate) faults: Faults,
    pub(crate) pacer: Pacer,
    pub(crate) log: Rc<Log>,
    pub(crate) slots: Slots,
    pub(crate) seed: u64,
    /// Who has access.
    pub(crate) door: Door,
    /// Number of the next request.
    pub(crate) next: Cell<u64>,
    pub(crate) stop: Stop,
}

impl Core {
    /// The core of a server that starts now.
    pub(crate) fn new(front: &Front, pacer: Pacer, log: &Rc<Log>, stop: &Stop) -> Rc<Self> {
        Rc::new(Self {
            pipe: Pipe::new(front.bandwidth, pacer.clone()),
            faults: Faults::new(front.faults.clone(), front.seed, now()),
            pacer,
            log: Rc::clone(log),
            slots: Slots::new(front.threads, front.queue),
            seed: front.seed,
            door: Door::new(front),
            next: Cell::new(0),
            stop: stop.clone(),
        })
    }

    /// Wait until the server is not frozen: return until when it was, or the time that was due.
    pub(crate) async fn thaw(&self, turn: &Turn, mut due: i64) -> i64 {
        while let Some(until) = self.faults.frozen_until(now()) {
            turn.open.note(|line| line.fault = Kind::Stall.name());
            self.pacer.sleep_until(until).await;
            due = due.max(until);
        }
        on_time(due)
    }

    /// Hold a thread for a time (ns) that began then; return when it is over.
    pub(crate) async fn hold(&self, began: i64, service: u64) -> i64 {
        let ends = began.saturating_add(i64::try_from(service).unwrap_or(i64::MAX));
        if service > 0 {
            self.pacer.sleep_until(ends).await;
        }
        on_time(ends)
    }

    /// Wait until these bytes of a request are through the pipe.
    pub(crate) async fn pass(&self, bytes: usize) {
        if let Some(sleep) = self.pipe.book(bytes) {
            sleep.await;
        }
    }
}

/// The time that was due, when it has just been: how late this thread wakes up must not add up in a queue. Else the time now.
pub(crate) fn on_time(due: i64) -> i64 {
    let time = now();
    if time - due < LATE { due } else { time }
}
