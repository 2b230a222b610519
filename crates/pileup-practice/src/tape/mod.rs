//! The practice tape library: the WLCG Tape REST API (v1) before a library of known truth, and a read for copy commands.
//!
//! `stager` is what happens, a machine without a clock above `pileup_tape`; `bulk` are the stage requests, `events` writes down what
//! happened, `clock` is library time, `files` are the names of what is on tape; `ask` and `tell` are what is asked and answered.
//! This file leads one to the other, at the time at which things are due.

mod ask;
mod bulk;
mod clock;
mod events;
mod files;
mod settings;
mod stager;
mod tell;
#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use http::header::LOCATION;
use http::{HeaderValue, Method, Request, StatusCode};
use hyper::body::Incoming;
use pileup_pacer::clock::now;
use pileup_schedule::Law;
use pileup_tape::Library;
use serde_json::json;
use tokio::sync::{Notify, oneshot};

use crate::answer::{Answer, plain};
use crate::api::{self, API, READ, STAGE, WELL_KNOWN, check_paths, check_stage, dress, refusal, send};
use crate::core::Core;
use crate::error::Error;
use crate::problem::Problem;
use crate::server::Work;
use crate::wire::Turn;

use self::bulk::Bulks;
use self::clock::Clock;
use self::events::{Events, Line};
use self::files::Files;
use self::stager::{Phase, Stager};

pub(crate) use self::ask::{Site, stage};
pub(crate) use self::files::clean;
pub(crate) use self::settings::Settings;

/// Shortest time between two looks at what is due, ns.
const SOONEST: i64 = 1_000_000;

/// The library, who waits for it, and when it is looked at.
pub(crate) struct Tape {
    core: Rc<Core>,
    settings: Settings,
    clock: Clock,
    state: RefCell<State>,
    /// Those who wait for the end of a read.
    waiting: RefCell<HashMap<u32, Vec<oneshot::Sender<()>>>>,
    /// Something else may be due next.
    changed: Notify,
    /// When it was looked at last, ns since the epoch.
    looked: Cell<i64>,
    free: Law,
}

/// What is known of files and requests.
struct State {
    stager: Stager,
    bulks: Bulks,
}

/// Somebody who waits for a file; who leaves does not want it any more.
struct Waiting<'a> {
    tape: &'a Tape,
    read: u32,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.tape.withdraw(self.read);
    }
}

impl Tape {
    /// A library that begins now, with all files on tape and nothing on disk.
    pub(crate) fn open(core: &Rc<Core>, settings: Settings) -> Result<Self, Error> {
        let begin = now();
        let clock = Clock::new(begin, settings.speed_up);
        let mut events = Events::open(settings.events.as_deref(), clock)?;
        events.note(0, "start", &Line { value: Some(u64::from(std::process::id())), ..Line::default() });
        events.flush();
        let seed = settings.front.seed;
        let Settings { files, together, nodes, .. } = settings;
        let files = Files::new(settings.prefix.clone(), files, together, settings.size.clone(), seed);
        let library = Library::new(settings.rules.clone(), 0);
        let stager = Stager::new(library, files, events, nodes, settings.max_transfers, settings.keep);
        Ok(Self {
            core: Rc::clone(core),
            settings,
            clock,
            state: RefCell::new(State { stager, bulks: Bulks::new(begin) }),
            waiting: RefCell::default(),
            changed: Notify::new(),
            looked: Cell::new(begin),
            free: Law::Fixed(0),
        })
    }

    /// Do something with the state as it is now; afterwards those who waited go on.
    fn with<T>(&self, act: impl FnOnce(&mut State, i64) -> T) -> T {
        let time = self.clock.to_library(now());
        let mut state = self.state.borrow_mut();
        state.stager.advance(time);
        let result = act(&mut state, time);
        let ended = state.stager.take_ended();
        state.stager.events.flush();
        drop(state);
        let mut waiting = self.waiting.borrow_mut();
        for told in ended.iter().filter_map(|read| waiting.remove(read)).flatten() {
            let _ = told.send(()); // who has left does not hear it
        }
        drop(waiting);
        self.changed.notify_one();
        result
    }

