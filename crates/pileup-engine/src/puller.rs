//! The pull state machine: which client begins which iteration, and when. No clock, and no I/O except the file of a replay: callers pass
//! the time and what has ended.
//!
//! All executors pull from it: native workers, threads, an event loop. Times are ns since the epoch.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pileup_schedule::{Arrival, Kind, Load, Schedule, Stage, Steps, birth, think, wanted, whole};

use crate::ending::{Ending, EndingKind};

/// An iteration to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begin {
    /// Number of the client over the whole load.
    pub client: u32,
    /// Number of the iteration over the whole load.
    pub number: u64,
    /// When it should begin.
    pub intended: i64,
    /// Part of the load's life.
    pub stage: Stage,
    /// Whether this client has not begun anything before.
    pub new: bool,
}

/// What is to be done now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Begin this iteration now, and ask again.
    Start(Begin),
    /// Nothing before this time, unless something ends.
    Wait(i64),
    /// Nothing before something ends.
    Idle,
    /// Nothing any more.
    Done,
}

/// Most clients of an open load that does not say.
pub const DEFAULT_CLIENTS: u32 = 1000;

enum Shape {
    Closed {
        /// Which client is ready when; for equal times, the first one first. Last: whether the load does not need this client until then.
        ready: BinaryHeap<Reverse<(i64, u64, u32, bool)>>,
        /// How many clients the load does not need now, for a time or permanently.
        away: u32,
        /// Clients in all.
        clients: u64,
        /// Next client to be born, of this shard.
        unborn: u64,
        /// Next iteration, of this shard.
        next: u64,
        /// How many iterations each client of this shard has ended: its think times are drawn by that.
        turns: Vec<u64>,
        /// How many clients there should be, for a load whose level is reported while it goes on.
        steps: Option<Steps>,
        /// Clients that are not wanted, as far as is known.
        parked: Vec<u32>,
    },
    Open {
        arrivals: Box<Schedule>,
        /// Clients that wait; who was used last is used first.
        idle: Vec<u32>,
        /// Clients that pause after a connection that could not be made, with when they are free again.
        pausing: BinaryHeap<Reverse<(i64, u32)>>,
        /// Most clients of this shard.
        most: u32,
    },
}

/// How long after the end of an open load an iteration that was due before may still begin, ns: as late as workers wake on a busy machine.
const WAKING: i64 = 100_000_000;

/// How many iterations have failed one after another, over all shards of a place.
#[derive(Debug, Default)]
pub struct Streak(AtomicU64);

impl Streak {
    /// Count one more; what has failed in a row with it. Shards that all pass only read: no cache line goes from core to core.
    fn after(&self, passed: bool) -> u64 {
        if !passed {
            return self.0.fetch_add(1, Ordering::Relaxed) + 1;
        }
        if self.0.load(Ordering::Relaxed) > 0 {
            self.0.store(0, Ordering::Relaxed);
        }
        0
    }
}

/// The state of one shard of a load.
pub struct Puller {
    load: Load,
    /// Whether iterations are due when their client is there.
    untimed: bool,
    start: i64,
    /// When nothing more begins, ns since the epoch; none: no time ends it.
    end: Option<i64>,
    shape: Shape,
    existing: u32,
    under_way: u32,
    started: u64,
    turn: u64,
    streak: Arc<Streak>,
    failing: bool,
    /// When nothing more began: an early stop, or the first `Done`.
    stopped: Option<i64>,
    ending: Ending,
    missed: Option<u64>,
    /// What was due so long before an early stop may have begun but for that, ns: a client was free.
    waking: i64,
}

impl Puller {
    /// A load that begins at `start`.
    #[must_use]
    pub fn new(load: &Load, start: i64) -> Self {
        let load = load.narrowed();
        let shape = if load.kind == Kind::Open {
            let most = load.share(u64::from(load.clients.unwrap_or(DEFAULT_CLIENTS))).max(1);
            let arrivals = Box::new(Schedule::new(&load));
            let (idle, pausing) = (Vec::new(), BinaryHeap::new());
            Shape::Open { arrivals, idle, pausing, most: u32::try_from(most).unwrap_or(u32::MAX) }
        } else {
            let clients = u64::from(load.most_clients().unwrap_or(1));
            Shape::Closed {
                ready: BinaryHeap::new(),
                away: 0,
                clients,
                unborn: load.shard,
                next: load.shard,
                turns: Vec::new(),
                steps: load.steered().map(|_| Steps::new(u64::from(load.clients.unwrap_or(0)))),
                parked: Vec::new(),
            }
        };
        Self {
            untimed: load.untimed(),
            end: load.end().map(|end| start.saturating_add_unsigned(end)),
            load,
            start,
            shape,
            existing: 0,
            under_way: 0,
            started: 0,
            turn: 0,
            streak: Arc::default(),
            failing: false,
            stopped: None,
            ending: Ending::default(),
            missed: None,
            waking: 0,
        }
    }

