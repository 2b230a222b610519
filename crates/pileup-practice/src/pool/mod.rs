//! The request pool of the practice storage: stage requests, polls, opens, closes and releases in the shape of the WLCG Tape REST API (v1),
//! without data, on a known number of threads.
//!
//! A call of the API is a fast operation. A request leads to a slow operation for each of its files, `switch` after it was taken. Both wait
//! first come first served for a thread, and hold it for a time that is drawn. A slow operation that meets the lock of its folder keeps its
//! thread while it waits, as the thread of a server does that waits for a row of its database. `requests` is how far each file is.

mod requests;
mod settings;
#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use http::header::LOCATION;
use http::{HeaderValue, Method, Request, StatusCode};
use hyper::body::Incoming;
use pileup_schedule::Law;
use serde_json::json;
use tokio::task::spawn_local;

use crate::answer::{Answer, plain};
use crate::api::{self, API, STAGE, WELL_KNOWN, check_paths, check_stage, refusal, send};
use crate::core::{Core, on_time};
use crate::front::Front;
use crate::log::{Line, Open};
use crate::problem::Problem;
use crate::slots::Slots;
use crate::tape::{Site, stage};
use crate::wire::Turn;

use self::requests::{File, Phase, Requests};

pub(crate) use self::settings::Rules;

/// Most files of a request.
const MOST: usize = 10_000;
/// Name of the site in the metadata.
const SITE: &str = "pileup-practice";
/// In the log, the method of a slow operation.
const PREPARE: &str = "PREPARE";
/// Streams of draws: 0 is the service time of requests.
const SLOW: u64 = 1;
const FAST: u64 = 2;

/// The pool.
pub(crate) struct Pool {
    core: Rc<Core>,
    front: Front,
    rules: Rules,
    threads: Slots,
    /// Threads of the fast operations; none: they share the others.
    fast: Option<Slots>,
    /// Folder -> its lock, while somebody holds it or waits for it.
    folders: RefCell<HashMap<String, Rc<Slots>>>,
    requests: Requests,
    /// Slow and fast operations so far.
    drawn: [Cell<u64>; 2],
}

impl Pool {
    /// A pool that begins now.
    pub(crate) fn new(core: &Rc<Core>, front: Front, rules: Rules, begin: i64) -> Rc<Self> {
        Rc::new(Self {
            core: Rc::clone(core),
            front,
            threads: Slots::new(rules.threads, usize::MAX),
            fast: rules.fast_threads.map(|threads| Slots::new(threads, usize::MAX)),
            rules,
            folders: RefCell::default(),
            requests: Requests::new(begin),
            drawn: [Cell::new(0), Cell::new(0)],
        })
    }

    /// Whether a path is one of the API.
    pub(crate) fn has(path: &str) -> bool {
        path == WELL_KNOWN || path.strip_prefix(API).is_some_and(|below| below.is_empty() || below.starts_with('/'))
    }

    /// Do what is asked.
    pub(crate) async fn act(self: &Rc<Self>, turn: &Turn, request: &mut Request<Incoming>) -> Answer {
        self.answer(turn, request).await.unwrap_or_else(|problem| refusal(turn, &problem))
    }

    async fn answer(self: &Rc<Self>, turn: &Turn, request: &mut Request<Incoming>) -> Result<Answer, Problem> {
        let (method, path) = (request.method().clone(), request.uri().path().trim_end_matches('/').to_owned());
        let address = self.front.address(request);
        let body = api::body(turn, request).await?;
        if path == WELL_KNOWN && method == Method::GET {
            return Ok(about(&address));
        }
        let time = self.fast(turn).await;
        let parts: Vec<_> = path.strip_prefix(API).unwrap_or_default().split('/').skip(1).collect();
        match (method.as_str(), parts.as_slice()) {
            ("POST", ["stage"]) => self.stage(turn, time, &body, &address),
            ("GET", ["stage", id]) => {
                check_stage(turn)?;
                self.requests.find(id).map(|bulk| bulk.progress())
            }
            ("DELETE", ["stage", id]) => {
                check_stage(turn)?;
                self.requests.delete(time, id).map(|()| plain(StatusCode::OK))
            }
            ("POST", ["stage", id, "cancel"]) => self.each(turn, &body, id, |file| {
                file.cancel(time);
                Ok(())
            }),
            ("POST", ["open", id]) => self.each(turn, &body, id, File::open),
            ("POST", ["close", id]) => self.each(turn, &body, id, File::close),
            ("POST", ["release", id]) => self.each(turn, &body, id, |_| Ok(())),
            _ => Err(nothing(&method, &parts)),
        }
    }

