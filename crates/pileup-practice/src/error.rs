//! Why a server cannot do what it should.

use std::fmt;

/// Why the server cannot start, or could not do what it should. Messages have three parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The settings are wrong.
    Settings(String),
    /// The system does not let it: the port is taken, the log cannot be written.
    System(String),
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Settings(text) | Self::System(text)) = self;
        formatter.write_str(text)
    }
}

impl std::error::Error for Error {}