    fn nodes(&self) -> usize {
        self.state.borrow().stager.nodes()
    }

    fn withdraw(&self, read: u32) {
        self.with(|state, time| state.stager.withdraw(time, read, true));
    }

    async fn answer(&self, turn: &Turn, request: &mut Request<Incoming>) -> Result<Answer, Problem> {
        let (method, path) = (request.method().clone(), request.uri().path().trim_end_matches('/').to_owned());
        let query = request.uri().query().map(ToOwned::to_owned);
        let address = self.settings.front.address(request);
        let body = api::body(turn, request).await?;
        let most = self.settings.most;
        match (method.as_str(), path.as_str()) {
            ("GET" | "HEAD", "") => return Ok(send(StatusCode::OK, &json!({"system": "pileup practice tape"}))),
            ("GET", WELL_KNOWN) => return Ok(self.about(&address)),
            ("GET", "/counts") => {
                return Ok(self.with(|state, time| tell::counts(&state.stager, &state.bulks, self.clock, time)));
            }
            ("POST", "/read") => return self.read(turn, &ask::reading(&body, None, self.nodes())?).await,
            ("GET", "/read") => {
                let query = query.as_deref().unwrap_or("");
                return self.read(turn, &ask::reading(&body, Some(query), self.nodes())?).await;
            }
            _ => {}
        }
        let parts: Vec<_> = path.strip_prefix(API).unwrap_or_default().split('/').skip(1).collect();
        match (method.as_str(), parts.as_slice()) {
            ("POST", ["stage"]) => self.stage(turn, &body, &address),
            ("GET", ["stage", id]) => {
                check_stage(turn)?;
                let exact = query.as_deref() == Some("times=true");
                self.with(|State { stager, bulks }, _| {
                    bulks.find(id).map(|bulk| tell::progress(stager, self.clock, id, bulk, exact))
                })
            }
            ("DELETE", ["stage", id]) => {
                check_stage(turn)?;
                self.with(|State { stager, bulks }, time| bulks.delete(stager, time, id))
                    .map(|()| plain(StatusCode::OK))
            }
            ("POST", ["stage", id, "cancel"]) => {
                let paths = api::paths(&body, most)?;
                check_paths(turn, &[STAGE], paths.iter().map(String::as_str))?;
                self.with(|State { stager, bulks }, time| bulks.cancel(stager, time, id, &paths))
                    .map(|()| plain(StatusCode::OK))
            }
            ("POST", ["release", id]) => {
                let paths = api::paths(&body, most)?;
                check_paths(turn, &[STAGE], paths.iter().map(String::as_str))?;
                self.with(|State { stager, bulks }, time| bulks.release(stager, time, id, &paths))
                    .map(|()| plain(StatusCode::OK))
            }
            ("POST", ["archiveinfo"]) => {
                let paths = api::paths(&body, usize::MAX)?; // too many are no error, says the standard
                check_paths(turn, &[STAGE, READ], paths.iter().map(String::as_str))?;
                Ok(self.with(|state, _| tell::archive_info(&state.stager, &paths[..paths.len().min(most)])))
            }
            _ => Err(nothing(&method, &parts)),
        }
    }

    /// Its metadata.
    fn about(&self, address: &str) -> Answer {
        let endpoint = json!({"uri": format!("{address}{API}"), "version": "v1", "metadata": {"nodes": self.nodes()}});
        let about = json!({
            "sitename": self.settings.sitename, "description": "pileup practice tape library", "endpoints": [endpoint],
        });
        send(StatusCode::OK, &about)
    }

