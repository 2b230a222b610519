//! One load of one case at one place, as those outside of the engine see it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use pileup_pacer::{Pacing, clock};
use pileup_record::{Histogram, Origin, Phase, Recorder, Row, Tally, TallyRow};
use pileup_schedule::Load;

pub use crate::start::{Ended, Start};
pub use crate::turnstile::Next;

use crate::early::early_clients;
use crate::ending::Ending;
use crate::progress::phase_of;
use crate::puller::{DEFAULT_CLIENTS, Streak};
use crate::refusal::PressError;
use crate::room::Room;
use crate::shard::Shard;
use crate::turnstile::Turnstile;

/// How often native workers that go on are looked after.
const LOOK: Duration = Duration::from_millis(50);

/// What happened since the last frame.
#[derive(Debug, Default)]
pub struct Frame {
    /// Part of the case's life now.
    pub phase: Phase,
    /// Iterations begun.
    pub started: u64,
    /// Due and not begun: reported once, when nothing more begins.
    pub missed: u64,
    /// Iterations under way now.
    pub in_flight: u32,
    /// Clients that exist now.
    pub clients: u32,
    /// HDR V2 of scheduling delays in ns; empty when nothing began.
    pub late: Vec<u8>,
    /// When the load is measured, ns since the epoch: as planned, up to an early stop; the end is 0 where the last end of an iteration is it,
    /// both are before it has begun.
    pub measured: (i64, i64),
    /// Counters and histograms by operation and phase.
    pub rows: Vec<TallyRow>,
}

/// One load under way. Exactly one executor pulls from it.
pub struct Press {
    load: Arc<Load>,
    pacing: Pacing,
    /// Given back with the load.
    _room: Room,
    recorder: Arc<Recorder>,
    turnstile: OnceLock<Turnstile>,
    /// Shards of native workers; empty for threads and event loops.
    workers: Mutex<Vec<Arc<Shard>>>,
    /// Counts of shards between frames.
    told: Mutex<(Tally, Histogram)>,
    begun: OnceLock<i64>,
    /// Levels so far, with the times from which they apply, for shards that come later.
    levels: Mutex<Vec<(f64, i64)>>,
    /// What failed one after another, over all shards.
    streak: Arc<Streak>,
    /// An early stop before anything began.
    stopped: Mutex<Option<Ending>>,
    /// Rung when a native worker has ended, or the turnstile is there.
    bell: Condvar,
    /// Native workers begun, and ended.
    begun_workers: AtomicU32,
    ended_workers: AtomicU32,
}

impl Press {
    /// Read a load (JSON, docs/engine.md).
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(recorder: Arc<Recorder>, load: &str) -> Result<Arc<Self>, PressError> {
        let load: Load = serde_json::from_str(load).map_err(|problem| PressError::Unread {
            what: "the load cannot be read",
            problem,
            expected: "JSON as in docs/engine.md (correct it)",
        })?;
        load.check()?;
        Ok(Arc::new(Self {
            pacing: pacing(&load.pacing)?,
            _room: Room::of(u64::from(load.most_clients().unwrap_or(DEFAULT_CLIENTS)).div_ceil(load.shards.max(1))),
            load: Arc::new(load),
            recorder,
            turnstile: OnceLock::new(),
            workers: Mutex::default(),
            told: Mutex::default(),
            begun: OnceLock::new(),
            levels: Mutex::default(),
            streak: Arc::default(),
            stopped: Mutex::default(),
            bell: Condvar::new(),
            begun_workers: AtomicU32::new(0),
            ended_workers: AtomicU32::new(0),
        }))
    }

    /// The load it presses.
    #[must_use]
    pub fn load(&self) -> &Arc<Load> {
        &self.load
    }

    /// How exactly its starts are made.
    pub(crate) fn pacing(&self) -> Pacing {
        self.pacing
    }

    /// Where its rows go.
    #[must_use]
    pub fn recorder(&self) -> &Arc<Recorder> {
        &self.recorder
    }

    /// When the load begins: as requested, else now; the same for all callers.
    pub(crate) fn begin(&self) -> i64 {
        *self.begun.get_or_init(|| if self.load.start == 0 { clock::now() } else { self.load.start })
    }

    /// Numbers of the clients that are to be made and connected before the load begins; native workers make them by themselves.
    #[must_use]
    pub fn early(&self) -> Vec<u32> {
        early_clients(&self.load).into_iter().filter_map(|client| u32::try_from(client).ok()).collect()
    }

