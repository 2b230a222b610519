//! The batch system itself: a queue, slots, a scheduler that begins jobs at its cycles. It has no clock: whoever asks gives the time, and
//! everything that was due by then has happened at exactly its own time.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, VecDeque};
use std::ops::Bound;
use std::rc::Rc;

use pileup_schedule::unit;

use crate::rate::Bucket;

use super::changes::Changes;
use super::history::History;
use super::job::{Job, NOBODY, State, Wanted};
use super::journal::{Event, Journal};
use super::settings::Rules;

/// Streams of draws.
const LOSS: u64 = 1;
const FAILING: u64 = 2;

/// How often things have happened since the server began, over crashes.
#[derive(Clone, Copy, Default)]
pub(crate) struct Totals {
    pub(crate) submitted: u64,
    pub(crate) refused: u64,
    pub(crate) started: u64,
    pub(crate) ended: u64,
    pub(crate) purged: u64,
    pub(crate) lost: u64,
    pub(crate) crashes: u64,
}

/// Everything it knows.
pub(crate) struct System {
    rules: Rules,
    pub(crate) journal: Journal,
    pub(crate) history: History,
    pub(crate) changes: Changes,
    pub(crate) totals: Totals,
    jobs: HashMap<u64, Job>,
    names: BTreeSet<(Rc<str>, u64)>,
    /// Jobs of each user that are not purged.
    users: BTreeMap<Rc<str>, usize>,
    /// Ids in the order of submission; some are not queued any more.
    queue: VecDeque<u64>,
    /// When jobs that run will end; some do not run any more.
    ends: BinaryHeap<Reverse<(i64, u64)>>,
    /// (id, serial) of what has ended, oldest first; some are gone.
    finished: VecDeque<(u64, u64)>,
    counts: [usize; 5],
    /// The scheduler's cycles begin here.
    origin: i64,
    /// Everything up to here has happened.
    clock: i64,
    /// When it last broke off.
    crashed: i64,
    /// It is back again from here on.
    back: i64,
    next: u64,
    /// Id that would come next after a crash that gives ids again.
    saved: u64,
    /// What a crash may forget.
    fresh: Vec<u64>,
    /// When the last checkpoint was.
    checked: i64,
    /// Submissions that the rate allows.
    allowed: Option<Bucket>,
    replaying: bool,
}

impl System {
    /// An empty one that begins now.
    pub(crate) fn new(rules: Rules, now: i64) -> Self {
        Self {
            history: History::new(rules.history),
            journal: Journal::default(),
            changes: Changes::default(),
            totals: Totals::default(),
            jobs: HashMap::new(),
            names: BTreeSet::new(),
            users: BTreeMap::new(),
            queue: VecDeque::new(),
            ends: BinaryHeap::new(),
            finished: VecDeque::new(),
            counts: [0; 5],
            origin: now,
            clock: 0,
            crashed: 0,
            back: now,
            next: 1,
            saved: 1,
            fresh: Vec::new(),
            checked: now,
            allowed: rules.rate.map(|rate| Bucket::new(rate, now)),
            replaying: false,
            rules,
        }
    }

    /// Replay an event of a journal.
    pub(crate) fn replay(&mut self, time: i64, event: &Event) {
        self.replaying = true;
        match event {
            Event::Submitted(id, name, user, duration) => self.insert(time, *id, name, user, *duration),
            Event::Started(id) => self.start(*id, time),
            Event::Ended(id, state) => {
                if let Some(state) = State::named(state) {
                    self.finish(*id, time, state);
                }
            }
            Event::Purged(id) => self.remove(*id, time),
            Event::Checkpoint | Event::Stop => self.checkpoint(time),
            Event::Crash(_) => self.broken_off(),
            Event::Lost(id) => self.forget(*id, time),
            Event::Refused(..) => self.totals.refused += 1,
            Event::Start(_) | Event::Acknowledged(_) => {}
        }
        self.clock = self.clock.max(time);
        self.replaying = false;
    }

    /// Begin to serve after a replay; what came last shows whether the server before ended in order.
    pub(crate) fn begin(&mut self, now: i64, process: u64, last: Option<&Event>) {
        if last.is_some_and(|event| *event != Event::Stop) {
            self.crash(now, 0);
        }
        self.tidy_up();
        self.note(now, &Event::Start(process));
    }

