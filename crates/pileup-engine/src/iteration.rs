//! One iteration of a program: its steps with their objects, each timed and recorded.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use pileup_pacer::clock;
use pileup_record::{Cause, Outcome, REMEMBERED, Recorder, Row};

use crate::checked::{Checked, noted_within};
use crate::client::{Act, Call, Client, EXPECT_WAIT, Failure, Incomplete, Kind, OwnWait};
use crate::deadline::Deadline;
use crate::program::{Program, Step};
use crate::progress::Progress;
use crate::puller::DEFAULT_CLIENTS;
use crate::shard::Shard;
use crate::start::{Ended, Start};

/// Operation in place of a `checksum` for which the server gives none.
const NOT_STATED: &str = "checksum-not-stated";

/// A program with the numbers of its operations' names.
pub struct Prepared {
    program: Program,
    /// Number of the operation's name, and whether a later step wants the sum of what it moves.
    notes: Vec<(u32, bool)>,
    /// Whether an iteration is one operation, which then needs one row only.
    single: bool,
    timeout: u64,
    /// Most clients of the load at a time.
    clients: u32,
}

impl Prepared {
    /// For a shard's recorder and timeout.
    #[must_use]
    pub fn new(program: Program, shard: &Shard) -> Self {
        let steps = program.steps.iter().enumerate();
        let notes = steps.map(|(k, step)| (shard.recorder().name(&step.operation), program.sums(k))).collect();
        shard.set_operations(program.operations());
        let single = program.steps.len() == 1 && program.operations() == 1;
        if single {
            shard.name_single(&program.steps[0].operation);
        }
        let clients = shard.load().most_clients().unwrap_or(DEFAULT_CLIENTS);
        Self { program, notes, single, timeout: shard.load().timeout, clients }
    }

    /// The timeout of an operation.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        Duration::from_nanos(self.timeout)
    }
}

/// What a client keeps from one iteration to the next.
pub struct Hand {
    name: Name,
    progress: Arc<Progress>,
    /// What it records of the operation under way.
    act: Act,
    deadline: Deadline,
}

impl Hand {
    /// Of a client that has done nothing yet; `progress` is what it notes its bytes in.
    #[must_use]
    pub fn new(progress: Arc<Progress>) -> Self {
        let act = Act { progress: Some(Arc::clone(&progress)), ..Act::default() };
        Self { name: Name::default(), progress, act, deadline: Deadline::default() }
    }

    /// Whether its client has waited for the system since this was asked last.
    pub fn has_waited(&mut self) -> bool {
        self.deadline.has_waited()
    }
}

/// The name of the object that a client acts on.
#[derive(Default)]
struct Name {
    text: String,
    /// Its number in the record.
    number: u32,
    /// Which step and which of its objects it is of; none: its number may not be used again.
    of: Option<(usize, u64)>,
}

impl Name {
    /// Make it that of an object of step `place`.
    fn set(&mut self, place: usize, step: &Step, object: u64, recorder: &Recorder) {
        if self.of == Some((place, object)) {
            return;
        }
        step.keys.write_name(object, &mut self.text);
        self.number = recorder.string(&self.text);
        // texts with larger numbers are known only to rows right behind them
        self.of = (self.number as usize <= REMEMBERED).then_some((place, object));
    }
}

/// The operation under way.
struct Open {
    id: u64,
    name: u32,
    begun: i64,
    /// When its client was ready with it; 0: it is not.
    ended: i64,
}

/// One iteration under way.
pub struct Iteration<'a> {
    shard: &'a Arc<Shard>,
    prepared: &'a Prepared,
    start: Start,
    open: Option<Open>,
    bytes: u64,
    calls: u32,
    repeats: u32,
    hand: &'a mut Hand,
    /// Adler-32 of the object of this number, as it went over the wire.
    sum: Option<(u64, u32)>,
}

impl<'a> Iteration<'a> {
    /// Of a start that its client has in hand.
    pub fn new(shard: &'a Arc<Shard>, prepared: &'a Prepared, start: Start, hand: &'a mut Hand) -> Self {
        hand.act.renew();
        Self { shard, prepared, start, open: None, bytes: 0, calls: 0, repeats: 0, hand, sum: None }
    }

