//! Asynchronous operations (a job, a recall): opened with a name and a key, ended later by these. They hold no client and no thread; each
//! becomes one row when it ends.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::local::Local;
use crate::row::{Cause, Outcome, Phase, Row};
use crate::tally::{Tally, TallyRow};

/// The message of an operation that was never ended.
const UNFINISHED: &str = "still open at the end";

/// The iteration that began an operation: what its row has from there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Id of the iteration.
    pub parent: u64,
    /// Id of the case.
    pub case: u32,
    /// Number of the client in the case.
    pub client: u32,
    /// Index in the run's targets.
    pub target: u16,
    /// Of the iteration.
    pub phase: Phase,
}

/// How an operation ended.
#[derive(Clone, Copy, Debug)]
pub struct End<'a> {
    /// How.
    pub outcome: Outcome,
    /// When, ns since the epoch; not before its begin: clocks of systems differ, and answers come late.
    pub time: i64,
    /// The message; empty when passed.
    pub error: &'a str,
    /// Bytes of payload moved.
    pub bytes: u64,
    /// Why it did not pass.
    pub cause: Cause,
}

/// Why an operation cannot begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// One of this name and key is open already.
    Open,
    /// The ledger is closed.
    Closed,
}

/// What happened to the operations of a case since the last time.
pub struct LedgerFrame {
    /// Id of the case.
    pub case: u32,
    /// Operations open now.
    pub in_flight: u32,
    /// What ended since.
    pub rows: Vec<TallyRow>,
}

#[derive(Clone, Copy)]
struct Open {
    origin: Origin,
    start: i64,
    /// Number in the order of beginning.
    number: u64,
}

/// The open operations of one name.
#[derive(Default)]
struct Group {
    open: HashMap<Arc<str>, Open>,
    /// In the order of beginning; those that are not open any more are left out when somebody asks.
    order: VecDeque<(u64, Arc<str>)>,
}

impl Group {
    fn is_open(open: &HashMap<Arc<str>, Open>, number: u64, key: &str) -> bool {
        open.get(key).is_some_and(|one| one.number == number)
    }

    fn add(&mut self, key: Arc<str>, one: Open) {
        self.order.push_back((one.number, Arc::clone(&key)));
        self.open.insert(key, one);
    }

    fn take(&mut self, key: &str) -> Option<Open> {
        let one = self.open.remove(key)?;
        let open = &self.open;
        if self.order.len() > 2 * open.len() + 1024 {
            self.order.retain(|(number, key)| Self::is_open(open, *number, key));
            self.order.shrink_to(open.len() + 1024);
            self.open.shrink_to(self.open.len() + 1024);
        }
        Some(one)
    }

    fn keys(&self) -> impl Iterator<Item = &Arc<str>> {
        self.order.iter().filter(|(number, key)| Self::is_open(&self.open, *number, key)).map(|(_, key)| key)
    }
}

/// What is reported about a case.
#[derive(Default)]
struct Case {
    tally: Tally,
    open: u32,
    news: bool,
}

struct State {
    local: Local,
    groups: BTreeMap<Box<str>, Group>,
    cases: BTreeMap<u32, Case>,
    next: u64,
    closed: bool,
}

/// The operations that are open at one place.
pub struct Ledger(Mutex<State>);

