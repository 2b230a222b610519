//! One iteration of a program: its steps with their objects, each timed and recorded.

use std::sync::Arc;
use std::time::Duration;

use pileup_pacer::clock;
use pileup_record::{Outcome, Row};

use crate::checked::Checked;
use crate::client::{Act, Call, Client, Fault, Kind};
use crate::program::{Program, Step};
use crate::progress::Progress;
use crate::shard::{Ended, Shard, Start};

/// A program with the numbers of its operations' names.
pub struct Prepared {
    program: Program,
    /// Number of the operation's name, and whether a later step wants the sum of what it moves.
    notes: Vec<(u32, bool)>,
    /// Whether an iteration is one operation, which then needs one row only.
    single: bool,
    timeout: u64,
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
        Self { program, notes, single, timeout: shard.load().timeout }
    }

    /// What an operation may take.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        Duration::from_nanos(self.timeout)
    }
}

/// The operation under way.
struct Open {
    id: u64,
    name: u32,
    key: u32,
    begun: i64,
}

/// One iteration under way.
pub struct Iteration<'a> {
    shard: &'a Arc<Shard>,
    prepared: &'a Prepared,
    start: Start,
    act: Act,
    open: Option<Open>,
    bytes: u64,
    calls: u32,
    repeats: u32,
    key: &'a mut String,
    progress: &'a Arc<Progress>,
    /// Adler-32 of the object of this number, as it went over the wire.
    sum: Option<(u64, u32)>,
}

impl<'a> Iteration<'a> {
    /// Begin now; `key` is a buffer for names of objects, `progress` that of the client.
    pub fn new(
        shard: &'a Arc<Shard>,
        prepared: &'a Prepared,
        start: Start,
        key: &'a mut String,
        progress: &'a Arc<Progress>,
    ) -> Self {
        let (start, act) = (shard.picked(start), Act::default());
        Self { shard, prepared, start, act, open: None, bytes: 0, calls: 0, repeats: 0, key, progress, sum: None }
    }

    /// Do all steps; the first that does not pass ends the iteration. With `cut` an operation is cut off by its timeout: it is ambiguous
    /// then when a request had left, failed when none had. Without, it ends by itself, and is ambiguous when it took longer.
    pub async fn run<C: Client>(&mut self, client: &mut Checked<C>, cut: bool) {
        let prepared = self.prepared;
        for round in 0..prepared.program.repeat {
            for (step, note) in prepared.program.steps.iter().zip(&prepared.notes) {
                for turn in 0..step.repeat {
                    let number = self.object(step, round * step.repeat + turn);
                    if let Err(fault) = self.operation(client, step, *note, number, cut).await {
                        self.finish(fault);
                        return;
                    }
                }
            }
        }
        self.finish(None);
    }

    /// Do one operation and record it; an error says that the iteration ends with it.
    async fn operation<C: Client>(
        &mut self,
        client: &mut Checked<C>,
        step: &Step,
        (name, sums): (u32, bool),
        number: u64,
        cut: bool,
    ) -> Result<(), Option<Fault>> {
        step.keys.write_name(number, self.key);
        let id = self.begin(name);
        let sum = self.sum.filter(|(of, _)| *of == number).map(|(_, sum)| sum);
        let call = Call { sums, sum, ..Call::new(id, step, number, self.key.as_str()) };
        let result = if cut {
            let done = tokio::time::timeout(self.prepared.timeout(), client.act(&call, &mut self.act)).await;
            done.unwrap_or_else(|_| Err(self.no_answer()))
        } else {
            client.act(&call, &mut self.act).await.and_then(|()| self.in_time())
        };
        if sums {
            self.sum = self.act.sum.map(|sum| (number, sum));
        }
        self.end(result)
    }

    /// Number of the object that a step acts on, the `turn`-th time in this iteration.
    fn object(&self, step: &Step, turn: u64) -> u64 {
        let (start, seed) = (&self.start, self.shard.load().seed);
        self.prepared.program.object(step, seed, start.number, start.client, turn)
    }

    fn begin(&mut self, name: u32) -> u64 {
        let key = self.shard.recorder().string(self.key);
        let single = self.prepared.single;
        let id = if single { self.start.id } else { self.shard.next_id() };
        let begun = if single { self.start.start } else { clock::now() };
        self.progress.begin(name);
        self.act = Act { progress: Some(Arc::clone(self.progress)), ..Act::default() };
        self.open = Some(Open { id, name, key, begun });
        id
    }

    /// Record the operation under way; an error says that the iteration ends with it, without a fault when it was given up.
    fn end(&mut self, result: Result<(), Fault>) -> Result<(), Option<Fault>> {
        self.bytes += self.act.bytes;
        self.calls = self.calls.saturating_add(self.act.calls);
        self.repeats = self.repeats.saturating_add(self.act.repeats);
        if self.prepared.single {
            return result.map_err(Some);
        }
        let (outcome, error) = match &result {
            Ok(()) => (Outcome::Passed, 0),
            Err(fault) => (outcome(fault.kind), self.shard.recorder().string(&fault.message)),
        };
        if let Some(open) = self.open.take() {
            let row = Row {
                id: open.id,
                intended: open.begun,
                start: open.begun,
                first_byte: self.act.first_byte,
                end: clock::now(),
                bytes: self.act.bytes,
                key: open.key,
                error,
                operation: open.name,
                calls: self.act.calls,
                outcome,
                ..Row::default()
            };
            if !self.shard.operation_with(&self.start, row, self.act.repeats) {
                return Err(None); // given up meanwhile: nothing more may be done to the target
            }
        }
        result.map_err(Some)
    }

    fn finish(&mut self, fault: Option<Fault>) {
        let (end, bytes, calls, repeats) = (clock::now(), self.bytes, self.calls, self.repeats);
        let mut ended = Ended { end, bytes, calls, repeats, ..Ended::default() };
        if let Some(fault) = fault {
            ended.outcome = outcome(fault.kind);
            ended.error = fault.message;
        }
        if let Some(open) = self.open.as_ref().filter(|_| self.prepared.single) {
            (ended.operation, ended.key, ended.first_byte) = (open.name, open.key, self.act.first_byte);
        }
        self.shard.finish(&self.start, &ended);
    }

    fn no_answer(&self) -> Fault {
        let limit = words(self.prepared.timeout);
        if self.act.waits {
            return Fault::refused(format!("the server asks to wait, longer than the timeout of {limit} allows"));
        }
        if self.act.sent {
            Fault::ambiguous(format!("no answer within {limit}"))
        } else {
            Fault::failed(format!("could not be sent within {limit}"))
        }
    }

    fn in_time(&self) -> Result<(), Fault> {
        let took = self.open.as_ref().map_or(0, |open| clock::now() - open.begun);
        if took.unsigned_abs() <= self.prepared.timeout {
            return Ok(());
        }
        Err(Fault::ambiguous(format!("took longer than its timeout of {}", words(self.prepared.timeout))))
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