    fn stage(&self, turn: &Turn, body: &[u8], address: &str) -> Result<Answer, Problem> {
        let site = Site { name: &self.settings.sitename, most: self.settings.most, nodes: self.nodes() };
        let wanted = ask::stage(body, &site)?;
        check_paths(turn, &[STAGE], wanted.iter().map(|each| each.path.as_str()))?;
        let id = self.with(|State { stager, bulks }, time| bulks.submit(stager, time, &wanted));
        let mut answer = send(StatusCode::CREATED, &json!({"requestId": id}));
        if let Ok(value) = HeaderValue::from_str(&format!("{address}{API}/stage/{id}")) {
            answer.headers_mut().insert(LOCATION, value);
        }
        Ok(answer)
    }

    /// Read a file for a copy command: the answer comes when it is there.
    async fn read(&self, turn: &Turn, wanted: &ask::Reading) -> Result<Answer, Problem> {
        check_paths(turn, &[STAGE, READ], std::iter::once(wanted.path.as_str()))?;
        let path = clean(&wanted.path);
        let found = self.with(|State { stager, .. }, time| {
            let file = stager.files.find(&path)?;
            if wanted.content && stager.files.size(file) > tell::LARGEST {
                return Some(Err(stager.files.size(file)));
            }
            let read = stager.want(time, wanted.node, file, stager::FOR_EVER, "");
            let told = (!stager.read(read).phase.is_final()).then(|| {
                let (tell, told) = oneshot::channel();
                self.waiting.borrow_mut().entry(read).or_default().push(tell);
                told
            });
            Some(Ok((read, time, told)))
        });
        let (read, asked, told) = match found {
            None => {
                return Err(Problem::new(404, "Not found", format!("There is no file {path}; expected one on tape")));
            }
            Some(Err(size)) => {
                let detail = format!("a content of {size} bytes; expected at most {}, or no content", tell::LARGEST);
                return Err(Problem::new(400, "File too large", detail));
            }
            Some(Ok(found)) => found,
        };
        let _waiting = Waiting { tape: self, read };
        let mut stop = self.core.stop.clone();
        if let Some(told) = told {
            tokio::select! {
                _ = told => {}
                _ = stop.wait_for(|stop| *stop) => return Err(Problem::new(503, "Stopped", "The library ends.")),
            }
        }
        if self.state.borrow().stager.read(read).phase == Phase::Lost {
            let _ = stop.wait_for(|stop| *stop).await; // the library has forgotten it, and nobody will ever answer
            return Err(Problem::new(503, "Stopped", "The library ends."));
        }
        self.with(|state, _| tell::copied(&state.stager, self.clock, asked, read, wanted.content))
    }
}

impl Work for Tape {
    fn cost(&self, _method: &Method, path: &str) -> &Law {
        if path.starts_with(API) { &self.settings.service } else { &self.free }
    }

    async fn act(&self, turn: &Turn, request: &mut Request<Incoming>) -> Answer {
        self.answer(turn, request).await.unwrap_or_else(|problem| refusal(turn, &problem))
    }

    /// Errors from elsewhere are written in the words of the API, too.
    fn dress(&self, answer: Answer) -> Answer {
        dress(answer)
    }

    async fn due(&self) {
        loop {
            let next = self.state.borrow().stager.next();
            let Some(next) = next else {
                self.changed.notified().await;
                continue;
            };
            let at = self.clock.to_real(next).max(self.looked.get().saturating_add(SOONEST));
            tokio::select! {
                () = self.core.pacer.sleep_until(at) => return,
                () = self.changed.notified() => {}
            }
        }
    }

    fn tick(&self) {
        self.looked.set(now());
        self.with(|_, _| ());
    }

    fn close(&self) -> Result<(), Error> {
        self.with(|state, time| {
            state.stager.events.note(time, "stop", &Line::default());
            state.stager.events.close()
        })
    }
}

/// There is nothing, or it has another method.
fn nothing(method: &Method, parts: &[&str]) -> Problem {
    match parts {
        ["stage" | "archiveinfo"] | ["stage" | "release", _] | ["stage", _, "cancel"] => {
            Problem::new(405, "Method not allowed", format!("{method} is not understood here"))
        }
        _ => Problem::new(404, "Not found", "There is nothing; expected what docs/practice.md lists"),
    }
}