    fn note(&mut self, time: i64, event: &Event) {
        if !self.replaying {
            self.journal.note(time, event);
        }
    }

    /// Let everything happen that is due by now.
    pub(crate) fn advance(&mut self, now: i64) {
        loop {
            let end = self.ends.peek().map_or(i64::MAX, |Reverse((time, _))| *time);
            let begin = self.next_begin();
            if end.min(begin) > now {
                break;
            }
            self.clock = self.clock.max(end.min(begin));
            if end <= begin {
                self.end_next();
            } else if let Some(id) = self.queue.pop_front() {
                self.start(id, begin);
            }
        }
        self.clock = self.clock.max(now);
        self.expire(now);
    }

    /// When the scheduler begins the next job if nothing ends before.
    fn next_begin(&mut self) -> i64 {
        while self.queue.front().is_some_and(|id| !self.jobs.get(id).is_some_and(|job| job.state == State::Queued)) {
            self.queue.pop_front();
        }
        if self.queue.is_empty() || self.free() == 0 {
            return i64::MAX;
        }
        let from = self.clock.max(self.back);
        let cycle = self.rules.cycle;
        let since = from.saturating_sub(self.origin);
        if cycle == 0 { from } else { self.origin.saturating_add((since + cycle - 1).div_euclid(cycle) * cycle) }
    }