    /// Do all steps; the first that does not pass ends the iteration. With `cut` an operation ends at its timeout: it is ambiguous if a
    /// request was sent, else failed. Without, it ends by itself, and is ambiguous if it took longer. Returns the iteration as it has begun and
    /// ended, to be recorded by the shard.
    #[must_use]
    pub async fn run<C: Client>(&mut self, client: &mut Checked<C>, cut: bool) -> (Start, Ended) {
        let prepared = self.prepared;
        for round in 0..prepared.program.repeat {
            for (place, step) in prepared.program.steps.iter().enumerate() {
                for turn in 0..step.repeat {
                    let number = self.object(step, round * step.repeat + turn);
                    if let Err(failure) = self.operation(client, place, number, cut).await {
                        return self.ended(failure);
                    }
                }
            }
        }
        self.ended(None)
    }

    /// Do one operation and record it; an error says that the iteration ends with it.
    async fn operation<C: Client>(
        &mut self,
        client: &mut Checked<C>,
        place: usize,
        number: u64,
        cut: bool,
    ) -> Result<(), Option<Failure>> {
        let (step, (name, sums)) = (&self.prepared.program.steps[place], self.prepared.notes[place]);
        self.hand.name.set(place, step, number, self.shard.recorder());
        let (id, begun) = self.begin(name);
        let sum = self.sum.filter(|(of, _)| *of == number).map(|(_, sum)| sum);
        let call = Call { sums, sum, ..Call::new(id, step, number, self.hand.name.text.as_str()) };
        let done = if cut {
            let until = begun.saturating_add_unsigned(self.prepared.timeout);
            self.hand.deadline.within(begun, until, pin!(client.act(&call, &mut self.hand.act))).await
        } else {
            Some(client.act(&call, &mut self.hand.act).await)
        };
        let ended = if done.is_some() { self.hand.act.end() } else { clock::now() };
        let result = match done {
            None => Err(self.no_answer()),
            Some(result) if cut => noted_within(&mut self.hand.act, begun, ended, result),
            Some(result) => {
                noted_within(&mut self.hand.act, begun, ended, result).and_then(|()| self.in_time(ended - begun))
            }
        };
        if let Some(open) = &mut self.open {
            open.ended = ended;
        }
        if sums {
            self.sum = self.hand.act.sum.map(|sum| (number, sum));
        }
        self.end(result)
    }

    /// Number of the object that a step acts on, the `turn`-th time in this iteration.
    fn object(&self, step: &Step, turn: u64) -> u64 {
        let (start, seed, clients) = (&self.start, self.shard.load().seed, self.prepared.clients);
        self.prepared.program.object(step, seed, start.number, start.client, turn, clients)
    }

    /// Begin an operation; returns its id, and when that was.
    #[inline]
    fn begin(&mut self, name: u32) -> (u64, i64) {
        let single = self.prepared.single;
        let id = if single { self.start.id } else { self.shard.next_id() };
        let begun = if single { self.start.start } else { clock::now() };
        self.hand.progress.begin(name);
        if self.open.is_some() {
            self.hand.act.renew();
        }
        self.hand.act.begun = begun;
        self.open = Some(Open { id, name, begun, ended: 0 });
        (id, begun)
    }

    /// Record the operation under way; an error says that the iteration ends with it, without a failure when it was given up.
    #[inline]
    fn end(&mut self, result: Result<(), Failure>) -> Result<(), Option<Failure>> {
        self.bytes += self.hand.act.bytes;
        self.calls = self.calls.saturating_add(self.hand.act.calls);
        self.repeats = self.repeats.saturating_add(self.hand.act.repeats);
        let own = self.record_own_waits();
        self.record_parts();
        if let Some(open) = self.open.as_mut().filter(|_| self.hand.act.not_stated) {
            open.name = self.shard.recorder().name(NOT_STATED); // so that the others are those that were verified
        }
        let own = if result.is_ok() { own } else { 0 };
        if self.prepared.single {
            self.start.start += own;
            return result.map_err(Some);
        }
        let (outcome, error, cause) = match &result {
            Ok(()) => (Outcome::Passed, 0, Cause::None),
            Err(failure) => (outcome(failure.kind), self.shard.recorder().string(&failure.message), failure.cause),
        };
        if let Some(open) = &self.open {
            let row = Row {
                id: open.id,
                intended: open.begun,
                start: open.begun + own,
                first_byte: self.hand.act.first_byte,
                end: open.ended,
                bytes: self.hand.act.bytes,
                key: self.hand.name.number,
                error,
                operation: open.name,
                calls: self.hand.act.calls,
                outcome,
                cause,
                ..Row::default()
            };
            if !self.shard.operation_with(&self.start, row, self.hand.act.repeats) {
                return Err(None); // given up meanwhile: nothing more may be done to the target
            }
        }
        result.map_err(Some)
    }

