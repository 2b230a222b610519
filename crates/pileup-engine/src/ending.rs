//! How a load ended.

/// What ended a load. The words are those of `pileup.model.ending.EndingKind`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EndingKind {
    /// It ran to its end.
    #[default]
    Finished,
    /// It was stopped from outside.
    Stopped,
    /// A limit of the suite: operations, errors in a row.
    Limit,
    /// The starts that it replays could not be read.
    Unreadable,
    /// The engine could not go on: no thread, no timer.
    Engine,
}

impl EndingKind {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Finished, Self::Stopped, Self::Limit, Self::Unreadable, Self::Engine];

    /// Its word outside of the engine.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Stopped => "stopped",
            Self::Limit => "limit",
            Self::Unreadable => "unreadable",
            Self::Engine => "engine",
        }
    }
}

/// How a load ended, with the reason for people: empty if it ran to its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ending {
    /// What ended it.
    pub kind: EndingKind,
    /// Why.
    pub why: String,
}

impl Ending {
    /// Of this kind, for this reason.
    #[must_use]
    pub fn new(kind: EndingKind, why: impl Into<String>) -> Self {
        Self { kind, why: why.into() }
    }

    /// Stopped from outside.
    #[must_use]
    pub fn stopped() -> Self {
        Self::new(EndingKind::Stopped, "stopped")
    }

    /// Whether it ended before its end.
    #[must_use]
    pub fn early(&self) -> bool {
        self.kind != EndingKind::Finished
    }
}
