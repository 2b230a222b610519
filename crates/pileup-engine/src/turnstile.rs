//! Threads that share one shard: each asks for its own next start; one of those that wait keeps the time for all (leader and followers).

use std::collections::{HashMap, VecDeque};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use pileup_pacer::{Pacing, TimerFd, clock, tighten_timers};

use crate::shard::Shard;
use crate::start::{Pull, Start};

/// The result of asking without waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Begin this: its client has it in hand.
    Start(Start),
    /// Nothing now.
    Wait,
    /// Nothing any more.
    Over,
}

/// Who waits: a client, or the one who makes new clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Waiter {
    Client(u32),
    Spawner,
}

#[derive(Default)]
struct Desk {
    /// Starts that wait for their client.
    given: HashMap<u32, Start>,
    /// New clients that nobody has made yet.
    wanted: VecDeque<u32>,
    /// Those who wait, with what wakes them.
    waiting: HashMap<Waiter, Arc<Condvar>>,
    /// Who keeps the time, and until when it sleeps.
    leader: Option<Waiter>,
    until: i64,
    /// When the descriptor becomes readable, as last set; none: not at all.
    armed: Option<i64>,
    done: bool,
}

/// How threads get to their starts.
pub struct Turnstile {
    shard: Arc<Shard>,
    pacing: Pacing,
    desk: Mutex<Desk>,
    over: Condvar,
    timer: OnceLock<Option<TimerFd>>,
}

/// Longest wait of a leader at a stretch: bounds the harm of a clock that stands still.
const STRETCH: i64 = 1_000_000_000;

impl Turnstile {
    /// In front of a shard.
    #[must_use]
    pub fn new(shard: Arc<Shard>, pacing: Pacing) -> Self {
        Self { shard, pacing, desk: Mutex::default(), over: Condvar::new(), timer: OnceLock::new() }
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The shard behind it.
    #[must_use]
    pub fn shard(&self) -> &Arc<Shard> {
        &self.shard
    }

    /// Hand out everything that is due; returns what the last pull said.
    fn hand_out(&self, desk: &mut Desk) -> Pull {
        self.hand_out_but(desk, None).1
    }

    /// The same for a client that asks: its own start is not laid down for it.
    fn hand_out_but(&self, desk: &mut Desk, client: Option<u32>) -> (Option<Start>, Pull) {
        let (mine, pull) = self.shard.pull_all(client, |start| Self::give(desk, start));
        if pull == Pull::Done {
            if !desk.done {
                desk.done = true;
                desk.waiting.values().for_each(|who| who.notify_one());
            }
            if self.shard.over() {
                self.over.notify_all();
            }
        }
        (mine, pull)
    }

    fn give(desk: &mut Desk, start: Start) {
        desk.given.insert(start.client, start);
        let who = if start.new {
            desk.wanted.push_back(start.client);
            Waiter::Spawner
        } else {
            Waiter::Client(start.client)
        };
        if let Some(who) = desk.waiting.get(&who) {
            who.notify_one();
        }
    }

    /// Ask without waiting.
    pub fn try_next(&self, client: u32) -> Next {
        let mut desk = self.desk();
        self.look(&mut desk, client)
    }

    fn look(&self, desk: &mut Desk, client: u32) -> Next {
        let given = if desk.given.is_empty() { None } else { desk.given.remove(&client) };
        if let Some(start) = given {
            return Next::Start(self.shard.picked(start));
        }
        let (mine, pull) = self.hand_out_but(desk, Some(client));
        Self::inform(desk, pull);
        match mine {
            Some(start) => Next::Start(start),
            None if pull == Pull::Done => Next::Over,
            None => Next::Wait,
        }
    }

    /// Wait for the next start of this client; none when nothing begins any more.
    pub fn next(&self, client: u32) -> Option<Start> {
        self.wait_for(Waiter::Client(client), |desk| desk.given.remove(&client))
    }

    /// Wait until one more client is wanted; none when no more will be.
    pub fn spawn(&self) -> Option<u32> {
        self.wait_for(Waiter::Spawner, |desk| desk.wanted.pop_front())
    }

    fn wait_for<T>(&self, me: Waiter, take: impl Fn(&mut Desk) -> Option<T>) -> Option<T> {
        let mut desk = self.desk();
        let bell = Arc::new(Condvar::new());
        let mut known = false;
        let found = loop {
            if let Some(found) = take(&mut desk) {
                break Some(found);
            }
            let pull = self.hand_out(&mut desk);
            if let Some(found) = take(&mut desk) {
                Self::inform(&mut desk, pull);
                break Some(found);
            }
            if pull == Pull::Done {
                break None;
            }
            if !known {
                known = true;
                tighten_timers();
                desk.waiting.insert(me, Arc::clone(&bell));
            }
            desk = self.sleep(desk, me, &bell, pull);
        };
        if known {
            desk.waiting.remove(&me);
        }
        if desk.leader == Some(me) {
            desk.leader = None;
            let next = Pull::Wait(desk.until);
            Self::inform(&mut desk, next);
        }
        found
    }

    /// Sleep until something is given; the leader also until something is due. A thread that knows of something earlier than the leader
    /// takes its place, and need not notify it. Right before a precise start the leader sleeps no more: it looks again and again.
    fn sleep<'a>(
        &self,
        mut desk: MutexGuard<'a, Desk>,
        me: Waiter,
        bell: &Condvar,
        pull: Pull,
    ) -> MutexGuard<'a, Desk> {
        let until = due(pull);
        if desk.leader.is_none() || until < desk.until {
            desk.leader = Some(me);
        }
        let mut time = STRETCH;
        if desk.leader == Some(me) {
            desk.until = until;
            time = self.pacing.wake_at(until).saturating_sub(clock::now()).clamp(0, STRETCH);
        }
        let time = Duration::from_nanos(time.unsigned_abs());
        bell.wait_timeout(desk, time).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Make sure that a thread is awake when something is due: the leader, or if there is none, a waiting one.
    fn inform(desk: &mut Desk, pull: Pull) {
        let due = due(pull);
        let who = match desk.leader {
            Some(leader) if due < desk.until => desk.waiting.get(&leader),
            None if due < i64::MAX => desk.waiting.values().next(),
            _ => return,
        };
        // should the leader leave before it sleeps again, it hands this on
        desk.until = due;
        if let Some(who) = who {
            who.notify_one();
        }
    }

