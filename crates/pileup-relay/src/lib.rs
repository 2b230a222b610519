//! A TCP relay of known distance: what goes through it takes a latency each way, moves at a bandwidth, and may be reset or left hanging.
//!
//! A connection is accepted at once, by the kernel, and is charged for that: what its client sends counts as sent one round trip after the accept,
//! and the target sees the connection when it would have over the distance. `accept` runs the thread, `carry` leads a connection through, `local` is what they share,
//! `flow` is one way of it, `wire` reads and passes on, `link` the bandwidth that all share, `trace` what is written down of it, `tls` distinguishes a full handshake from a resumed one.
//!
//! It is no network: each half is a TCP connection of its own, so windows grow and losses are made up for as on the two halves.

mod accept;
mod carry;
mod counts;
mod error;
mod flow;
mod link;
mod local;
mod path;
mod settings;
mod tls;
mod trace;
mod wire;

use std::fmt;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use tokio::sync::watch;

pub use counts::{Counted, Late};
pub use error::Error;
pub use path::Path;
pub use trace::{Connection, Handshake, Message};

use crate::local::Shared;
use crate::settings::Settings;

/// Open files for which there is room before the first connection.
const ROOM: u64 = 32_768;

/// A running relay. Ends with [`Relay::stop`], or when dropped.
pub struct Relay {
    port: u16,
    shared: Arc<Shared>,
    stop: watch::Sender<bool>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Relay {
    /// Start one with these settings (JSON, see `model/path.py`). It accepts when this returns.
    ///
    /// # Errors
    /// [`Error::Settings`] when something in them is wrong, [`Error::System`] when the port is taken or the target's name is not known.
    pub fn start(settings_json: &str) -> Result<Self, Error> {
        let settings = Settings::read(settings_json)?;
        let most = pileup_pacer::allow_files(u64::MAX);
        let _ = pileup_pacer::make_room(most.min(ROOM)); // without it, too, connections are taken
        let shared = Arc::new(Shared::new(&settings)?);
        let (stop, stopped) = watch::channel(false);
        let (tell, told) = sync_channel(1);
        let thread = {
            let shared = Arc::clone(&shared);
            let body = move || accept::run(&settings, &shared, stopped, &tell);
            std::thread::Builder::new().name("relay".to_owned()).spawn(body)
        };
        let failed = |error: &dyn fmt::Display| {
            Error::System(format!("the relay cannot start: {error}; expected a thread (end other programs)"))
        };
        let thread = thread.map_err(|error| failed(&error))?;
        let port = told.recv().map_err(|error| failed(&error))??;
        Ok(Self { port, shared, stop, thread: Mutex::new(Some(thread)) })
    }

    /// The port it listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Take another path (JSON) from now on, for what comes on open connections, too.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn change(&self, path_json: &str) -> Result<(), Error> {
        self.shared.change(Path::read(path_json)?);
        Ok(())
    }

    /// What has gone through so far.
    #[must_use]
    pub fn counts(&self) -> Counted {
        self.shared.counts.now()
    }

    /// The connections of which something was written down since the last call, oldest first: those that have ended, and with `open` copies of the others.
    #[must_use]
    pub fn trace(&self, open: bool) -> Vec<Connection> {
        self.shared.book.take(open)
    }

    /// Reset what is open and end. Later calls do nothing.
    pub fn stop(&self) {
        self.stop.send_replace(true);
        if let Some(thread) = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stop();
    }
}
