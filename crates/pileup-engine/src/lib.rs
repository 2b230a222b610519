//! The engine: the pull state machine, workers, the client trait, noop and posix clients.

pub mod client;
pub mod program;
