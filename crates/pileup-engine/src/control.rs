//! The other seam for protocols: a session for preparation, checks and clean-up, not for measurements. It waits for each answer.

use crate::client::Failure;

/// What is known of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// Bytes.
    pub size: u64,
    /// Bits, as the protocol has them.
    pub flags: u32,
    /// When it was changed, seconds since the epoch.
    pub changed: i64,
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Class and words.
    pub failure: Failure,
    /// What is known for certain about it.
    pub found: Found,
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        Self { failure, found: Found::Unknown }
    }
}

/// What a server says to be at a name, where that is the problem.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Found {
    /// That is not it.
    #[default]
    Unknown,
    /// Nothing.
    Nothing,
    /// Something, where nothing should be.
    Something,
}

/// One session: connects with the first call, and again when the connection has gone. Names are relative to the target.
#[allow(clippy::missing_errors_doc)] // each may fail by whatever the server says
pub trait Control: Send {
    /// Log in, unless that was done.
    fn connect(&mut self) -> Result<(), Problem>;
    /// Attributes of an object.
    fn stat(&mut self, key: &str) -> Result<Attributes, Problem>;
    /// Names in a folder with their attributes.
    fn list(&mut self, key: &str) -> Result<Vec<(Vec<u8>, Attributes)>, Problem>;
    /// Bytes of a file from `offset` on, to its end or so many.
    fn read(&mut self, key: &str, offset: u64, length: Option<u64>) -> Result<Vec<u8>, Problem>;
    /// Write a whole file, with the folders above it when asked; `new`: where nothing is yet.
    fn write(&mut self, key: &str, data: &[u8], make_path: bool, new: bool) -> Result<(), Problem>;
    /// Remove a file or an empty folder.
    fn delete(&mut self, key: &str) -> Result<(), Problem>;
    /// Make a folder; with `parents` also those above it, and it may be there already.
    fn mkdir(&mut self, key: &str, parents: bool) -> Result<(), Problem>;
    /// Give an object another name.
    fn rename(&mut self, key: &str, to: &str) -> Result<(), Problem>;
    /// Send a query of this protocol, by its number.
    fn query(&mut self, code: u16, argument: &str) -> Result<Vec<u8>, Problem>;
    /// Have files brought from tape, or dropped, with the options of this protocol: one name in each line, as the server has them.
    fn prepare(&mut self, _options: u8, _more: u16, _lines: &str) -> Result<Vec<u8>, Problem> {
        Err(Failure::failed("this protocol has no requests for files on tape").into())
    }
    /// The checksum that the server has of a file: its kind and its digits.
    fn checksum(&mut self, key: &str) -> Result<(String, String), Problem>;
    /// End the session; the next call begins a new one.
    fn close(&mut self);
}
