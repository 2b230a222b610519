//! The seam for protocols: what a client must do, its input, and its results.
//!
//! A worker calls, for each virtual client: `open` once, then `act` for every operation, then `close` once. `open` may connect and
//! log in and is not timed; `act` changes state on the target only as its step says; after an `act` that failed the worker goes on
//! with the same client, which repairs its own connection at the next `act`. `Checked` enforces the order.

use std::future::Future;
use std::ops::Deref;
use std::sync::Arc;

use pileup_pacer::clock;
use pileup_record::Cause;

use crate::content::{self, Object};
use crate::program::{Checksum, Step};
use crate::progress::Progress;
use crate::verb::Verb;

/// How an operation ended when it did not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The system did the wrong thing, or could not be reached.
    Failed,
    /// The system refused (403, 429, 503, EACCES, ...).
    Refused,
    /// No answer came after the request was sent: it may have happened.
    Ambiguous,
}

/// Why an operation did not pass. Equal causes have equal messages (no ids, ports or addresses), since messages are grouped by text.
///
/// It is one word, so that the results of operations that pass, which go through many futures, are one too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure(Box<Reason>);

/// What a failure says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The class.
    pub kind: Kind,
    /// The message for people, at most 500 characters.
    pub message: String,
    /// Whether no connection could be made, for a reason at the other end or on the way: the client pauses before its next iteration.
    pub unreachable: bool,
    /// The cause, if more is known than the message.
    pub cause: Cause,
}

impl Deref for Failure {
    type Target = Reason;

    fn deref(&self) -> &Reason {
        &self.0
    }
}

impl Failure {
    /// A failure of this class.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        let mut message = message.into();
        if message.len() > 500 {
            let cut = (0..=500).rev().find(|at| message.is_char_boundary(*at)).unwrap_or(0);
            message.truncate(cut);
        }
        Self(Box::new(Reason { kind, message, unreachable: false, cause: Cause::None }))
    }

    /// The system did the wrong thing.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(Kind::Failed, message)
    }

    /// No connection could be made, for a reason at the other end or on the way.
    pub fn unreachable(message: impl Into<String>) -> Self {
        let mut failure = Self::failed(message);
        failure.0.unreachable = true;
        failure
    }

    /// What it says, to be taken apart.
    #[must_use]
    pub fn into_reason(self) -> Reason {
        *self.0
    }

    /// The same, with the number of a system error: some mean that the machine of pileup has run out of something.
    #[must_use]
    pub fn of_system(mut self, number: Option<i32>) -> Self {
        self.0.cause = match number {
            Some(libc::EMFILE | libc::ENFILE) => Cause::OpenFiles,
            Some(libc::EADDRNOTAVAIL) => Cause::LocalPorts,
            _ => self.0.cause,
        };
        self
    }

    /// The same, of an answer to a client that has shown a token: whether that was over by then.
    #[must_use]
    pub fn of_bearer(mut self, over: bool) -> Self {
        if over && self.kind == Kind::Refused {
            self.0.cause = Cause::TokenExpired;
        }
        self
    }

    /// The client does not support this verb.
    #[must_use]
    pub fn unable(verb: Verb) -> Self {
        let word = verb.traits().word;
        Self::failed(format!(
            "this protocol has no {word} in the engine; expected a client that has it, or another test"
        ))
    }

    /// The system refused.
    pub fn refused(message: impl Into<String>) -> Self {
        Self::new(Kind::Refused, message)
    }

    /// No answer came.
    pub fn ambiguous(message: impl Into<String>) -> Self {
        Self::new(Kind::Ambiguous, message)
    }
}

/// One operation to do now.
#[derive(Debug)]
pub struct Call<'a> {
    /// Id of the operation's row; protocols that can carry it to the server do (HTTP: header `x-pileup-id`, decimal).
    pub id: u64,
    /// What to do.
    pub step: &'a Step,
    /// Number of the object, for known content.
    pub number: u64,
    /// Name of the object, relative to the target.
    pub key: &'a str,
    /// The content of this object, if known; `step.content` is about all objects.
    pub content: Option<Object>,
    /// Whether the client must set `Act.sum` for a later step.
    pub sums: bool,
    /// `Act.sum` of an earlier step for the same object.
    pub sum: Option<u32>,
}

impl<'a> Call<'a> {
    /// A step on object `number` of its keys, which has this name.
    #[must_use]
    pub fn new(id: u64, step: &'a Step, number: u64, key: &'a str) -> Self {
        let content = step.content.as_ref().map(|content| content.object(number));
        Self { id, step, number, key, content, sums: false, sum: None }
    }

    /// The content to compare with the bytes that are read.
    #[must_use]
    pub fn verified(&self) -> Option<Object> {
        self.content.filter(|_| self.step.verify)
    }

