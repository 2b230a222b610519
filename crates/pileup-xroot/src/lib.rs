//! The xroot protocol (root://, roots://): a client of the engine that speaks it itself, one session for each virtual client.
//!
//! `address` names, `target` settings and credentials, `frame` the bytes of questions and answers,
//! `wire` bytes on a connection, `session` a connection that is logged in, `client` asking with redirects and waits,
//! `file` reads and writes, `listing` and `check` what is in answers, `ops` the verbs, `plane` the same for whoever waits, `error` the words
//! for what went wrong, `probe` all parsers for a fuzzer.

mod address;
pub mod check;
mod client;
mod error;
mod file;
pub mod frame;
mod input;
pub mod listing;
mod ops;
pub mod plane;
pub mod probe;
mod session;
mod target;
mod wire;

use std::sync::Arc;

use pileup_engine::client::Factory;
use pileup_net::Unusable;

pub use client::XrootClient;
pub use error::Trouble;

use crate::target::Target;

/// Makes the clients of one target.
pub struct XrootFactory {
    target: Arc<Target>,
}

impl XrootFactory {
    /// Read the settings (JSON) and the files they name.
    ///
    /// # Errors
    /// What is wrong, in three parts. Secrets are never part of it.
    pub fn new(settings: &str) -> Result<Self, Unusable> {
        Ok(Self { target: Arc::new(Target::new(settings)?) })
    }
}

impl Factory for XrootFactory {
    type Client = XrootClient;
    const BLOCKING: bool = false;

    fn reconnect_pause(&self) -> u64 {
        self.target.reconnect_pause
    }

    fn make(&self, client: u32) -> XrootClient {
        XrootClient::new(Arc::clone(&self.target), client)
    }
}