    /// Call after an iteration has ended, unless its thread asks for the next one at once: something may be due now that was not before.
    pub fn ended(&self) {
        let mut desk = self.desk();
        let pull = self.hand_out(&mut desk);
        Self::inform(&mut desk, pull);
        if let Some(Some(timer)) = self.timer.get() {
            self.set(timer, &mut desk, pull);
        }
    }

    /// Make the descriptor readable when there is something to take. It is not set again if it is set already.
    fn set(&self, timer: &TimerFd, desk: &mut Desk, pull: Pull) {
        let wanted = match pull {
            _ if !desk.given.is_empty() => Some(0),
            Pull::Wait(until) => Some(self.pacing.wake_at(until)),
            Pull::Done if self.shard.over() => Some(0),
            _ => None,
        };
        if wanted == desk.armed {
            return;
        }
        desk.armed = wanted;
        match wanted {
            Some(at) => timer.arm(at),
            None => timer.disarm(),
        }
    }

    /// Wake everybody: the load was stopped or given up.
    pub fn wake_all(&self) {
        let mut desk = self.desk();
        self.hand_out(&mut desk);
        desk.given.retain(|_, start| !self.shard.has_ended(start));
        desk.waiting.values().for_each(|who| who.notify_one());
        if let Some(Some(timer)) = self.timer.get() {
            desk.armed = Some(0);
            timer.arm(0);
        }
        drop(desk);
        self.over.notify_all();
    }

    /// Block until that time, or until notified that the load may be over.
    pub fn wait_over(&self, time: Duration) {
        let desk = self.desk();
        if !self.shard.over() {
            drop(self.over.wait_timeout(desk, time).unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// A descriptor that is readable when `ready` has something to give or the load is over; -1 when the process has none left.
    pub fn fileno(&self) -> RawFd {
        self.timer().map_or(-1, AsRawFd::as_raw_fd)
    }

    fn timer(&self) -> Option<&TimerFd> {
        self.timer.get_or_init(|| TimerFd::new().ok()).as_ref()
    }

    /// Everything that is due now; never blocks. Arms the descriptor for what comes next.
    pub fn ready(&self) -> Vec<Start> {
        let mut desk = self.desk();
        let timer = self.timer();
        if let Some(timer) = timer
            && desk.armed.is_some_and(|at| at <= clock::now())
        {
            timer.drain();
            desk.armed = None;
        }
        let pull = self.hand_out(&mut desk);
        desk.wanted.clear();
        let mut starts: Vec<Start> = desk.given.drain().map(|(_, start)| start).collect();
        starts.sort_by_key(|start| start.number);
        if let Some(timer) = timer {
            self.set(timer, &mut desk, pull);
        }
        starts
    }
}

/// When something is due that is known by now.
fn due(pull: Pull) -> i64 {
    if let Pull::Wait(until) = pull { until } else { i64::MAX }
}