    /// The name of the object on the second target of the step; empty without one.
    #[must_use]
    pub fn there(&self) -> String {
        let mut name = String::new();
        if let Some(to) = &self.step.destination {
            to.keys.write_name(self.number, &mut name);
        }
        name
    }

    /// The new name of a rename.
    #[must_use]
    pub fn renamed(&self) -> String {
        self.step.renamed(self.key)
    }

    /// Compare the Adler-32 that the server states with that of what went over the wire before, else with that of the known content.
    ///
    /// # Errors
    /// When they differ.
    pub fn judge_sum(&self, stated: u32) -> Result<(), Failure> {
        let (expected, whose) = match (self.sum, self.content) {
            (Some(sum), _) => (sum, "what went over the wire"),
            (None, Some(object)) => (content::adler32(&object), "what was written"),
            (None, None) => return Ok(()),
        };
        if stated == expected {
            return Ok(());
        }
        Err(Failure::failed(format!("checksum: the adler32 that the server states is not that of {whose}")))
    }
}

/// Why a step that makes something new fails if something exists.
pub const NOT_OURS: &str = "exists already; this run did not make it";
/// How soon after an answer an operation follows it at once, ns: a system call to send takes as long.
const AT_ONCE: i64 = 3_000;
/// Name of the operation of an `OwnWait` for the answer to `Expect: 100-continue`.
pub const EXPECT_WAIT: &str = "expect-wait";
/// Name of the operation of a pause after a connection that could not be made.
pub const RECONNECT_PAUSE: &str = "reconnect-pause";

/// Name of the operation, of no length, that records that a redirect led past the relay before the target.
pub const BESIDE_RELAY: &str = "beside-relay";

/// Time in which a client waited although it could have sent something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnWait {
    /// What it waited for: name of an operation.
    pub what: &'static str,
    /// Begin, ns since the epoch.
    pub begun: i64,
    /// End, ns since the epoch.
    pub ended: i64,
}

/// Most parts of one operation that are recorded; later ones are not.
const PARTS: usize = 4096;

/// A part of an operation that is a row of its own: what a server says that it has moved meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Name of its operation.
    pub what: &'static str,
    /// Begin, ns since the epoch.
    pub begun: i64,
    /// End, ns since the epoch.
    pub ended: i64,
    /// Bytes moved in it.
    pub bytes: u64,
}

/// An answer whose head has come, and not all of its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incomplete {
    /// Bytes of the body that have come.
    pub got: u64,
    /// Bytes that the head promises; none: it does not say.
    pub stated: Option<u64>,
    /// The outcome of an operation that ends in this way: failed if the head says what was done, else ambiguous.
    pub kind: Kind,
}

/// What the client records while it acts; kept also when the operation ends at its timeout.
#[derive(Debug, Default)]
pub struct Act {
    /// When the operation began: `now()` of the engine's clock, ns; 0: not known.
    pub begun: i64,
    /// When the first byte of the answer came: `now()` of the engine's clock, ns; 0: not known.
    pub first_byte: i64,
    /// When the last byte of the answer came, by the same clock, where the client knows that it was the last; 0: now, when it is ready.
    pub ended: i64,
    /// Bytes of payload moved so far; set by `moved`, so that they count when they come.
    pub bytes: u64,
    /// Requests or system calls made so far, repeats among them.
    pub calls: u32,
    /// Of these, how many repeated one that had no answer.
    pub repeats: u32,
    /// Whether a request was sent, so that without an answer it may have happened.
    pub sent: bool,
    /// Whether the server has asked the client to come back later, which it has not done yet.
    pub waits: bool,
    /// Since when the client holds back data that it could send, ns; none: it does not. This time is pileup's, not the system's.
    pub holds: Option<i64>,
    /// Times in which the client held back data that it could send: each becomes a separate operation.
    pub own_waits: Vec<OwnWait>,
    /// Parts of the operation: each becomes a separate operation beside it.
    pub parts: Vec<Part>,
    /// How much of the current answer has come; none: no head of an answer has come.
    pub incomplete: Option<Incomplete>,
    /// Adler-32 of the whole object as it was read or written, noted when `Call.sums` asks for it.
    pub sum: Option<u32>,
    /// Whether the server gave no checksum, which is allowed: nothing was verified.
    pub not_stated: bool,
    /// Who learns of bytes as they come.
    pub progress: Option<Arc<Progress>>,
}

/// A server gives no checksum.
#[must_use]
pub fn no_sum() -> Failure {
    Failure::failed("checksum: the server states no adler32")
}

impl Act {
    /// Begin another operation: only who learns of bytes stays.
    pub(crate) fn renew(&mut self) {
        *self = Self { progress: self.progress.take(), ..Self::default() };
    }