    /// Count what fails one after another together with others.
    pub fn share_streak(&mut self, streak: &Arc<Streak>) {
        self.streak = Arc::clone(streak);
    }

    /// What is to be done at this time.
    #[inline]
    pub fn next(&mut self, now: i64) -> Step {
        if self.stopped.is_some() {
            return Step::Done;
        }
        if self.past(now) || self.exhausted() || self.full() {
            self.look_for_failure();
            return self.done(now);
        }
        match self.shape {
            Shape::Closed { .. } => self.next_closed(now),
            Shape::Open { .. } => self.next_open(now),
        }
    }

    /// Whether the time of the load is up. What was due before its end begins for all that where a client was free then: a worker wakes a
    /// little after what it waits for, and the system was not too slow for that.
    fn past(&mut self, now: i64) -> bool {
        let Some(end) = self.end().filter(|end| now >= *end) else { return false };
        match &mut self.shape {
            Shape::Open { arrivals, idle, most, .. } if now < end + WAKING => {
                (idle.is_empty() && self.existing >= *most) || arrivals.peek().is_none()
            }
            _ => true,
        }
    }

    /// Whether everything has begun that the load has.
    fn exhausted(&mut self) -> bool {
        match &mut self.shape {
            Shape::Closed { next, .. } => *next >= self.load.limit(),
            Shape::Open { arrivals, .. } if self.load.steered().is_some() => arrivals.spent(),
            Shape::Open { arrivals, .. } => arrivals.peek().is_none(),
        }
    }

    /// A load whose starts cannot be read any more has not ended normally.
    fn look_for_failure(&mut self) {
        if let Shape::Open { arrivals, .. } = &self.shape
            && let Some(unreadable) = arrivals.unreadable().filter(|_| !self.ending.early())
        {
            self.ending = Ending::new(EndingKind::Unreadable, unreadable.to_string());
        }
    }

    fn full(&mut self) -> bool {
        let Some(most) = self.load.operations.filter(|most| self.started >= self.load.share(*most)) else {
            return false;
        };
        if !self.ending.early() {
            self.ending = Ending::new(EndingKind::Limit, format!("{most} operations"));
        }
        true
    }

    #[inline]
    fn next_closed(&mut self, now: i64) -> Step {
        let end = self.end();
        self.park(now);
        let Shape::Closed { ready, away, clients, unborn, next, steps, .. } = &mut self.shape else {
            return Step::Idle;
        };
        let when = |number| steps.as_ref().map_or_else(|| birth(&self.load, number), |steps| steps.wanted(number, 0));
        let birth = (*unborn < *clients).then(|| when(*unborn)).flatten();
        let born = birth.map(|birth| self.start.saturating_add_unsigned(birth));
        let waiting = ready.peek().map(|Reverse(first)| first.0);
        let new = born.is_some_and(|born| waiting.is_none_or(|ready| born <= ready));
        let Some(intended) = (if new { born } else { waiting }) else {
            // when all have gone for good, nobody else reports on the end
            return end.filter(|_| self.under_way == 0).map_or(Step::Idle, Step::Wait);
        };
        if intended > now {
            return Step::Wait(end.map_or(intended, |end| end.min(intended)));
        }
        let client = if new {
            *unborn += self.load.shards;
            u32::try_from(*unborn - self.load.shards).unwrap_or(u32::MAX)
        } else {
            let (client, was_away) = ready.pop().map_or((0, false), |Reverse((_, _, client, away))| (client, away));
            *away -= u32::from(was_away);
            client
        };
        let number = *next;
        *next += self.load.shards;
        let intended = if self.untimed { now } else { intended };
        let stage = self.load.stage(u64::try_from(intended - self.start).unwrap_or(0));
        self.begin(Begin { client, number, intended, stage, new })
    }