    /// Be a fast operation: wait for a thread and hold it. Returns when it was over.
    async fn fast(&self, turn: &Turn) -> i64 {
        // There is no bound to the queue.
        let Some(slot) = self.fast.as_ref().unwrap_or(&self.threads).take().await else { return 0 };
        let began = self.core.thaw(turn, slot.since().max(turn.open.look(|line| line.began))).await;
        let service = self.draw(&self.rules.fast, FAST);
        turn.open.note(|line| (line.began, line.service) = (began, service));
        let ends = self.core.thaw(turn, self.core.hold(began, service).await).await;
        slot.free(ends);
        ends
    }

    fn draw(&self, law: &Law, stream: u64) -> u64 {
        let number = &self.drawn[usize::from(stream == FAST)];
        law.draw(self.core.seed, stream, number.replace(number.get() + 1))
    }

    fn stage(self: &Rc<Self>, turn: &Turn, time: i64, body: &[u8], address: &str) -> Result<Answer, Problem> {
        let wanted = stage(body, &Site { name: SITE, most: MOST, nodes: 1 })?;
        check_paths(turn, &[STAGE], wanted.iter().map(|each| each.path.as_str()))?;
        let bulk = self.requests.add(time, wanted.into_iter().map(|each| each.path));
        let id = bulk.id();
        for file in &bulk.files {
            spawn_local(Rc::clone(self).prepare(
                Rc::clone(file),
                id.to_owned(),
                time.saturating_add(self.rules.switch),
            ));
        }
        let mut answer = send(StatusCode::CREATED, &json!({"requestId": id}));
        if let Ok(value) = HeaderValue::from_str(&format!("{address}{API}/stage/{id}")) {
            answer.headers_mut().insert(LOCATION, value);
        }
        Ok(answer)
    }

    /// Be the slow operation that makes a file ready. It waits for a thread from `arrived` on.
    async fn prepare(self: Rc<Self>, file: Rc<File>, request: String, arrived: i64) {
        let core = &self.core;
        let (method, path) = (PREPARE.to_owned(), file.path.clone());
        let line = Open::new(Line { method, path, arrived, note: request, ..Line::default() }, &core.log);
        core.pacer.sleep_until(arrived).await;
        let Some(slot) = self.threads.take().await else { return };
        let began = on_time(slot.since().max(arrived));
        if file.phase.get() == Phase::Cancelled {
            slot.free(began);
            return;
        }
        file.phase.set(Phase::Started);
        file.started.set(began);
        let ended = self.locked(&file.path, began, &line).await;
        slot.free(ended);
        if file.phase.get() == Phase::Started {
            file.phase.set(Phase::Ready);
            file.ended.set(ended);
        }
        line.note(|line| (line.first_byte, line.ended, line.status) = (ended, ended, 200));
    }

    /// Be served, with the lock of the folder where folders have one; return when it is over.
    async fn locked(&self, path: &str, began: i64, line: &Open) -> i64 {
        if !self.rules.folder_lock {
            return self.serve(began, line).await;
        }
        let name = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let new = || Rc::new(Slots::new(1, usize::MAX));
        let folder = Rc::clone(self.folders.borrow_mut().entry(name.to_owned()).or_insert_with(new));
        let Some(lock) = folder.take().await else { return began };
        let ended = self.serve(on_time(lock.since().max(began)), line).await;
        lock.free(ended);
        if Rc::strong_count(&folder) == 2 {
            self.folders.borrow_mut().remove(name); // nobody else waits for it
        }
        ended
    }

    /// Hold a thread for the time of a slow operation that began then; return when it is over.
    async fn serve(&self, began: i64, line: &Open) -> i64 {
        let service = self.draw(&self.rules.slow, SLOW);
        line.note(|line| (line.began, line.service) = (began, service));
        self.core.hold(began, service).await
    }

    /// Do something with files of a request: with all that are named, or with none if one of them cannot.
    fn each(
        &self,
        turn: &Turn,
        body: &[u8],
        id: &str,
        act: impl Fn(&File) -> Result<(), Problem>,
    ) -> Result<Answer, Problem> {
        let paths = api::paths(body, MOST)?;
        check_paths(turn, &[STAGE], paths.iter().map(String::as_str))?;
        let bulk = self.requests.find(id)?;
        bulk.chosen(&paths)?.into_iter().try_for_each(|file| act(file))?;
        Ok(plain(StatusCode::OK))
    }
}

/// The metadata: where the API is, and that it knows `open` and `close`, which the standard does not.
fn about(address: &str) -> Answer {
    let endpoint = json!({"uri": format!("{address}{API}"), "version": "v1", "metadata": {"open": true}});
    let description = "pileup practice storage, request pool";
    send(StatusCode::OK, &json!({"sitename": SITE, "description": description, "endpoints": [endpoint]}))
}

/// There is nothing, or it has another method.
fn nothing(method: &Method, parts: &[&str]) -> Problem {
    match parts {
        ["stage"] | ["stage" | "open" | "close" | "release", _] | ["stage", _, "cancel"] => {
            Problem::new(405, "Method not allowed", format!("{method} is not understood here"))
        }
        _ => Problem::new(404, "Not found", "There is nothing; expected what docs/practice.md lists"),
    }
}