impl Ledger {
    /// One that writes by this hand.
    #[must_use]
    pub(crate) fn new(local: Local) -> Self {
        let (groups, cases) = (BTreeMap::new(), BTreeMap::new());
        Self(Mutex::new(State { local, groups, cases, next: 0, closed: false }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begin an operation at `start`, ns since the epoch.
    ///
    /// # Errors
    /// When one of this name and key is open, or the ledger is closed.
    pub fn begin(&self, name: &str, key: &str, origin: Origin, start: i64) -> Result<(), Refusal> {
        let mut state = self.state();
        if state.closed {
            return Err(Refusal::Closed);
        }
        if state.is_open(name, key) {
            return Err(Refusal::Open);
        }
        state.begin(name, Arc::from(key), origin, start);
        Ok(())
    }

    /// End one. False when there is none.
    pub fn end(&self, name: &str, key: &str, end: &End<'_>) -> bool {
        self.state().end(name, key, end).is_some()
    }

    /// End several. Returns how many there were.
    pub fn end_many<'a>(&self, name: &str, ends: impl Iterator<Item = (&'a str, End<'a>)>) -> usize {
        let mut state = self.state();
        ends.filter(|(key, end)| state.end(name, key, end).is_some()).count()
    }

    /// End one as passed and begin another in its place, with the same key and origin. False, and nothing is done, when there is none, or
    /// when the other is open already.
    pub fn turn(&self, name: &str, key: &str, to: &str, time: i64) -> bool {
        let mut state = self.state();
        if state.is_open(to, key) {
            return false;
        }
        let end = End { outcome: Outcome::Passed, time, error: "", bytes: 0, cause: Cause::None };
        let Some(ended) = state.end(name, key, &end) else { return false };
        state.begin(to, Arc::from(key), ended.origin, time.max(ended.start));
        true
    }

    /// How many are open: of this name, of all names when it is empty.
    #[must_use]
    pub fn open(&self, name: &str) -> usize {
        let state = self.state();
        if name.is_empty() {
            return state.groups.values().map(|group| group.open.len()).sum();
        }
        state.groups.get(name).map_or(0, |group| group.open.len())
    }

    /// The keys of those that are open, oldest first, at most so many.
    #[must_use]
    pub fn keys(&self, name: &str, most: usize) -> Vec<Arc<str>> {
        let state = self.state();
        state.groups.get(name).map_or_else(Vec::new, |group| group.keys().take(most).cloned().collect())
    }

    /// When one began, ns since the epoch.
    #[must_use]
    pub fn since(&self, name: &str, key: &str) -> Option<i64> {
        Some(self.state().groups.get(name)?.open.get(key)?.start)
    }

    /// What happened since the last call, of every case with news.
    #[must_use]
    pub fn frames(&self) -> Vec<LedgerFrame> {
        let mut state = self.state();
        let mut frames = Vec::new();
        for (id, case) in state.cases.iter_mut().filter(|(_, case)| case.news) {
            case.news = false;
            frames.push(LedgerFrame { case: *id, in_flight: case.open, rows: case.tally.drain() });
        }
        state.cases.retain(|_, case| case.open > 0);
        frames
    }

    /// Record everything open as unfinished at this time; nothing begins any more.
    pub fn close(&self, time: i64) {
        let mut state = self.state();
        state.closed = true;
        let end = End { outcome: Outcome::Unfinished, time, error: UNFINISHED, bytes: 0, cause: Cause::None };
        for (name, group) in std::mem::take(&mut state.groups) {
            for key in group.keys() {
                if let Some(one) = group.open.get(key) {
                    state.write(&name, key, one, &end);
                }
            }
        }
    }
}

impl State {
    fn is_open(&self, name: &str, key: &str) -> bool {
        self.groups.get(name).is_some_and(|group| group.open.contains_key(key))
    }

    fn begin(&mut self, name: &str, key: Arc<str>, origin: Origin, start: i64) {
        self.next += 1;
        let one = Open { origin, start, number: self.next };
        match self.groups.get_mut(name) {
            Some(group) => group.add(key, one),
            None => self.groups.entry(name.into()).or_default().add(key, one),
        }
        let case = self.cases.entry(origin.case).or_default();
        case.open += 1;
        case.news = true;
    }

    fn end(&mut self, name: &str, key: &str, end: &End<'_>) -> Option<Open> {
        let one = self.groups.get_mut(name)?.take(key)?;
        self.write(name, key, &one, end);
        Some(one)
    }

    fn write(&mut self, name: &str, key: &str, one: &Open, end: &End<'_>) {
        let Origin { parent, case, client, target, phase } = one.origin;
        let row = Row {
            id: self.local.next_id(),
            parent,
            intended: one.start,
            start: one.start,
            end: end.time.max(one.start),
            bytes: end.bytes,
            key: self.local.string(key),
            error: self.local.string(end.error),
            operation: self.local.name(name),
            case,
            client,
            target,
            place: self.local.place(),
            phase,
            outcome: end.outcome,
            cause: end.cause,
            ..Row::default()
        };
        let told = self.cases.entry(case).or_default();
        told.tally.add(&row);
        told.open = told.open.saturating_sub(1);
        told.news = true;
        self.local.push(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Recorder;

    fn file(name: &str) -> std::path::PathBuf {
        std::env::temp_dir().join(format!("pileup-ledger-{name}-{}.table", std::process::id()))
    }

    fn origin(case: u32) -> Origin {
        Origin { parent: 77, case, client: 5, target: 1, phase: Phase::WarmUp }
    }

    fn passed(time: i64) -> End<'static> {
        End { outcome: Outcome::Passed, time, error: "", bytes: 0, cause: Cause::None }
    }

    #[test]
    fn what_begins_is_open_until_it_ends_or_turns() {
        let path = file("turns");
        let recorder = Recorder::create(&path, 3).unwrap();
        let ledger = recorder.ledger();
        assert!(Arc::ptr_eq(&ledger, &recorder.ledger()), "one for each recorder");
        for key in ["b", "a", "c"] {
            assert_eq!(ledger.begin("queue", key, origin(1), 100), Ok(()));
        }
        assert_eq!(ledger.begin("queue", "a", origin(1), 100), Err(Refusal::Open));
        assert!(ledger.turn("queue", "a", "run", 150) && !ledger.turn("queue", "a", "run", 160));
        assert_eq!((ledger.since("queue", "a"), ledger.since("run", "a")), (None, Some(150)));
        assert_eq!(ledger.begin("queue", "a", origin(1), 170), Ok(()), "the key is free again");
        let keys: Vec<_> = ledger.keys("queue", 9).iter().map(ToString::to_string).collect();
        assert_eq!(keys, ["b", "c", "a"], "oldest first");
        assert_eq!(
            (ledger.keys("queue", 2).len(), ledger.open("queue"), ledger.open("run"), ledger.open("")),
            (2, 3, 1, 4)
        );
        assert!(!ledger.turn("queue", "a", "run", 180), "that one runs");
        assert!(ledger.end("run", "a", &passed(120)) && !ledger.end("run", "a", &passed(130)));
        assert_eq!(ledger.end_many("queue", ["a", "x", "b"].map(|key| (key, passed(200))).into_iter()), 2);
        let frames = ledger.frames();
        assert_eq!((frames.len(), frames[0].case, frames[0].in_flight, frames[0].rows.len()), (1, 1, 1, 2));
        assert!(frames[0].rows.iter().all(|row| !row.iteration && row.phase == Phase::WarmUp));
        assert!(ledger.frames().is_empty(), "no news");
        ledger.close(500);
        assert_eq!(ledger.begin("queue", "z", origin(1), 100), Err(Refusal::Closed));
        let frames = ledger.frames();
        assert_eq!((frames[0].in_flight, frames[0].rows[0].outcomes), (0, [0, 0, 0, 0, 1, 0]));
        assert_eq!(ledger.open(""), 0);
        recorder.close().unwrap();
        assert_eq!(recorder.rows(), 5);
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_row_has_its_times_and_where_it_came_from() {
        let path = file("rows");
        let recorder = Recorder::create(&path, 3).unwrap();
        let ledger = recorder.ledger();
        ledger.begin("job", "j", origin(9), 100).unwrap();
        ledger.end(
            "job",
            "j",
            &End { outcome: Outcome::Failed, time: 90, error: "exit code 1", bytes: 12, cause: Cause::Cancelled },
        );
        recorder.close().unwrap();
        let file = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let row = &file[file.len() - crate::row::ROW_SIZE..];
        let number = |from: usize| i64::from_le_bytes(row[from..from + 8].try_into().unwrap());
        assert_eq!((number(8), number(16), number(24), number(40), number(48)), (77, 100, 100, 100, 12));
        assert_eq!((row[68], row[72], row[80], row[82]), (9, 5, 1, 3), "case, client, target, place");
        assert_eq!((row[85], row[86], row[87]), (Phase::WarmUp as u8, Outcome::Failed as u8, Cause::Cancelled as u8));
        assert!(file.windows(11).any(|text| text == b"exit code 1"));
    }

    #[test]
    fn a_hundred_thousand_are_open_at_once_and_end_once() {
        let path = file("many");
        let recorder = Recorder::create(&path, 0).unwrap();
        let ledger = recorder.ledger();
        let keys: Vec<String> = (0..100_000).map(|number| format!("job-{number}")).collect();
        for key in &keys {
            ledger.begin("job", key, origin(1), 1).unwrap();
        }
        assert_eq!((ledger.open("job"), ledger.keys("job", usize::MAX).len()), (100_000, 100_000));
        assert_eq!(ledger.end_many("job", keys.iter().map(|key| (key.as_str(), passed(7)))), 100_000);
        assert_eq!(ledger.end_many("job", keys.iter().map(|key| (key.as_str(), passed(7)))), 0);
        let frame = ledger.frames().remove(0);
        assert_eq!((frame.in_flight, frame.rows[0].outcomes[0]), (0, 100_000));
        assert!(ledger.state().groups["job"].order.len() <= 2048 && ledger.state().cases.is_empty());
        recorder.close().unwrap();
        assert_eq!(recorder.rows(), 100_000);
        std::fs::remove_file(&path).unwrap();
    }
}