    /// Set clients aside that are ready and not needed now.
    fn park(&mut self, now: i64) {
        let Shape::Closed { ready, away, steps: Some(steps), parked, .. } = &mut self.shape else { return };
        while let Some(Reverse((time, turn, client, was_away))) = ready.peek().copied().filter(|first| first.0.0 <= now)
        {
            let since = u64::try_from(now - self.start).unwrap_or(0);
            let again = steps.wanted(u64::from(client), since);
            if again == Some(since) {
                return;
            }
            ready.pop();
            *away += u32::from(!was_away);
            match again {
                Some(again) => {
                    ready.push(Reverse((self.start.saturating_add_unsigned(again).max(time), turn, client, true)))
                }
                None => parked.push(client),
            }
        }
    }

    /// From `at` on (ns since the epoch) there is another level: clients, rounded, or iterations per second, of the whole load.
    pub fn set_level(&mut self, level: f64, at: i64, now: i64) {
        let since = |time: i64| u64::try_from(time.saturating_sub(self.start)).unwrap_or(0);
        let (time, now) = (since(at), since(now));
        match &mut self.shape {
            Shape::Open { arrivals, .. } => arrivals.set_level(time, level, now),
            Shape::Closed { ready, steps: Some(steps), parked, .. } => {
                steps.set(time, u64::from(whole(level)), now);
                parked.retain(|client| {
                    let again = steps.wanted(u64::from(*client), now);
                    if let Some(again) = again {
                        self.turn += 1;
                        ready.push(Reverse((self.start.saturating_add_unsigned(again), self.turn, *client, true)));
                    }
                    again.is_none()
                });
            }
            Shape::Closed { .. } => {}
        }
    }

    fn next_open(&mut self, now: i64) -> Step {
        let end = self.end();
        let Shape::Open { arrivals, idle, pausing, most } = &mut self.shape else { return Step::Idle };
        while pausing.peek().is_some_and(|Reverse((free, _))| *free <= now) {
            idle.extend(pausing.pop().map(|Reverse((_, client))| client));
        }
        let Some(Arrival { number, time, stage }) = arrivals.peek() else {
            return end.filter(|_| self.under_way == 0).map_or(Step::Idle, Step::Wait);
        };
        let intended = self.start.saturating_add_unsigned(time);
        if intended > now {
            return Step::Wait(intended);
        }
        let known = idle.pop();
        let new = number_of(self.existing, &self.load);
        let Some(client) = known.or((self.existing < *most).then_some(new)) else {
            return pausing.peek().map_or(Step::Idle, |Reverse((free, _))| Step::Wait(*free));
        };
        arrivals.next();
        self.begin(Begin { client, number, intended, stage, new: known.is_none() })
    }

    fn begin(&mut self, begin: Begin) -> Step {
        self.existing += u32::from(begin.new);
        self.under_way += 1;
        self.started += 1;
        Step::Start(begin)
    }

    fn done(&mut self, now: i64) -> Step {
        self.stopped.get_or_insert(now);
        Step::Done
    }

    /// An iteration of this client has ended.
    pub fn finished(&mut self, client: u32, now: i64, passed: bool) {
        self.finished_and_pauses(client, now, passed, 0, 0);
    }

    /// The same for a client that began `late`, ns, and that begins nothing for at least so long, ns: what is due meanwhile goes to others, or
    /// waits. Whether it pauses for that reason, and not for a think time that is longer.
    ///
    /// A think time is shorter by how late its client began. Clients that began late together, one right after the other, would otherwise stay
    /// together, as a burst that grows with each delay.
    #[inline]
    pub fn finished_and_pauses(&mut self, client: u32, now: i64, passed: bool, late: i64, least: u64) -> bool {
        self.under_way = self.under_way.saturating_sub(1);
        let failed_in_a_row = self.streak.after(passed);
        if let Some(most) = self.load.errors_in_a_row.filter(|most| failed_in_a_row >= *most) {
            self.failing = true;
            self.stop(now, &Ending::new(EndingKind::Limit, format!("{most} errors in a row")));
        }
        self.turn += 1;
        let past = self.end().is_some_and(|end| now >= end);
        match &mut self.shape {
            Shape::Closed { ready, turns, away, steps, parked, .. } => {
                let place = usize::try_from(u64::from(client) / self.load.shards).unwrap_or(0);
                if turns.len() <= place {
                    turns.resize(place + 1, 0);
                }
                let pause = think(&self.load, u64::from(client), turns[place]);
                turns[place] += 1;
                let thinks = pause >= least;
                let made_up = u64::try_from(late).unwrap_or(0);
                let free = now.saturating_add_unsigned(pause.saturating_sub(made_up).max(least));
                let since = u64::try_from(free.saturating_sub(self.start)).unwrap_or(0);
                let again = match steps {
                    Some(steps) => steps.wanted(u64::from(client), since),
                    None => wanted(&self.load, u64::from(client), since),
                };
                if steps.is_some() && again.is_none() {
                    parked.push(client);
                }
                *away += u32::from(again != Some(since));
                if let Some(again) = again {
                    let time = if again == since { free } else { self.start.saturating_add_unsigned(again) };
                    ready.push(Reverse((time, self.turn, client, again != since)));
                }
                return !thinks;
            }
            // who is free only after the end begins nothing more
            Shape::Open { .. } if past => return false,
            Shape::Open { pausing, .. } if least > 0 => {
                pausing.push(Reverse((now.saturating_add_unsigned(least), client)));
            }
            Shape::Open { idle, .. } => idle.push(client),
        }
        true
    }