    /// Whether nothing was asked yet in this operation, which began at once after an answer, of which the client had read all by `answered`, ns since
    /// the epoch. Then it need not look at the connection before it sends: what has come since may as well come while the request leaves.
    #[must_use]
    pub fn follows(&self, answered: i64) -> bool {
        self.calls == 0 && (0..AT_ONCE).contains(&(self.begun - answered))
    }

    /// Records something that took no time, as an operation of this name and of no length.
    pub fn noted(&mut self, what: &'static str) {
        let time = clock::now();
        self.own_waits.push(OwnWait { what, begun: time, ended: time });
    }

    /// The total number of bytes that the operation has moved.
    pub fn moved(&mut self, total: u64) {
        self.bytes = total;
        if let Some(progress) = &self.progress {
            progress.note(total);
        }
    }

    /// The same of bytes whose time is known, ns since the epoch: clocks are not free.
    pub fn moved_at(&mut self, total: u64, at: i64) {
        self.bytes = total;
        if let Some(progress) = &self.progress {
            progress.note_at(total, at);
        }
    }

    /// The same of an answer that came as a whole at a time that is known: the operation has ended then, unless it asks for more. Its end counts
    /// the bytes.
    pub fn moved_whole(&mut self, total: u64, at: i64) {
        (self.bytes, self.ended) = (total, at);
    }

    /// Begins a further request of the operation.
    pub fn asks(&mut self) {
        self.ended = 0;
    }

    /// When the operation, whose client is ready with it, has ended, ns since the epoch.
    pub(crate) fn end(&self) -> i64 {
        if self.ended == 0 { clock::now() } else { self.ended }
    }

    /// Records a part of the operation that ends now.
    pub fn part(&mut self, what: &'static str, begun: i64, bytes: u64) {
        if self.parts.len() < PARTS {
            self.parts.push(Part { what, begun, ended: clock::now(), bytes });
        }
    }

    /// The server gives no checksum.
    ///
    /// # Errors
    /// When the step requires one.
    pub fn not_stated(&mut self, step: &Step) -> Result<(), Failure> {
        self.not_stated = step.checksum == Checksum::IfStated;
        if self.not_stated { Ok(()) } else { Err(no_sum()) }
    }

    /// How much of the body of the answer has come.
    pub fn came(&mut self, got: u64) {
        if let Some(incomplete) = &mut self.incomplete {
            incomplete.got = got;
        }
    }
}

/// One virtual client of a protocol. Lives on one thread.
pub trait Client {
    /// Connect and prepare; not timed.
    fn open(&mut self) -> impl Future<Output = Result<(), Failure>>;
    /// Do one operation.
    fn act(&mut self, call: &Call<'_>, act: &mut Act) -> impl Future<Output = Result<(), Failure>>;
    /// Release everything.
    fn close(&mut self) -> impl Future<Output = ()>;
}

/// Makes the clients of one press; shared by all workers.
pub trait Factory: Send + Sync + 'static {
    /// What it makes.
    type Client: Client;
    /// Whether `act` blocks its thread, so that every client needs a thread of its own.
    const BLOCKING: bool;
    /// Longest pause of a client after a connection that could not be made, ns; 0: none. The first is a tenth of it.
    fn reconnect_pause(&self) -> u64 {
        0
    }
    /// Make client number `client`.
    fn make(&self, client: u32) -> Self::Client;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_begins_at_once_and_has_asked_nothing_yet_follows() {
        let follows = |begun, calls, answered| Act { begun, calls, ..Act::default() }.follows(answered);
        let answered = 1_000_000;
        assert!(follows(answered, 0, answered) && follows(answered + AT_ONCE - 1, 0, answered));
        assert!(!follows(answered + AT_ONCE, 0, answered), "it was idle");
        assert!(!follows(answered + 1, 1, answered), "this is a later request of the operation, whenever that is");
        assert!(!follows(answered, 0, answered + 1), "it was used since the operation began");
        assert!(!follows(answered, 0, 0), "it has not answered yet");
    }

    #[test]
    fn an_operation_ends_with_its_last_answer_where_that_is_known_and_else_when_its_client_is_ready() {
        let mut act = Act::default();
        let before = clock::now();
        assert!(act.end() >= before);
        act.moved_whole(2, 5);
        assert_eq!((act.bytes, act.end()), (2, 5));
        act.asks();
        assert!(act.end() >= before, "it asks for more");
    }

    #[test]
    fn what_the_machine_of_the_generator_lacks_is_the_cause_and_nothing_else_is() {
        let of = |number| Failure::failed("too many open files").of_system(number).cause;
        assert_eq!((of(Some(libc::EMFILE)), of(Some(libc::ENFILE))), (Cause::OpenFiles, Cause::OpenFiles));
        assert_eq!(of(Some(libc::EADDRNOTAVAIL)), Cause::LocalPorts);
        assert_eq!((of(Some(libc::ECONNREFUSED)), of(None)), (Cause::None, Cause::None));
    }
}
