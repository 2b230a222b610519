//! What is said of an iteration: that it begins, how it ended, and what there is instead.

use pileup_record::{Cause, Outcome, Phase};

/// An iteration that has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// Id of its row.
    pub id: u64,
    /// Number of the client over the whole load.
    pub client: u32,
    /// Number of the iteration over the whole load.
    pub number: u64,
    /// When it should have begun, ns since the epoch.
    pub intended: i64,
    /// When it began.
    pub start: i64,
    /// Part of the case's life.
    pub phase: Phase,
    /// Whether this client has not begun anything before.
    pub new: bool,
}

/// How an iteration ended.
#[derive(Clone, Debug, Default)]
pub struct Ended {
    /// When, ns since the epoch.
    pub end: i64,
    /// How.
    pub outcome: Outcome,
    /// The message; empty when passed.
    pub error: String,
    /// Why it did not pass.
    pub cause: Cause,
    /// Bytes of payload moved.
    pub bytes: u64,
    /// Requests or system calls made.
    pub calls: u32,
    /// Of these, how many repeated one that had no answer.
    pub repeats: u32,
    /// Whether it ended because no connection could be made: its client pauses.
    pub unreachable: bool,
    /// First byte of the answer; 0: not known. Only for an iteration that is its own operation.
    pub first_byte: i64,
    /// String id of the operation's name; 0: `iteration`.
    pub operation: u32,
    /// String id of the object.
    pub key: u32,
}

/// The result of asking for work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pull {
    /// Begun: to be done by its client.
    Start(Start),
    /// Nothing before this time, unless something ends.
    Wait(i64),
    /// Nothing before something ends.
    Idle,
    /// Nothing any more.
    Done,
}
