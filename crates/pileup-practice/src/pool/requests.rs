//! Stage requests of the pool and their files: how far each is. Times in ns since the epoch.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

use serde::Serialize;
use serde_json::json;

use crate::answer::Answer;
use crate::api::send;
use crate::problem::Problem;
use crate::tape::clean;

/// How far a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It waits for a thread.
    Waiting,
    /// A thread has it.
    Started,
    /// It can be opened.
    Ready,
    /// It was cancelled before it was ready.
    Cancelled,
}

/// A file of a request.
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) phase: Cell<Phase>,
    /// When a thread took it.
    pub(crate) started: Cell<i64>,
    /// When it was ready, or cancelled.
    pub(crate) ended: Cell<i64>,
    /// How often it is open.
    pub(crate) opened: Cell<u32>,
}

/// A request.
pub(crate) struct Bulk {
    id: String,
    created: i64,
    pub(crate) files: Vec<Rc<File>>,
}

/// All requests.
pub(crate) struct Requests {
    /// Begin of all ids: those of another server are unknown here.
    name: String,
    /// None: deleted.
    all: RefCell<Vec<Option<Rc<Bulk>>>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Told<'a> {
    path: &'a str,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finished_at: Option<i64>,
}

impl Requests {
    /// None so far, of a server that began at this time.
    pub(crate) fn new(begin: i64) -> Self {
        Self { name: format!("{begin:x}"), all: RefCell::default() }
    }

    /// Take in a request. A file that it names twice counts once.
    pub(crate) fn add(&self, now: i64, paths: impl Iterator<Item = String>) -> Rc<Bulk> {
        let mut known = BTreeSet::new();
        let files = paths.map(|path| clean(&path)).filter(|path| known.insert(path.clone()));
        let files = files.map(|path| {
            Rc::new(File {
                path,
                phase: Cell::new(Phase::Waiting),
                started: Cell::new(0),
                ended: Cell::new(0),
                opened: Cell::new(0),
            })
        });
        let files = files.collect();
        let mut all = self.all.borrow_mut();
        let bulk = Rc::new(Bulk { id: format!("{}-{}", self.name, all.len()), created: now, files });
        all.push(Some(Rc::clone(&bulk)));
        bulk
    }

    /// A request by its id.
    pub(crate) fn find(&self, id: &str) -> Result<Rc<Bulk>, Problem> {
        let found = self.place(id).and_then(|place| self.all.borrow().get(place).cloned().flatten());
        found.ok_or_else(|| Problem::no_request(id))
    }

    /// Forget a request: what of it is not ready need not be.
    pub(crate) fn delete(&self, now: i64, id: &str) -> Result<(), Problem> {
        let bulk = self.find(id)?;
        bulk.files.iter().for_each(|file| file.cancel(now));
        if let Some(known) = self.place(id).and_then(|place| self.all.borrow_mut().get_mut(place).map(Option::take)) {
            drop(known);
        }
        Ok(())
    }

    fn place(&self, id: &str) -> Option<usize> {
        id.strip_prefix(self.name.as_str())?.strip_prefix('-')?.parse().ok()
    }
}

impl Bulk {
    /// Its id.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Those of its files that have these paths; all of the paths must be its own.
    pub(crate) fn chosen(&self, paths: &[String]) -> Result<Vec<&Rc<File>>, Problem> {
        paths
            .iter()
            .map(|path| {
                let path = clean(path);
                self.files.iter().find(|file| file.path == path).ok_or_else(|| Problem::no_file(&path, &self.id))
            })
            .collect()
    }

    /// How far it is, in the words of the API.
    pub(crate) fn progress(&self) -> Answer {
        let files: Vec<_> = self.files.iter().map(|file| file.told()).collect();
        let started = files.iter().filter_map(|file| file.started_at).min();
        let finished = files.iter().map(|file| file.finished_at).collect::<Option<Vec<_>>>();
        let mut told = json!({
            "id": self.id, "createdAt": seconds(self.created),
            "startedAt": started.unwrap_or_else(|| seconds(self.created)), "files": files,
        });
        if let Some(last) = finished.and_then(|all| all.into_iter().max()) {
            told["completedAt"] = json!(last);
        }
        send(http::StatusCode::OK, &told)
    }
}

impl File {
    /// It need not be prepared; one that has come to its end stays as it is.
    pub(crate) fn cancel(&self, now: i64) {
        if matches!(self.phase.get(), Phase::Waiting | Phase::Started) {
            self.phase.set(Phase::Cancelled);
            self.ended.set(now);
        }
    }

    /// Open it. It must be ready.
    pub(crate) fn open(&self) -> Result<(), Problem> {
        if self.phase.get() != Phase::Ready {
            let detail = format!("The file {} is {}; expected COMPLETED", self.path, self.told().state);
            return Err(Problem::new(409, "File not ready", detail));
        }
        self.opened.set(self.opened.get() + 1);
        Ok(())
    }

    /// Close it. It must be open.
    pub(crate) fn close(&self) -> Result<(), Problem> {
        let detail = || format!("The file {} is not open; expected an open before each close", self.path);
        let left = self.opened.get().checked_sub(1).ok_or_else(|| Problem::new(409, "File not open", detail()))?;
        self.opened.set(left);
        Ok(())
    }

    fn told(&self) -> Told<'_> {
        let state = match self.phase.get() {
            Phase::Waiting => "SUBMITTED",
            Phase::Started => "STARTED",
            Phase::Ready => "COMPLETED",
            Phase::Cancelled => "CANCELLED",
        };
        let at = |time: i64| (time > 0).then(|| seconds(time));
        Told { path: &self.path, state, started_at: at(self.started.get()), finished_at: at(self.ended.get()) }
    }
}

fn seconds(time: i64) -> i64 {
    time / 1_000_000_000
}
