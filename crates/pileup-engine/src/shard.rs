//! One shard of a load with everything that belongs to it: the puller, what is under way, the record and the tally. Behind one lock, which
//! native workers never contend.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pileup_pacer::clock;
use pileup_record::{Beside, Histogram, ITERATION, Local, Outcome, Phase, Recorder, Row, Side, Tally};
use pileup_schedule::Load;

use crate::client::RECONNECT_PAUSE;
use crate::ending::Ending;
use crate::progress::{Come, Moved, Progress, Spans, phase_of, within};
use crate::puller::{Begin, Puller, Step, Streak};
use crate::reconnect::Reconnect;
use crate::start::{Ended, Pull, Start};
use crate::under_way::UnderWay;

/// Extra time for an operation that ends right at its timeout to report itself, ns.
const MOMENT: u64 = 100_000_000;

/// Under the lock.
pub struct State {
    puller: Puller,
    reconnect: Reconnect,
    local: Local,
    tally: Tally,
    late: Histogram,
    under_way: UnderWay,
    iteration: u32,
    /// What the last frame reported.
    told_started: u64,
    told_missed: u64,
}

/// One shard of a load.
pub struct Shard {
    load: Arc<Load>,
    recorder: Arc<Recorder>,
    phase: Option<Phase>,
    spans: Spans,
    /// Whether iterations are due when their client is there, as those of `once` and `times` are.
    untimed: bool,
    /// String id of the operation that an iteration is; 0 when it has several.
    single: AtomicU32,
    /// Operations of an iteration: each may take the timeout.
    operations: AtomicU64,
    /// Whether something was moved since the last frame.
    moved: Moved,
    state: Mutex<State>,
}

/// The counters of a shard since the last frame.
#[derive(Default)]
pub struct Told {
    /// Iterations begun.
    pub started: u64,
    /// Due in the measured time and not begun, known at the end.
    pub missed: u64,
    /// Under way now.
    pub in_flight: u32,
    /// Clients that exist now.
    pub clients: u32,
    /// When it is measured, ns since the epoch; the end is 0 where the last end of an iteration is it.
    pub measured: (i64, i64),
}

