//! Why a relay cannot start.

use std::fmt;

/// Why the relay cannot start. Messages have three parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The settings are wrong.
    Settings(String),
    /// The system does not let it: the port is taken, the name of the target is not known.
    System(String),
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Settings(text) | Self::System(text)) = self;
        formatter.write_str(text)
    }
}

impl std::error::Error for Error {}