    /// Take over the shard of a native worker.
    pub(crate) fn adopt(&self, shard: &Arc<Shard>) {
        shard.share_streak(&self.streak);
        let levels = lock(&self.levels);
        levels.iter().for_each(|(level, at)| shard.set_level(*level, *at));
        lock(&self.workers).push(Arc::clone(shard));
        drop(levels);
        if let Some(ending) = lock(&self.stopped).as_ref() {
            shard.stop(ending);
        }
    }

    /// How threads and event loops get to their starts.
    pub(crate) fn turnstile(&self) -> &Turnstile {
        if let Some(turnstile) = self.turnstile.get() {
            return turnstile;
        }
        let turnstile = self.turnstile.get_or_init(|| {
            let shard = Arc::new(Shard::new(Arc::clone(&self.load), Arc::clone(&self.recorder), self.begin()));
            self.adopt(&shard);
            Turnstile::new(shard, self.pacing)
        });
        self.ring(); // who waits for the end already does so at the turnstile from now on
        turnstile
    }

    /// Another level of a steered load, of the whole of it: clients or iterations per second from `at` on (ns since the epoch; 0: now).
    ///
    /// # Errors
    /// For a load that is not steered, or a level that it cannot have.
    pub fn set_level(&self, level: f64, at: i64) -> Result<(), PressError> {
        let Some(most) = self.load.steered() else {
            return Err(PressError::NotSteered(self.load.name.clone()));
        };
        if !(0.0..=most).contains(&level) {
            return Err(PressError::Level { load: self.load.name.clone(), level, most });
        }
        let at = if at == 0 { clock::now() } else { at };
        let mut levels = lock(&self.levels);
        levels.push((level, at));
        for shard in self.shards() {
            shard.set_level(level, at);
        }
        drop(levels);
        if let Some(turnstile) = self.turnstile.get() {
            turnstile.wake_all();
        }
        Ok(())
    }

    fn shards(&self) -> Vec<Arc<Shard>> {
        lock(&self.workers).clone()
    }

    /// Block until one more client is wanted; none when no more will be.
    pub fn spawn(&self) -> Option<u32> {
        self.turnstile().spawn()
    }

    /// Ask for the next start of a client without waiting; what it gets begins now.
    pub fn try_next(&self, client: u32) -> Next {
        self.turnstile().try_next(client)
    }

    /// Wait for the next start of a client.
    pub fn next(&self, client: u32) -> Option<Start> {
        self.turnstile().next(client)
    }

    /// Say that every iteration from the turnstile is one operation of this name.
    pub fn name_single(&self, name: &str) {
        self.turnstile().shard().name_single(name);
    }

    /// The string of that operation; 0: iterations have operations inside.
    #[must_use]
    pub fn single(&self) -> u32 {
        self.turnstile().shard().single()
    }

    /// A descriptor for event loops: readable when `ready` has something to give or the load is over.
    pub fn fileno(&self) -> i32 {
        self.turnstile().fileno()
    }

    /// Everything that is due now.
    pub fn ready(&self) -> Vec<Start> {
        self.turnstile().ready()
    }

    /// The client has its start in hand: it begins now.
    #[must_use]
    pub fn picked(&self, start: Start) -> Start {
        self.turnstile().shard().picked(start)
    }

    /// Record the end of an iteration that came from the turnstile; the first end counts.
    pub fn finish(&self, start: &Start, ended: &Ended) {
        if self.turnstile().shard().finish(start, ended) {
            self.turnstile().ended();
        }
    }

    /// The same for who asks for its next start at once: nobody else is reported by this end.
    pub fn finish_and_ask(&self, start: &Start, ended: &Ended) {
        self.turnstile().shard().finish(start, ended);
    }

    /// Record an operation inside an iteration that came from the turnstile; false when that has ended.
    pub fn operation(&self, start: &Start, row: Row) -> bool {
        self.turnstile().shard().operation(start, row)
    }

    /// What a detached operation takes over from this iteration.
    #[must_use]
    pub fn origin(&self, start: &Start) -> Origin {
        let load = self.turnstile().shard().load();
        Origin { parent: start.id, case: load.case, client: start.client, target: load.target, phase: start.phase }
    }

    /// Whether an iteration from the turnstile has ended or was given up.
    #[must_use]
    pub fn has_ended(&self, start: &Start) -> bool {
        self.turnstile().shard().has_ended(start)
    }

    /// Whether nothing begins any more and nothing is under way.
    #[must_use]
    pub fn over(&self) -> bool {
        let shards = self.shards();
        let begun = self.begun_workers.load(Ordering::Acquire);
        let gone = begun > 0 && self.ended_workers.load(Ordering::Acquire) == begun;
        // a worker that has not come yet is not over
        gone || shards.len() >= begun.max(1) as usize && shards.iter().all(|shard| shard.over())
    }