    /// Whether so many in a row did not pass that the whole load must end, other shards too.
    #[must_use]
    pub fn failing(&self) -> bool {
        self.failing
    }

    /// Update the time when no client asks for work: the load may have ended.
    pub fn look(&mut self, now: i64) {
        if self.stopped.is_none() && self.past(now) {
            self.done(now);
        }
    }

    /// Begin nothing more; the first ending stays.
    pub fn stop(&mut self, now: i64, ending: &Ending) {
        if self.stopped.is_none() {
            self.stopped = Some(now);
            ending.clone_into(&mut self.ending);
            if let Shape::Open { idle, most, .. } = &self.shape
                && (!idle.is_empty() || self.existing < *most)
            {
                self.waking = WAKING;
            }
        }
    }

    /// The load as this shard has it.
    #[must_use]
    pub fn load(&self) -> &Load {
        &self.load
    }

    /// When nothing more begins, if the load has a time.
    #[must_use]
    pub fn end(&self) -> Option<i64> {
        self.end
    }

    /// When it is measured, ns since the epoch: as planned, up to an early stop; the end is 0 where the last end of an iteration is it.
    #[must_use]
    pub fn measured(&self) -> (i64, i64) {
        let spans = self.load.measured();
        let (from, to) = (spans.first().map_or(0, |span| span.0), spans.last().map_or(u64::MAX, |span| span.1));
        let planned = if to == u64::MAX { 0 } else { self.start.saturating_add_unsigned(to) };
        let early = self.stopped.filter(|stopped| planned == 0 || *stopped < planned);
        let until = match early {
            Some(stopped) if self.ending.early() => stopped,
            Some(_) if self.by_number() => 0,
            _ => planned,
        };
        (self.start.saturating_add_unsigned(from), until)
    }

    /// Whether its number of iterations has ended it, not its time.
    fn by_number(&self) -> bool {
        self.load.times.is_some() || self.load.kind == Kind::Once
    }

    /// When the load began.
    #[must_use]
    pub fn start(&self) -> i64 {
        self.start
    }

    /// When nothing more began: none while something may.
    #[must_use]
    pub fn stopped(&self) -> Option<i64> {
        self.stopped
    }

    /// How it ended; as finished while it has not.
    #[must_use]
    pub fn ending(&self) -> &Ending {
        &self.ending
    }

    /// Iterations begun and not ended.
    #[must_use]
    pub fn under_way(&self) -> u32 {
        self.under_way
    }

    /// Clients that have begun something and that the load has not done without since.
    #[must_use]
    pub fn clients(&self) -> u32 {
        match self.shape {
            Shape::Closed { away, .. } => self.existing.saturating_sub(away),
            Shape::Open { .. } => self.existing,
        }
    }

    /// Iterations begun.
    #[must_use]
    pub fn started(&self) -> u64 {
        self.started
    }

    /// What was due in the measured time and not begun; known once nothing more begins, 0 before.
    pub fn missed(&mut self) -> u64 {
        let (Some(stopped), None) = (self.stopped, self.missed) else { return self.missed.unwrap_or(0) };
        let Shape::Open { arrivals, .. } = &mut self.shape else { return 0 };
        let last = u64::try_from(stopped - self.waking - self.start).unwrap_or(0);
        *self.missed.insert(arrivals.measured_until(last))
    }
}

/// Number over the whole load of a shard's k-th client.
fn number_of(k: u32, load: &Load) -> u32 {
    u32::try_from(u64::from(k) * load.shards + load.shard).unwrap_or(u32::MAX)
}
