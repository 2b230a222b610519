//! Threads that share one shard: each asks for its own next start; one of those that wait keeps the time for all (leader and followers).

use std::collections::{HashMap, VecDeque};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use pileup_pacer::{TimerFd, clock, tighten_timers};

use crate::shard::{Pull, Shard, Start};

/// What comes of asking without waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Begin this.
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
    /// Who keeps the time.
    leader: Option<Waiter>,
    done: bool,
}

/// The way of threads to their starts.
pub struct Turnstile {
    shard: Arc<Shard>,
    desk: Mutex<Desk>,
    over: Condvar,
    timer: OnceLock<Option<TimerFd>>,
}

/// Longest wait of a leader at a stretch: bounds the harm of a clock that stands still.
const STRETCH: i64 = 1_000_000_000;

impl Turnstile {
    /// In front of a shard.
    #[must_use]
    pub fn new(shard: Arc<Shard>) -> Self {
        Self { shard, desk: Mutex::default(), over: Condvar::new(), timer: OnceLock::new() }
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
        loop {
            match self.shard.pull() {
                Pull::Start(start) => Self::give(desk, start),
                Pull::Done => {
                    if !desk.done {
                        desk.done = true;
                        desk.waiting.values().for_each(|who| who.notify_one());
                    }
                    self.over.notify_all();
                    return Pull::Done;
                }
                other => return other,
            }
        }
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
        if let Some(start) = desk.given.remove(&client) {
            return Next::Start(start);
        }
        let pull = self.hand_out(desk);
        match desk.given.remove(&client) {
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
            desk = Self::sleep(desk, me, &bell, pull);
        };
        if known {
            desk.waiting.remove(&me);
        }
        if desk.leader == Some(me) {
            desk.leader = None;
        }
        Self::hand_on(&desk);
        found
    }

    /// Sleep until something is given; the leader also until something is due.
    fn sleep<'a>(mut desk: MutexGuard<'a, Desk>, me: Waiter, bell: &Condvar, pull: Pull) -> MutexGuard<'a, Desk> {
        if desk.leader.is_none() {
            desk.leader = Some(me);
        }
        let until = match pull {
            Pull::Wait(until) if desk.leader == Some(me) => (until - clock::now()).clamp(0, STRETCH),
            _ => STRETCH,
        };
        let time = Duration::from_nanos(until.unsigned_abs());
        bell.wait_timeout(desk, time).unwrap_or_else(PoisonError::into_inner).0
    }

    /// When nobody keeps the time, wake one of those who wait to do so.
    fn hand_on(desk: &Desk) {
        if desk.leader.is_none()
            && let Some(who) = desk.waiting.values().next()
        {
            who.notify_one();
        }
    }

    /// Call after an iteration has ended: something may be due now that was not before.
    pub fn ended(&self) {
        let desk = self.desk();
        if let Some(who) = desk.leader.and_then(|leader| desk.waiting.get(&leader)) {
            who.notify_one();
        } else {
            Self::hand_on(&desk);
        }
        drop(desk);
        self.over.notify_all();
        self.ring();
    }

    /// Wake everybody: the load was stopped or given up.
    pub fn wake_all(&self) {
        let mut desk = self.desk();
        self.hand_out(&mut desk);
        desk.waiting.values().for_each(|who| who.notify_one());
        drop(desk);
        self.over.notify_all();
        self.ring();
    }

    /// Block until that time, or until somebody says that the load may be over.
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

    fn ring(&self) {
        if let Some(Some(timer)) = self.timer.get() {
            timer.arm(0);
        }
    }

    /// Everything that is due now; never blocks. Arms the descriptor for what comes next.
    pub fn ready(&self) -> Vec<Start> {
        let mut desk = self.desk();
        let timer = self.timer();
        if let Some(timer) = timer {
            timer.drain();
        }
        let pull = self.hand_out(&mut desk);
        desk.wanted.clear();
        let mut starts: Vec<Start> = desk.given.drain().map(|(_, start)| start).collect();
        starts.sort_by_key(|start| start.number);
        match (timer, pull) {
            (Some(timer), Pull::Wait(until)) => timer.arm(until),
            (Some(timer), Pull::Done) if self.shard.over() => timer.arm(0),
            (Some(timer), _) => timer.disarm(),
            (None, _) => {}
        }
        starts
    }
}