    /// How it ended; as finished while it has not.
    #[must_use]
    pub fn ending(&self) -> Ending {
        self.shards().iter().map(|shard| shard.ending()).find(Ending::early).unwrap_or_default()
    }

    /// Begin nothing more; with `now` also give up what is under way.
    pub fn stop(&self, now: bool) {
        self.stop_for(&Ending::stopped(), now);
    }

    /// Whether it was stopped from outside.
    pub(crate) fn is_stopped(&self) -> bool {
        lock(&self.stopped).is_some()
    }

    /// The same, for another reason.
    pub fn stop_for(&self, ending: &Ending, now: bool) {
        lock(&self.stopped).get_or_insert_with(|| ending.clone());
        for shard in self.shards() {
            shard.stop(ending);
            if now {
                shard.abandon();
            }
        }
        if let Some(turnstile) = self.turnstile.get() {
            turnstile.wake_all();
        }
    }

    /// Block up to that time until over; gives up what is still under way a timeout after nothing more began.
    pub fn wait(&self, time: Duration) -> bool {
        self.wait_and(time, || {})
    }

    /// The same; `first` is called before anything is given up, so that it can say what that does.
    pub fn wait_and(&self, time: Duration, first: impl Fn()) -> bool {
        let until = clock::now().saturating_add_unsigned(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        loop {
            self.give_up_late(&first);
            let left = until - clock::now();
            if self.over() || left <= 0 {
                return self.over();
            }
            self.sleep(Duration::from_nanos(left.unsigned_abs()));
        }
    }

    fn sleep(&self, time: Duration) {
        match self.turnstile.get() {
            Some(turnstile) => turnstile.wait_over(time),
            // native workers ring when they end, a turnstile when it is made; in between they are looked after at intervals
            None => {
                let stopped = lock(&self.stopped);
                if !self.over() && self.turnstile.get().is_none() {
                    drop(self.bell.wait_timeout(stopped, time.min(LOOK)).unwrap_or_else(PoisonError::into_inner));
                }
            }
        }
    }

    pub(crate) fn workers_begin(&self, count: u32) {
        self.begun_workers.store(count, Ordering::Release);
    }

    pub(crate) fn worker_ended(&self) {
        self.ended_workers.fetch_add(1, Ordering::AcqRel);
        self.ring();
    }

    /// Wake waiters that do not use the turnstile; the lock prevents a wake-up from being lost between check and wait.
    fn ring(&self) {
        drop(lock(&self.stopped));
        self.bell.notify_all();
    }

    fn give_up_late(&self, first: impl Fn()) {
        let now = clock::now();
        let mut given_up = false;
        for shard in self.shards() {
            if shard.deadline().is_some_and(|deadline| now >= deadline) && !shard.over() {
                first();
                shard.abandon();
                given_up = true;
            }
        }
        if given_up && let Some(turnstile) = self.turnstile.get() {
            turnstile.wake_all();
        }
    }

    /// What happened since the last frame.
    pub fn frame(&self) -> Frame {
        let mut told = lock(&self.told);
        let (tally, late) = &mut *told;
        let mut frame = Frame { phase: self.phase(), ..Frame::default() };
        for shard in self.shards() {
            let part = shard.tell(tally, late);
            frame.started += part.started;
            frame.missed += part.missed;
            frame.in_flight += part.in_flight;
            frame.clients += part.clients;
            frame.measured = together(frame.measured, part.measured);
        }
        if late.count() > 0 {
            frame.late = late.encode();
            late.reset();
        }
        frame.rows = tally.drain();
        frame
    }

    /// Part of the case's life now.
    fn phase(&self) -> Phase {
        if let Some(phase) = self.load.phase.and_then(Phase::of) {
            return phase;
        }
        let since = self.begun.get().map_or(0, |begun| u64::try_from(clock::now() - begun).unwrap_or(0));
        if self.load.end().is_some_and(|end| since >= end) {
            return Phase::CoolDown;
        }
        phase_of(&self.load, self.load.stage(since))
    }
}

/// The measured time of two shards of one load; that of none is (0, 0).
fn together(one: (i64, i64), other: (i64, i64)) -> (i64, i64) {
    if one == (0, 0) {
        return other;
    }
    let until = if one.1 == 0 || other.1 == 0 { 0 } else { one.1.max(other.1) };
    (one.0.min(other.0), until)
}

/// The pacing of that name.
///
/// # Errors
/// For an unknown one.
fn pacing(name: &str) -> Result<Pacing, PressError> {
    match name {
        "coarse" => Ok(Pacing::Coarse),
        "normal" => Ok(Pacing::Normal),
        "precise" => Ok(Pacing::Precise),
        _ => Err(PressError::Pacing(name.to_owned())),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
