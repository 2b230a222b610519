//! A job and its states.

use std::rc::Rc;

use serde::{Deserialize, Serialize};

/// Where a job is.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    Queued,
    Running,
    Completed,
    Failed,
    Cancelled,
}

/// Who somebody is who does not say.
pub(crate) const NOBODY: &str = "nobody";

/// All of the states, in the order in which they are counted.
pub(crate) const STATES: [State; 5] =
    [State::Queued, State::Running, State::Completed, State::Failed, State::Cancelled];

impl State {
    /// As in answers and in the journal.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// The state of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        STATES.into_iter().find(|state| state.name() == name)
    }

    /// Whether nothing more will happen to it.
    pub(crate) fn is_final(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }
}

/// What a client wants to be done.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    pub(crate) name: String,
    /// ns.
    #[serde(default)]
    pub(crate) duration: u64,
    #[serde(default)]
    pub(crate) user: Option<String>,
    /// Id of a delegation.
    #[serde(default)]
    pub(crate) delegation: Option<u64>,
}

/// A job. Times in ns since the epoch, 0: not yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Job {
    pub(crate) id: u64,
    /// Number of the submission in the life of the system; ids may be used again, this is not.
    pub(crate) serial: u64,
    pub(crate) name: Rc<str>,
    pub(crate) user: Rc<str>,
    pub(crate) state: State,
    pub(crate) submitted: i64,
    pub(crate) started: i64,
    pub(crate) ended: i64,
    /// How long it runs, ns.
    pub(crate) duration: u64,
    /// Number of its last change.
    pub(crate) changed: u64,
}

/// A job in an answer.
#[derive(Serialize)]
pub(crate) struct Told<'a> {
    id: u64,
    name: &'a str,
    user: &'a str,
    state: State,
    submitted: i64,
    started: i64,
    ended: i64,
    reason: &'static str,
}

impl Job {
    /// For an answer. `free`: whether there is a free slot.
    pub(crate) fn told(&self, free: bool) -> Told<'_> {
        Told {
            id: self.id,
            name: &self.name,
            user: &self.user,
            state: self.state,
            submitted: self.submitted,
            started: self.started,
            ended: self.ended,
            reason: match self.state {
                State::Queued if free => "waits for the next cycle of the scheduler",
                State::Queued => "waits for a free slot",
                State::Failed => "exit code 1",
                State::Cancelled => "cancelled",
                State::Running | State::Completed => "",
            },
        }
    }
}