impl Shard {
    /// A shard that begins at `start`.
    #[must_use]
    pub fn new(load: Arc<Load>, recorder: Arc<Recorder>, start: i64) -> Self {
        let puller = Puller::new(&load, start);
        let load = Arc::new(puller.load().clone());
        let untimed = load.untimed();
        let state = State {
            puller,
            reconnect: Reconnect::new(&load),
            local: recorder.local(),
            tally: Tally::new(),
            late: Histogram::new(),
            under_way: UnderWay::default(),
            iteration: recorder.name(ITERATION),
            told_started: 0,
            told_missed: 0,
        };
        let phase = load.phase.and_then(Phase::of);
        let at = |time: u64| start.saturating_add_unsigned(time);
        let spans = load.measured().into_iter().map(|(begin, end)| (at(begin), at(end))).collect();
        Self {
            load,
            recorder,
            phase,
            spans,
            untimed,
            single: AtomicU32::new(0),
            operations: AtomicU64::new(1),
            moved: Moved::default(),
            state: Mutex::new(state),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The load as this shard has it.
    #[must_use]
    pub fn load(&self) -> &Load {
        &self.load
    }

    /// Where its rows go.
    #[must_use]
    pub fn recorder(&self) -> &Arc<Recorder> {
        &self.recorder
    }

    /// Say that every iteration is one operation of this name.
    pub fn name_single(&self, name: &str) {
        self.single.store(self.recorder.name(name), Ordering::Relaxed);
    }

    /// The string of the operation that every iteration is; 0: iterations have operations inside.
    #[must_use]
    pub fn single(&self) -> u32 {
        self.single.load(Ordering::Relaxed)
    }

    /// Say how many operations an iteration has: each may take the timeout.
    pub fn set_operations(&self, operations: u64) {
        self.operations.store(operations.max(1), Ordering::Relaxed);
    }

    /// Count what fails one after another together with other shards.
    pub fn share_streak(&self, streak: &Arc<Streak>) {
        self.state().puller.share_streak(streak);
    }

    /// Ask for work now.
    pub fn pull(&self) -> Pull {
        let mut state = self.state();
        let now = clock::now();
        match state.puller.next(now) {
            Step::Start(begin) => Pull::Start(self.begin(&mut state, &begin, now)),
            Step::Wait(until) => Pull::Wait(until),
            Step::Idle => Pull::Idle,
            Step::Done => Pull::Done,
        }
    }

    /// Ask for all that may begin now: each start goes to `give`, but that of the client that asks, which it gets in hand.
    pub fn pull_all(&self, asks: Option<u32>, mut give: impl FnMut(Start)) -> (Option<Start>, Pull) {
        let mut state = self.state();
        let now = clock::now();
        let (mut mine, mut given) = (None, false);
        let pull = loop {
            match state.puller.next(now) {
                Step::Start(begin) => {
                    let start = self.begin(&mut state, &begin, now);
                    if asks == Some(start.client) {
                        mine = Some(start);
                    } else {
                        given = true;
                        give(start);
                    }
                }
                Step::Wait(until) => break Pull::Wait(until),
                Step::Idle => break Pull::Idle,
                Step::Done => break Pull::Done,
            }
        };
        let now = if given { clock::now() } else { now }; // serving the others took its time
        (mine.map(|start| self.in_hand(&mut state, start, now)), pull)
    }

    /// Record the end of an iteration, if one is given, as `finish` does, and ask for what may begin now up to the start of the client that asks,
    /// which it gets in hand: those before go to `give`.
    ///
    /// # Errors
    /// What there is instead of a start for it.
    pub fn pull_for(
        &self,
        asks: u32,
        ended: Option<(&Start, &Ended)>,
        mut give: impl FnMut(Start),
    ) -> Result<Start, Pull> {
        let mut state = self.state();
        if let Some((start, ended)) = ended {
            self.finish_in(&mut state, start, ended);
        }
        let mut now = clock::now();
        loop {
            match state.puller.next(now) {
                Step::Start(begin) => {
                    let start = self.begin(&mut state, &begin, now);
                    if start.client == asks {
                        self.note_lateness(&mut state, &start);
                        return Ok(start);
                    }
                    give(start);
                    now = clock::now(); // serving the others took its time
                }
                Step::Wait(until) => return Err(Pull::Wait(until)),
                Step::Idle => return Err(Pull::Idle),
                Step::Done => return Err(Pull::Done),
            }
        }
    }

    #[inline]
    fn begin(&self, state: &mut State, begin: &Begin, now: i64) -> Start {
        let start = Start {
            id: state.local.next_id(),
            client: begin.client,
            number: begin.number,
            intended: begin.intended.min(now),
            start: now,
            phase: self.phase.unwrap_or_else(|| phase_of(&self.load, begin.stage)),
            new: begin.new,
        };
        state.under_way.begin(self.place_of(begin.client), start);
        start
    }

    /// What a client of the engine writes its bytes to as they come.
    pub fn progress(&self, client: u32) -> Arc<Progress> {
        let make = || Progress::new(Arc::clone(&self.spans), Arc::clone(&self.moved));
        Arc::clone(self.state().under_way.progress_or(self.place_of(client), make))
    }

    /// Part of the load's life at a moment: what ends after the time of the load ends in its cool-down.
    #[inline]
    fn phase_at(&self, moment: i64) -> Phase {
        if let Some(phase) = self.phase {
            return phase;
        }
        if within(&self.spans, moment) {
            return self.measured_phase();
        }
        let (Some((begin, _)), Some((_, end))) = (self.spans.first(), self.spans.last()) else { return Phase::Measure };
        if moment >= *end {
            return Phase::CoolDown;
        }
        let start = begin.saturating_sub_unsigned(self.load.measured().first().map_or(0, |span| span.0));
        phase_of(&self.load, self.load.stage(u64::try_from(moment - start).unwrap_or(0)))
    }

    fn measured_phase(&self) -> Phase {
        if self.load.trial { Phase::WarmUp } else { Phase::Measure }
    }

    /// Count bytes that have come, of an operation and of its iteration; `now` says when those did that came outside of measured time.
    #[inline]
    fn count(&self, state: &mut State, place: usize, operation: u32, come: Come, now: i64) {
        if come == Come::default() {
            return;
        }
        let measured = self.phase.unwrap_or_else(|| self.measured_phase());
        let beside = match come.beside {
            0 => measured, // nothing to look up a phase for
            _ => match self.phase_at(now) {
                phase if self.phase.is_none() && phase == self.measured_phase() => Phase::Ramp,
                phase => phase,
            },
        };
        let single = self.single.load(Ordering::Relaxed) != 0;
        for (phase, bytes) in [(measured, come.measured), (beside, come.beside)] {
            if single {
                state.tally.moved(operation, true, phase, bytes);
            } else {
                state.tally.moved(operation, false, phase, bytes);
                state.tally.moved(state.iteration, true, phase, bytes);
            }
        }
        *state.under_way.counted(place) += come.measured + come.beside;
    }

    /// Count what an operation that has ended in a phase has noted of what it moved; returns those of its bytes that are to be counted in that
    /// phase: what came at its end, and what it has noted since the last frame, where that is of the same phase.
    fn count_noted(&self, state: &mut State, place: usize, row: &Row, ended: Phase) -> u64 {
        let Some(progress) = state.under_way.progress(place) else { return row.bytes };
        let (mut come, noted) = (progress.take(), progress.noted());
        let mut rest = row.bytes.saturating_sub(noted);
        if ended == self.phase.unwrap_or(self.measured_phase()) {
            rest += std::mem::take(&mut come.measured);
        }
        self.count(state, place, row.operation, come, row.end);
        rest
    }

    fn beside(&self, row: &Row, ended: Phase, repeated: u32, moved: u64) -> Beside {
        let took = row.end.saturating_sub(row.start);
        let timed_out = row.outcome != Outcome::Passed && took >= i64::try_from(self.load.timeout).unwrap_or(i64::MAX);
        Beside { ended, timed_out, repeated, moved }
    }

    /// The client has its start in hand: it begins now. What passed since it was given out (waking a thread, opening a connection) is
    /// lateness of ours, not service of the system.
    #[must_use]
    pub fn picked(&self, start: Start) -> Start {
        let mut state = self.state();
        self.in_hand(&mut state, start, clock::now())
    }

    fn in_hand(&self, state: &mut State, start: Start, now: i64) -> Start {
        let intended = if self.untimed { now } else { start.intended };
        let start = Start { start: now, intended, ..start };
        self.note_lateness(state, &start);
        if let Some(known) = state.under_way.known(self.place_of(start.client), start.id) {
            *known = start;
        }
        start
    }

    fn note_lateness(&self, state: &mut State, start: &Start) {
        if start.phase == self.measured_phase() {
            state.late.record(start.start - start.intended, 1);
        }
    }

    fn place_of(&self, client: u32) -> usize {
        usize::try_from(u64::from(client) / self.load.shards).unwrap_or(0)
    }

    /// Record the end of an iteration; one that has ended already, or was given up, stays as it is.
    pub fn finish(&self, start: &Start, ended: &Ended) -> bool {
        self.finish_in(&mut self.state(), start, ended)
    }

    #[inline]
    fn finish_in(&self, state: &mut State, start: &Start, ended: &Ended) -> bool {
        let place = self.place_of(start.client);
        let Some(known) = state.under_way.end(place, start.id) else { return false };
        self.write_end(state, start, place, ended);
        let pause = state.reconnect.after(start.client, place, ended.unreachable);
        let (passed, late) = (ended.outcome == Outcome::Passed, known.start - known.intended);
        if state.puller.finished_and_pauses(start.client, ended.end, passed, late, pause) && pause > 0 {
            let (name, begun) = (self.recorder.name(RECONNECT_PAUSE), ended.end);
            let free = begun.saturating_add_unsigned(pause);
            let end = state.puller.end().map_or(free, |end| free.min(end.max(begun)));
            let row = Row { intended: begun, start: begun, end, operation: name, ..Row::default() };
            self.write_beside(state, start, row);
        }
        true
    }

    /// Record a part of an operation, or a time that pileup itself let pass in an iteration or behind it: an operation without calls.
    pub fn part(&self, start: &Start, row: Row) {
        self.write_beside(&mut self.state(), start, row);
    }

    fn write_beside(&self, state: &mut State, start: &Start, row: Row) {
        let blank = self.blank(start);
        let (case, client, target, place, phase) = (blank.case, blank.client, blank.target, blank.place, blank.phase);
        let row = Row { id: state.local.next_id(), parent: start.id, case, client, target, place, phase, ..row };
        state.tally.add_with(&row, &self.beside(&row, self.phase_at(row.end), 0, row.bytes));
        state.local.push(row);
    }

    /// Make clients pause after a connection that could not be made: at most this long, ns; 0: no pause.
    pub fn set_reconnect_pause(&self, most: u64) {
        self.state().reconnect.set(most);
    }

    #[inline]
    fn write_end(&self, state: &mut State, start: &Start, place: usize, ended: &Ended) {
        let row = Row {
            id: start.id,
            intended: start.intended,
            start: start.start,
            first_byte: ended.first_byte,
            end: ended.end,
            bytes: ended.bytes,
            key: ended.key,
            error: state.local.string(&ended.error),
            operation: if ended.operation == 0 { state.iteration } else { ended.operation },
            calls: ended.calls,
            outcome: ended.outcome,
            cause: ended.cause,
            ..self.blank(start)
        };
        let phase = self.phase_at(row.end);
        let rest = if self.single.load(Ordering::Relaxed) == 0 {
            // its operations are counted; what the test says beyond them came at the end
            ended.bytes.saturating_sub(*state.under_way.counted(place))
        } else {
            self.count_noted(state, place, &row, phase)
        };
        state.tally.add_with(&row, &self.beside(&row, phase, ended.repeats, rest));
        state.local.push(row);
    }

    /// Record an operation inside an iteration; `row` has its id (0: a new one), times, name, object, bytes, calls, outcome. False when
    /// the iteration has ended meanwhile: nothing is recorded then.
    pub fn operation(&self, start: &Start, row: Row) -> bool {
        self.operation_with(start, row, 0)
    }

    /// The same for an operation some of whose calls were repeats.
    pub fn operation_with(&self, start: &Start, row: Row, repeats: u32) -> bool {
        let mut state = self.state();
        let at = self.place_of(start.client);
        if state.under_way.known(at, start.id).is_none() {
            return false;
        }
        let id = if row.id == 0 { state.local.next_id() } else { row.id };
        let blank = self.blank(start);
        let (case, client, target, place, phase) = (blank.case, blank.client, blank.target, blank.place, blank.phase);
        let row = Row { id, parent: start.id, case, client, target, place, phase, ..row };
        let ended = self.phase_at(row.end);
        let rest = self.count_noted(&mut state, at, &row, ended);
        let inside = self.single.load(Ordering::Relaxed) == 0;
        let beside = self.beside(&row, ended, repeats, if inside { rest } else { 0 });
        let iteration = if inside { state.iteration } else { row.operation };
        state.tally.moved(iteration, true, beside.ended, rest);
        *state.under_way.counted(at) += rest;
        state.tally.add_with(&row, &beside);
        state.local.push(row);
        true
    }

    fn blank(&self, start: &Start) -> Row {
        Row {
            case: self.load.case,
            client: start.client,
            target: self.load.target,
            place: self.load.place,
            side: Side::Client,
            phase: start.phase,
            ..Row::default()
        }
    }

    /// An id for a row.
    pub fn next_id(&self) -> u64 {
        self.state().local.next_id()
    }

    /// Whether this iteration has ended or was given up.
    pub fn has_ended(&self, start: &Start) -> bool {
        self.state().under_way.known(self.place_of(start.client), start.id).is_none()
    }

    /// Another level of the whole load from `at` on.
    pub fn set_level(&self, level: f64, at: i64) {
        self.state().puller.set_level(level, at, clock::now());
    }

    /// Begin nothing more.
    pub fn stop(&self, ending: &Ending) {
        self.state().puller.stop(clock::now(), ending);
    }

    /// Record everything under way as unfinished.
    pub fn abandon(&self) {
        let mut state = self.state();
        let now = clock::now();
        for start in state.under_way.end_all() {
            let error = "still going at the end".to_owned();
            let operation = self.single.load(Ordering::Relaxed);
            let ended = Ended { end: now, outcome: Outcome::Unfinished, error, operation, ..Ended::default() };
            self.write_end(&mut state, &start, self.place_of(start.client), &ended);
            state.puller.finished(start.client, now, false);
        }
    }

    /// Whether nothing begins any more and nothing is under way.
    pub fn over(&self) -> bool {
        let state = self.state();
        state.puller.stopped().is_some() && state.puller.under_way() == 0
    }

    /// When iterations under way are given up: once nothing begins, each operation of the last one may take its timeout, and a moment.
    pub fn deadline(&self) -> Option<i64> {
        let mut state = self.state();
        state.puller.look(clock::now());
        let stopped = state.puller.stopped()?;
        let last = state.under_way.last_start();
        let most = self.load.timeout.saturating_mul(self.operations.load(Ordering::Relaxed)).saturating_add(MOMENT);
        Some(last.max(stopped).saturating_add_unsigned(most))
    }

    /// How the whole load must end, if this shard has seen too many errors in a row.
    pub fn failing(&self) -> Option<Ending> {
        let state = self.state();
        state.puller.failing().then(|| state.puller.ending().clone())
    }

    /// How it ended; as finished while it has not.
    pub fn ending(&self) -> Ending {
        self.state().puller.ending().clone()
    }

    /// Count what operations under way have moved. Clients wait meanwhile: where nothing has moved nothing is looked at.
    fn count_under_way(&self, state: &mut State) {
        let now = clock::now();
        for place in 0..state.under_way.places() {
            let Some(progress) = state.under_way.moving(place) else { continue };
            let (come, operation) = (progress.take(), progress.operation());
            self.count(state, place, operation, come, now);
        }
    }

    /// Return what happened since the last call: counters, and histograms in `tally` and `late`.
    pub fn tell(&self, tally: &mut Tally, late: &mut Histogram) -> Told {
        let mut state = self.state();
        if self.moved.swap(false, Ordering::Relaxed) {
            self.count_under_way(&mut state);
        }
        tally.absorb(&mut state.tally);
        late.add(&state.late);
        state.late.reset();
        let (started, missed) = (state.puller.started(), state.puller.missed());
        let told = Told {
            started: started - state.told_started,
            missed: missed - state.told_missed,
            in_flight: state.puller.under_way(),
            clients: state.puller.clients(),
            measured: state.puller.measured(),
        };
        (state.told_started, state.told_missed) = (started, missed);
        told
    }
}