    fn start(&mut self, id: u64, time: i64) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        job.state = State::Running;
        job.started = time;
        job.changed = self.changes.note(id);
        let ends = time.saturating_add(i64::try_from(job.duration).unwrap_or(i64::MAX));
        self.ends.push(Reverse((ends, id)));
        self.counts[State::Queued as usize] -= 1;
        self.counts[State::Running as usize] += 1;
        self.totals.started += 1;
        self.note(time, &Event::Started(id));
    }

    fn end_next(&mut self) {
        let Some(Reverse((time, id))) = self.ends.pop() else { return };
        let Some(job) = self.jobs.get(&id).filter(|job| job.state == State::Running) else { return };
        let fails = unit(self.rules.seed, FAILING, job.serial) < self.rules.failing;
        self.finish(id, time, if fails { State::Failed } else { State::Completed });
    }

    fn finish(&mut self, id: u64, time: i64, state: State) {
        let Some(job) = self.jobs.get_mut(&id).filter(|job| !job.state.is_final()) else { return };
        self.counts[job.state as usize] -= 1;
        self.counts[state as usize] += 1;
        job.state = state;
        job.ended = time;
        job.changed = self.changes.note(id);
        self.finished.push_back((id, job.serial));
        let ended = job.clone();
        self.history.add(ended);
        self.totals.ended += 1;
        self.note(time, &Event::Ended(id, state.name().to_owned()));
    }

    /// Take jobs out that have been kept long enough.
    fn expire(&mut self, now: i64) {
        let Some(keep) = self.rules.keep else { return };
        while let Some((id, serial)) = self.finished.front().copied() {
            match self.jobs.get(&id).filter(|job| job.serial == serial).map(|job| job.ended.saturating_add(keep)) {
                Some(due) if due > now => break,
                Some(due) => self.remove(id, due),
                None => {}
            }
            self.finished.pop_front();
        }
    }

    /// Take jobs in, as many of them as are allowed. Returns their ids, and why the rest is refused.
    pub(crate) fn submit(&mut self, now: i64, wanted: &[Wanted]) -> (Vec<u64>, Option<String>) {
        self.advance(now);
        let mut ids = Vec::with_capacity(wanted.len());
        for (place, job) in wanted.iter().enumerate() {
            let user = job.user.as_deref().unwrap_or(NOBODY);
            if let Some(reason) = self.refusal(now, user) {
                self.refuse(now, &wanted[place..], &reason);
                return (ids, Some(reason));
            }
            while self.jobs.contains_key(&self.next) {
                self.next += 1;
            }
            let id = self.next;
            self.insert(now, id, &job.name, user, job.duration);
            ids.push(id);
        }
        self.advance(now);
        (ids, None)
    }

    /// Write down that these jobs are not taken in.
    pub(crate) fn refuse(&mut self, now: i64, wanted: &[Wanted], reason: &str) {
        for job in wanted {
            let user = job.user.as_deref().unwrap_or(NOBODY).to_owned();
            self.note(now, &Event::Refused(job.name.clone(), user, reason.to_owned()));
            self.totals.refused += 1;
        }
    }

    /// Why one more is not allowed.
    fn refusal(&mut self, now: i64, user: &str) -> Option<String> {
        if self.active() >= self.rules.limit {
            return Some(format!("limit of {} jobs", self.rules.limit));
        }
        if let Some(most) = self.rules.user_limit.filter(|most| self.users.get(user).is_some_and(|has| has >= most)) {
            return Some(format!("limit of {most} jobs of {user} that are not purged"));
        }
        let rate = self.rules.rate?;
        let allowed = self.allowed.as_mut().is_some_and(|bucket| bucket.take(now));
        if allowed { None } else { Some(format!("limit of {rate} submissions per second")) }
    }

    fn insert(&mut self, time: i64, id: u64, name: &str, user: &str, duration: u64) {
        let name: Rc<str> = Rc::from(name);
        let user = self.users.get_key_value(user).map_or_else(|| Rc::from(user), |(user, _)| Rc::clone(user));
        *self.users.entry(Rc::clone(&user)).or_default() += 1;
        self.totals.submitted += 1;
        self.note(time, &Event::Submitted(id, name.to_string(), user.to_string(), duration));
        self.names.insert((Rc::clone(&name), id));
        let (serial, state) = (self.totals.submitted, State::Queued);
        let job = Job { id, serial, name, user, state, submitted: time, started: 0, ended: 0, duration, changed: 0 };
        self.jobs.insert(id, job);
        self.queue.push_back(id);
        self.counts[State::Queued as usize] += 1;
        self.next = self.next.max(id + 1);
        if self.rules.checkpoint > 0 {
            self.fresh.push(id);
        } else {
            self.saved = self.next;
        }
    }

    /// The answer with these ids was sent.
    pub(crate) fn acknowledge(&mut self, time: i64, ids: &[u64]) {
        for id in ids {
            self.note(time, &Event::Acknowledged(*id));
        }
    }

    /// End a job that is queued or runs. Whether there was one.
    pub(crate) fn cancel(&mut self, now: i64, id: u64) -> bool {
        let goes = self.jobs.get(&id).is_some_and(|job| !job.state.is_final());
        self.finish(id, now, State::Cancelled);
        goes
    }

    /// Take a job out that has ended. Whether it had; none: there is no such job.
    pub(crate) fn purge(&mut self, now: i64, id: u64) -> Option<bool> {
        let ended = self.jobs.get(&id)?.state.is_final();
        if ended {
            self.remove(id, now);
        }
        Some(ended)
    }

    /// Take the oldest that have ended out, at most so many. Returns how many.
    pub(crate) fn purge_oldest(&mut self, now: i64, most: usize) -> usize {
        let mut purged = 0;
        while purged < most {
            let Some((id, serial)) = self.finished.pop_front() else { break };
            if self.jobs.get(&id).is_some_and(|job| job.serial == serial) {
                self.remove(id, now);
                purged += 1;
            }
        }
        purged
    }

    fn remove(&mut self, id: u64, time: i64) {
        if self.drop_job(id).is_some() {
            self.totals.purged += 1;
            self.note(time, &Event::Purged(id));
        }
    }

    fn drop_job(&mut self, id: u64) -> Option<Job> {
        let job = self.jobs.remove(&id)?;
        self.names.remove(&(Rc::clone(&job.name), id));
        if let Some(has) = self.users.get_mut(&job.user) {
            *has -= 1;
        }
        self.counts[job.state as usize] -= 1;
        Some(job)
    }

    fn forget(&mut self, id: u64, time: i64) {
        if self.drop_job(id).is_some() {
            self.totals.lost += 1;
            self.note(time, &Event::Lost(id));
        }
    }

    /// Make everything safe.
    pub(crate) fn checkpoint(&mut self, now: i64) {
        if !self.fresh.is_empty() {
            self.note(now, &Event::Checkpoint);
        }
        self.fresh.clear();
        self.saved = self.next;
        self.checked = now;
    }

    /// What is to be done now and then: a checkpoint when it is due, tidying up.
    pub(crate) fn tick(&mut self, now: i64) {
        self.advance(now);
        if now - self.checked >= self.rules.checkpoint {
            self.checkpoint(now);
        }
        let jobs = &self.jobs;
        self.changes.tidy(jobs.len(), |number, id| jobs.get(&id).is_some_and(|job| job.changed == number));
        if self.finished.len() > 2 * jobs.len() + 4096 {
            self.finished.retain(|(id, serial)| jobs.get(id).is_some_and(|job| job.serial == *serial));
        }
    }

    /// End in order: nothing will be forgotten.
    pub(crate) fn stop(&mut self, now: i64) {
        self.advance(now);
        self.checkpoint(now);
        self.note(now, &Event::Stop);
    }

    /// Break off, forget what was not made safe, be away for a time. What runs goes on meanwhile. Returns how many were forgotten.
    pub(crate) fn crash(&mut self, now: i64, away: i64) -> usize {
        if now > self.clock {
            self.advance_ends(now);
        }
        self.note(now, &Event::Crash(away.unsigned_abs()));
        let fresh = std::mem::take(&mut self.fresh);
        self.broken_off();
        let is_lost = |job: &Job| unit(self.rules.seed, LOSS, job.serial) < self.rules.loss;
        let lost: Vec<_> = fresh.into_iter().filter(|id| self.jobs.get(id).is_some_and(is_lost)).collect();
        for id in &lost {
            self.forget(*id, now);
        }
        self.tidy_up();
        self.crashed = now;
        self.back = now.saturating_add(away);
        lost.len()
    }

    /// While nobody schedules, jobs that run still end.
    fn advance_ends(&mut self, now: i64) {
        while self.ends.peek().is_some_and(|Reverse((time, _))| *time <= now) {
            self.end_next();
        }
        self.clock = self.clock.max(now);
    }

    fn broken_off(&mut self) {
        self.fresh.clear();
        self.totals.crashes += 1;
        if self.rules.reuse_ids {
            self.next = self.saved;
        }
    }

    /// Let nothing that is out of date meet an id that is given again.
    fn tidy_up(&mut self) {
        let jobs = &self.jobs;
        let in_state = |id: &u64, state: State| jobs.get(id).is_some_and(|job| job.state == state);
        self.queue.retain(|id| in_state(id, State::Queued));
        self.ends.retain(|Reverse((_, id))| in_state(id, State::Running));
    }

    /// Whether it was away after this time, or still is.
    pub(crate) fn away_since(&self, time: i64, now: i64) -> bool {
        time < self.crashed || now < self.back
    }

    /// Slots that are free.
    pub(crate) fn free(&self) -> usize {
        self.rules.slots.saturating_sub(self.count(State::Running))
    }

    /// Jobs queued and running.
    pub(crate) fn active(&self) -> usize {
        self.count(State::Queued) + self.count(State::Running)
    }

    /// Jobs in this state.
    pub(crate) fn count(&self, state: State) -> usize {
        self.counts[state as usize]
    }

    /// Slots there are.
    pub(crate) fn slots(&self) -> usize {
        self.rules.slots
    }

    /// The job of this id.
    pub(crate) fn job(&self, id: u64) -> Option<&Job> {
        self.jobs.get(&id)
    }

    /// All jobs of this name.
    pub(crate) fn named(&self, name: &str) -> impl Iterator<Item = &Job> {
        let name: Rc<str> = Rc::from(name);
        let to = Bound::Included((Rc::clone(&name), u64::MAX));
        self.names.range((Bound::Included((name, 0)), to)).filter_map(|(_, id)| self.jobs.get(id))
    }

    /// The ids above this one, sorted.
    pub(crate) fn ids_after(&self, after: u64) -> Vec<u64> {
        let mut ids: Vec<_> = self.jobs.keys().copied().filter(|id| *id > after).collect();
        ids.sort_unstable();
        ids
    }
}
