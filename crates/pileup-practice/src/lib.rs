//! Practice targets: servers of known truth. What a load generator measures against them can be compared with what they say that they did.
//!
//! A request waits in FIFO order for one of `threads` slots and holds it for the service time drawn for its number. Then the slot is free
//! again, and the bodies of requests and answers move at the `bandwidth` of the whole server, taking turns in pieces. `accept` runs the
//! thread, `server` leads a request through, `core` is what both share, `wire` stamps the first and last byte, `log` writes it down: all that is common. Of the
//! storage are `storage`, `methods`, `conditions`, `range`, `store`, `dav`, `pool`; `api` and `problem` are of its pool and of the tape library; of S3 is `s3` with what is below it; of the batch system is `batch` with what is below it, of the token
//! issuer `issuer`, of the tape library `tape`. `bearer` lets in whoever has a token, `jwt` signs and verifies those.

mod accept;
mod answer;
mod api;
mod batch;
mod bearer;
mod body;
mod conditions;
mod core;
mod dav;
mod error;
mod fault;
mod front;
mod issuer;
mod jwt;
mod lines;
mod log;
mod methods;
mod pipe;
mod pool;
mod problem;
mod range;
mod rate;
mod report;
mod s3;
mod server;
mod settings;
mod slots;
mod storage;
mod store;
mod tape;
mod tls;
mod wire;

use std::fmt;
use std::io;
use std::path::Path;
use std::rc::Rc;
use std::sync::mpsc::sync_channel;
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

use tokio::sync::watch;

pub use error::Error;

use crate::batch::Batch;
use crate::core::Core;
use crate::front::Front;
use crate::issuer::Issuer;
use crate::log::{Log, Writer};
use crate::s3::S3;
use crate::server::Work;
use crate::settings::Settings;
use crate::storage::Storage;
use crate::tape::Tape;

/// Open files for which there is room before the first connection.
const ROOM: u64 = 16_384;

/// The thread of a server, and the one that writes its log.
type Threads = (JoinHandle<Result<(), Error>>, Option<Writer>);

/// A running practice target. Ends with [`Server::stop`], or when dropped.
pub struct Server {
    what: &'static str,
    port: u16,
    stop: watch::Sender<bool>,
    threads: Mutex<Option<Threads>>,
}

impl Server {
    /// Start a storage with these settings (JSON, see `model/practice.py`). It answers when this returns.
    ///
    /// # Errors
    /// [`Error::Settings`] when something in them is wrong, [`Error::System`] when the port is taken or the log cannot be made.
    pub fn start(settings_json: &str) -> Result<Self, Error> {
        let settings = Settings::read(settings_json)?;
        Self::run(settings.front.clone(), move |core| Ok(Storage::new(core, settings)))
    }

    /// Start a batch system with these settings (JSON, see `model/practice.py`). It answers when this returns.
    ///
    /// # Errors
    /// As [`Server::start`]; [`Error::System`] also for a state that cannot be read.
    pub fn batch(settings_json: &str) -> Result<Self, Error> {
        let settings = batch::Settings::read(settings_json)?;
        Self::run(settings.front.clone(), move |_| Batch::open(settings))
    }

    /// Start a token issuer with these settings (JSON, see `model/practice.py`). It answers when this returns.
    ///
    /// # Errors
    /// As [`Server::start`]; [`Error::System`] also when its keys cannot be written.
    pub fn issuer(settings_json: &str) -> Result<Self, Error> {
        let settings = issuer::Settings::read(settings_json)?;
        Self::run(settings.front.clone(), move |_| Issuer::open(settings))
    }

    /// Start a tape library with these settings (JSON, see `model/practice.py`). It answers when this returns.
    ///
    /// # Errors
    /// As [`Server::start`]; [`Error::System`] also when its events cannot be written.
    pub fn tape(settings_json: &str) -> Result<Self, Error> {
        let settings = tape::Settings::read(settings_json)?;
        Self::run(settings.front.clone(), move |core| Tape::open(core, settings))
    }

    /// Start an S3 storage with these settings (JSON, see `model/practice.py`). It answers when this returns.
    ///
    /// # Errors
    /// As [`Server::start`].
    pub fn s3(settings_json: &str) -> Result<Self, Error> {
        let settings = s3::Settings::read(settings_json)?;
        Self::run(settings.front.clone(), move |core| Ok(S3::new(core, settings)))
    }

    fn run<W: Work>(
        front: Front,
        make: impl FnOnce(&Rc<Core>) -> Result<W, Error> + Send + 'static,
    ) -> Result<Self, Error> {
        let what = front.what;
        let (lines, writer) = match &front.log {
            Some(path) => {
                log::start(path).map(|(lines, writer)| (Some(lines), Some(writer))).map_err(|e| no_log(path, &e))?
            }
            None => (None, None),
        };
        open_files();
        let (stop, stopped) = watch::channel(false);
        let (tell, told) = sync_channel(1);
        let body = move || {
            let log = Log::new(lines);
            let result = accept::run(&front, make, &log, &stopped, &tell);
            log.flush();
            result
        };
        let failed = |error: &dyn fmt::Display| {
            Error::System(format!("{what} cannot start: {error}; expected a thread (end other programs)"))
        };
        let thread =
            std::thread::Builder::new().name("practice".to_owned()).spawn(body).map_err(|error| failed(&error))?;
        let port = told.recv().map_err(|error| failed(&error))??;
        Ok(Self { what, port, stop, threads: Mutex::new(Some((thread, writer))) })
    }

    /// The port it listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Answer what is under way (for at most 5 s), write the log and the state out and end. Later calls do nothing.
    ///
    /// # Errors
    /// When one of them could not be written completely.
    pub fn stop(&self) -> Result<(), Error> {
        let threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((thread, writer)) = threads else { return Ok(()) };
        self.stop.send_replace(true);
        let broken =
            |what: &str| Error::System(format!("{what}; expected it to end in good order (report this as a bug)"));
        let what = self.what;
        let ended = thread.join().map_err(|_| broken(&format!("{what} broke off")))?;
        let written = writer.map_or(Ok(Ok(())), JoinHandle::join);
        written.map_err(|_| broken(&format!("the log of {what} broke off")))?.map_err(|error| {
            Error::System(format!("the log of {what} is not complete: {error}; expected room for it (free some)"))
        })?;
        ended
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.stop();
    }
}

fn no_log(path: &Path, error: &io::Error) -> Error {
    Error::System(format!(
        "the log {} cannot be made: {error}; expected a file in a folder that is there (correct log)",
        path.display()
    ))
}

/// Let the process have as many connections as the system allows it, and make room for what a load has as a rule.
fn open_files() {
    let most = pileup_pacer::allow_files(u64::MAX);
    let _ = pileup_pacer::make_room(most.min(ROOM)); // without it, too, connections are taken
}