    /// Record the times in which this operation was held back here, as separate operations; return their total, ns.
    /// A passed operation begins that much later: its service time is that of the system, its response time includes the wait.
    fn record_own_waits(&mut self) -> i64 {
        if self.hand.act.own_waits.is_empty() {
            return 0;
        }
        let mut all = 0;
        for wait in std::mem::take(&mut self.hand.act.own_waits) {
            let operation = self.shard.recorder().name(wait.what);
            let (intended, start, end) = (wait.begun, wait.begun, wait.ended);
            self.shard.part(&self.start, Row { intended, start, end, operation, ..Row::default() });
            all += end - start;
        }
        all
    }

    /// Record the parts of this operation as operations beside it.
    fn record_parts(&mut self) {
        if self.hand.act.parts.is_empty() {
            return;
        }
        for part in std::mem::take(&mut self.hand.act.parts) {
            let operation = self.shard.recorder().name(part.what);
            let (intended, start, end, key) = (part.begun, part.begun, part.ended, self.hand.name.number);
            self.shard
                .part(&self.start, Row { intended, start, end, operation, key, bytes: part.bytes, ..Row::default() });
        }
    }

    #[inline]
    fn ended(&mut self, failure: Option<Failure>) -> (Start, Ended) {
        let single = self.open.as_ref().filter(|_| self.prepared.single);
        let end = single.map_or_else(clock::now, |open| open.ended);
        let mut ended = Ended { end, bytes: self.bytes, calls: self.calls, repeats: self.repeats, ..Ended::default() };
        if let Some(reason) = failure.map(Failure::into_reason) {
            ended.outcome = outcome(reason.kind);
            ended.unreachable = reason.unreachable;
            ended.cause = reason.cause;
            ended.error = reason.message;
        }
        if let Some(open) = single {
            (ended.operation, ended.key, ended.first_byte) =
                (open.name, self.hand.name.number, self.hand.act.first_byte);
        }
        (self.start, ended)
    }

    fn no_answer(&mut self) -> Failure {
        let limit = words(self.prepared.timeout);
        if self.hand.act.waits {
            return Failure::refused(format!("the server asks to wait, longer than the timeout of {limit} allows"));
        }
        if let Some(begun) = self.hand.act.holds.take() {
            self.hand.act.own_waits.push(OwnWait { what: EXPECT_WAIT, begun, ended: clock::now() });
            return Failure::ambiguous(format!("the body was held back for {limit}: no word on Expect came"));
        }
        if let Some(incomplete) = self.hand.act.incomplete {
            return Failure::new(incomplete.kind, cut_short(&limit, incomplete));
        }
        if self.hand.act.sent {
            Failure::ambiguous(format!("no answer within {limit}"))
        } else {
            Failure::failed(format!("could not be sent within {limit}"))
        }
    }

    fn in_time(&self, took: i64) -> Result<(), Failure> {
        if took.unsigned_abs() <= self.prepared.timeout {
            return Ok(());
        }
        Err(Failure::ambiguous(format!("took longer than its timeout of {}", words(self.prepared.timeout))))
    }
}

/// The message for an answer that was incomplete at the timeout. The share is in tenths, so that similar faults have one text; the row has
/// the bytes.
fn cut_short(limit: &str, Incomplete { got, stated, .. }: Incomplete) -> String {
    match stated {
        Some(stated) => {
            let tenths = u128::from(got) * 10 / u128::from(stated.max(1));
            format!("the answer was incomplete after {limit}: {} % of {stated} bytes had come", tenths.min(10) * 10)
        }
        None => format!("the answer was incomplete after {limit}"),
    }
}

/// A time for messages.
fn words(nanoseconds: u64) -> String {
    let time = Duration::from_nanos(nanoseconds);
    if time.as_millis() < 1000 { format!("{} ms", time.as_millis()) } else { format!("{} s", time.as_secs_f64()) }
}

const fn outcome(kind: Kind) -> Outcome {
    match kind {
        Kind::Failed => Outcome::Failed,
        Kind::Refused => Outcome::Refused,
        Kind::Ambiguous => Outcome::Ambiguous,
    }
}
