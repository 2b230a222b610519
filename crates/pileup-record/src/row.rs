//! The row of the operations table. Field by field as docs/record.md has it; the numbers are frozen.

/// How an iteration or an operation ended.
#[repr(u8)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It did what it should.
    #[default]
    Passed = 0,
    /// The system did the wrong thing.
    Failed = 1,
    /// The system refused.
    Refused = 2,
    /// No answer: it may have happened.
    Ambiguous = 3,
    /// Still going at the end.
    Unfinished = 4,
    /// Its place vanished.
    Lost = 5,
}

/// Part of a case's life.
#[repr(u8)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// What is made before the load.
    SetUp = 0,
    /// The load grows.
    Ramp = 1,
    /// The load is there, the system not yet settled.
    WarmUp = 2,
    /// What enters the figures.
    #[default]
    Measure = 3,
    /// After the measurement.
    CoolDown = 4,
    /// What is removed after the load.
    CleanUp = 5,
}

/// Why it did not pass, where more is known than a sentence. The words are those of `pileup.model.cause.Cause`.
#[repr(u8)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Cause {
    /// Nothing more is known.
    #[default]
    None = 0,
    /// The machine of pileup had no more open files.
    OpenFiles = 1,
    /// The machine of pileup had no more local ports.
    LocalPorts = 2,
    /// Somebody has cancelled the job.
    Cancelled = 3,
    /// The system refused, and the token that it was shown was over.
    TokenExpired = 4,
    /// The system does not know any more what it has accepted.
    Forgotten = 5,
}

impl Cause {
    /// The cause of this number.
    #[must_use]
    pub fn of(number: u8) -> Option<Self> {
        [Self::None, Self::OpenFiles, Self::LocalPorts, Self::Cancelled, Self::TokenExpired, Self::Forgotten]
            .get(usize::from(number))
            .copied()
    }
}

/// Who saw the operation.
#[repr(u8)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Side {
    /// The one who asked.
    #[default]
    Client = 0,
    /// The one who answered.
    Server = 1,
}

impl Outcome {
    /// The outcome of this number.
    #[must_use]
    pub fn of(number: u8) -> Option<Self> {
        [Self::Passed, Self::Failed, Self::Refused, Self::Ambiguous, Self::Unfinished, Self::Lost]
            .get(usize::from(number))
            .copied()
    }
}

impl Phase {
    /// The phase of this number.
    #[must_use]
    pub fn of(number: u8) -> Option<Self> {
        [Self::SetUp, Self::Ramp, Self::WarmUp, Self::Measure, Self::CoolDown, Self::CleanUp]
            .get(usize::from(number))
            .copied()
    }
}

/// One iteration or operation. Times are ns since the epoch; `key`, `error` and `operation` are ids of strings.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Unique in the run.
    pub id: u64,
    /// Id of the iteration; 0: this is an iteration.
    pub parent: u64,
    /// When it should have started.
    pub intended: i64,
    /// When it started.
    pub start: i64,
    /// First byte of the answer; 0: not known.
    pub first_byte: i64,
    /// When it ended.
    pub end: i64,
    /// Bytes of payload moved.
    pub bytes: u64,
    /// The object.
    pub key: u32,
    /// The message, 0 when passed.
    pub error: u32,
    /// Name of the operation.
    pub operation: u32,
    /// Id of the case.
    pub case: u32,
    /// Number of the client in the case.
    pub client: u32,
    /// Requests or system calls.
    pub calls: u32,
    /// Index in the run's targets.
    pub target: u16,
    /// Number of the place.
    pub place: u16,
    /// Who saw it.
    pub side: Side,
    /// By the intended start of the iteration.
    pub phase: Phase,
    /// How it ended.
    pub outcome: Outcome,
    /// Why it did not pass.
    pub cause: Cause,
}

/// Size of a row in the file, bytes.
pub const ROW_SIZE: usize = 88;

/// Names and numpy types of the columns, in order.
pub const COLUMNS: [(&str, &str); 19] = [
    ("id", "<u8"),
    ("parent", "<u8"),
    ("intended", "<i8"),
    ("start", "<i8"),
    ("first_byte", "<i8"),
    ("end", "<i8"),
    ("bytes", "<u8"),
    ("key", "<u4"),
    ("error", "<u4"),
    ("operation", "<u4"),
    ("case", "<u4"),
    ("client", "<u4"),
    ("calls", "<u4"),
    ("target", "<u2"),
    ("place", "<u2"),
    ("side", "u1"),
    ("phase", "u1"),
    ("outcome", "u1"),
    ("cause", "u1"),
];

const _: () = {
    use std::mem::{offset_of, size_of};
    assert!(size_of::<Row>() == ROW_SIZE);
    assert!(offset_of!(Row, id) == 0 && offset_of!(Row, parent) == 8 && offset_of!(Row, intended) == 16);
    assert!(offset_of!(Row, start) == 24 && offset_of!(Row, first_byte) == 32 && offset_of!(Row, end) == 40);
    assert!(offset_of!(Row, bytes) == 48 && offset_of!(Row, key) == 56 && offset_of!(Row, error) == 60);
    assert!(offset_of!(Row, operation) == 64 && offset_of!(Row, case) == 68 && offset_of!(Row, client) == 72);
    assert!(offset_of!(Row, calls) == 76 && offset_of!(Row, target) == 80 && offset_of!(Row, place) == 82);
    assert!(offset_of!(Row, side) == 84 && offset_of!(Row, phase) == 85 && offset_of!(Row, outcome) == 86);
    assert!(offset_of!(Row, cause) == 87 && cfg!(target_endian = "little"));
};

/// The rows as they are in the file.
#[must_use]
pub fn as_bytes(rows: &[Row]) -> &[u8] {
    // SAFETY: `Row` is repr(C) and the assertions above show that its fields fill it without gaps: every byte is initialised.
    unsafe { std::slice::from_raw_parts(rows.as_ptr().cast(), size_of_val(rows)) }
}
