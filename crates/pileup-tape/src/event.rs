//! What a library reports of what happened in it.

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A request came.
    Queued,
    /// A drive was given to it.
    Assigned,
    /// Its cartridge is in the drive.
    Mounted,
    /// Its transfer began.
    Begun,
    /// All of its bytes were read.
    Delivered,
    /// Its cartridge cannot be read.
    Unreadable,
    /// It was cancelled by whoever asked.
    Cancelled,
    /// Its drive went down; it waits again.
    Requeued,
    /// The library has forgotten it.
    Lost,
    /// A drive went down.
    DriveDown,
    /// A drive is there again.
    DriveUp,
}

impl What {
    /// Its word in a log.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Assigned => "assigned",
            Self::Mounted => "mounted",
            Self::Begun => "begun",
            Self::Delivered => "delivered",
            Self::Unreadable => "unreadable",
            Self::Cancelled => "cancelled",
            Self::Requeued => "requeued",
            Self::Lost => "lost",
            Self::DriveDown => "drive down",
            Self::DriveUp => "drive up",
        }
    }
}

/// Something that happened at exactly this time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// ns, of the clock of whoever asks.
    pub time: i64,
    /// What.
    pub what: What,
    /// Number of the request, if it is about one.
    pub request: Option<u64>,
    /// Number of the drive, if one had to do with it.
    pub drive: Option<u32>,
}
