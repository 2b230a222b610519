//! The practice batch system: jobs over HTTP and JSON.
//!
//! `system` is what happens, a machine without a clock; `journal` writes it down and brings it back; `ask` and `tell` are what is asked and
//! answered. This file leads one to the other.

mod ask;
mod changes;
mod delegations;
mod history;
mod job;
mod journal;
mod settings;
mod system;
mod tell;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::rc::Rc;

use http::{Method, Request};
use hyper::body::Incoming;
use pileup_pacer::clock::now;
use pileup_schedule::Law;

use crate::answer::Answer;
use crate::error::Error;
use crate::server::Work;
use crate::wire::Turn;

use self::ask::{Query, Trouble};
use self::delegations::Delegations;
use self::journal::Journal;
use self::system::System;

pub(crate) use self::settings::Settings;

/// Shortest and longest time between two looks at what is due, ns.
const TICK: (i64, i64) = (10_000_000, 1_000_000_000);

/// The batch system and what it costs to ask it.
pub(crate) struct Batch {
    system: Rc<RefCell<System>>,
    delegations: RefCell<Delegations>,
    settings: Settings,
    free: Law,
}

impl Batch {
    /// One that goes on where its journal ends.
    pub(crate) fn open(settings: Settings) -> Result<Self, Error> {
        let begin = now();
        let mut system = System::new(settings.rules.clone(), begin);
        let mut last = None;
        system.journal = Journal::open(settings.jobs.as_deref(), |time, event| {
            system.replay(time, event);
            last = Some(event.clone());
        })?;
        system.begin(begin, u64::from(std::process::id()), last.as_ref());
        system.journal.flush();
        let system = Rc::new(RefCell::new(system));
        let delegations = RefCell::new(Delegations::new(&settings.users));
        Ok(Self { system, delegations, settings, free: Law::Fixed(0) })
    }

    async fn answer(&self, turn: &Turn, request: &mut Request<Incoming>) -> Result<Answer, Trouble> {
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let query = Query::read(request.uri().query().unwrap_or_default())?;
        let body = ask::body(turn, request).await?;
        let time = now();
        let system = &mut *self.system.borrow_mut();
        system.advance(time);
        match (method.as_str(), path.as_str()) {
            ("GET" | "HEAD", "/") => Ok(tell::about(system)),
            ("POST", "/jobs") => {
                let wanted = ask::jobs(&body)?;
                self.delegations.borrow().admit(&wanted, time).inspect_err(|trouble| {
                    system.refuse(time, &wanted, &trouble.text);
                })?;
                let (ids, reason) = system.submit(time, &wanted);
                self.acknowledge_later(turn, &ids);
                Ok(tell::submitted(&ids, reason))
            }
            ("GET", "/jobs") => tell::jobs(system, &query),
            ("POST", "/status") => Ok(tell::status(system, &ask::named(&body)?)),
            ("GET", "/changes") => tell::changes(system, &query),
            ("GET", "/history") => tell::history(system, &query),
            ("POST", "/history") => Ok(tell::in_history(system, &ask::named(&body)?)),
            ("GET", "/counts") => Ok(tell::counts(system)),
            ("POST", "/cancel") => Ok(tell::cancelled(system, time, &ask::named(&body)?)),
            ("POST", "/purge") => Ok(tell::purged(system, time, &ask::purge(&body)?)),
            ("POST", "/delegations") => self.delegations.borrow_mut().answer(&body, time),
            ("POST", "/revoke") => self.delegations.borrow_mut().revoke(&body),
            ("POST", "/users") => self.delegations.borrow_mut().introduce(&body),
            ("POST", "/checkpoint") => {
                system.checkpoint(time);
                Ok(tell::number("checkpoint", 1))
            }
            ("POST", "/crash") => Ok(tell::number("lost", system.crash(time, ask::away(&body)?))),
            _ => Err(Trouble::new(404, format!("{method} {path}"), "one of docs/practice.md")),
        }
    }

    /// Note when the answer with these ids has left the server, if it does.
    fn acknowledge_later(&self, turn: &Turn, ids: &[u64]) {
        if ids.is_empty() {
            return;
        }
        let (system, ids) = (Rc::clone(&self.system), ids.to_vec());
        turn.open.then(move |line| {
            if line.first_byte > 0 {
                let mut system = system.borrow_mut();
                system.acknowledge(line.first_byte, &ids);
                system.journal.flush();
            }
        });
    }
}

impl Work for Batch {
    fn cost(&self, method: &Method, path: &str) -> &Law {
        match path {
            "/jobs" if method == Method::POST => &self.settings.submit_cost,
            "/jobs" | "/status" | "/changes" | "/history" => &self.settings.status_cost,
            "/cancel" | "/purge" => &self.settings.purge_cost,
            "/delegations" | "/revoke" | "/users" => &self.settings.delegate_cost,
            _ => &self.free,
        }
    }

    async fn act(&self, turn: &Turn, request: &mut Request<Incoming>) -> Answer {
        let answer = self.answer(turn, request).await.unwrap_or_else(|trouble| tell::error(&trouble));
        self.system.borrow_mut().journal.flush();
        answer
    }

    fn away_since(&self, arrived: i64) -> bool {
        self.system.borrow().away_since(arrived, now())
    }

    fn every(&self) -> i64 {
        let rules = &self.settings.rules;
        rules.cycle.min(if rules.checkpoint > 0 { rules.checkpoint } else { TICK.1 }).clamp(TICK.0, TICK.1)
    }

    fn tick(&self) {
        let mut system = self.system.borrow_mut();
        system.tick(now());
        system.journal.flush();
    }

    fn close(&self) -> Result<(), Error> {
        let mut system = self.system.borrow_mut();
        system.stop(now());
        system.journal.close()
    }
}
