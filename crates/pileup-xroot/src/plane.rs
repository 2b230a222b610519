//! The control plane: the same client for a caller that waits, with answers instead of verdicts.

use std::time::Duration;

use pileup_engine::client::{Act, Factory, Failure};
use pileup_engine::program::Range;
use pileup_net::Unusable;
use tokio::runtime::Runtime;

use crate::XrootFactory;
use crate::check::Check;
use crate::client::{Mode, XrootClient};
use crate::error::Trouble;
use crate::file::Pace;
use crate::frame::Attributes;

/// Bytes of a request.
const CHUNK: u64 = 4 << 20;

/// A client with a loop of its own; one call at a time.
pub struct Plane {
    runtime: Runtime,
    client: XrootClient,
    timeout: Duration,
}

impl Plane {
    /// For a target with these settings (JSON); every call ends within `timeout`. Nothing is connected yet.
    ///
    /// # Errors
    /// What is wrong with the settings, in three parts.
    pub fn new(settings: &str, timeout: Duration) -> Result<Self, Unusable> {
        let client = XrootFactory::new(settings)?.make(0);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
            let what = format!("no loop can be made: {error}");
            Unusable::new(what, "room for one", "close files, or raise `ulimit -n`")
        })?;
        Ok(Self { runtime, client, timeout })
    }

    /// Do something, within the time.
    fn run<T>(
        &mut self,
        work: impl AsyncFnOnce(&mut XrootClient, &mut Act) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        let mut act = Act::default();
        let (client, timeout) = (&mut self.client, self.timeout);
        let result = self.runtime.block_on(async {
            let done = tokio::time::timeout(timeout, work(client, &mut act)).await;
            client.rest().await;
            done
        });
        result.unwrap_or_else(|_| {
            let limit = format!("within {} s", timeout.as_secs_f64());
            Err(if act.waits {
                Failure::refused(format!("the server asks to wait, and that could not end {limit}")).into()
            } else if act.sent {
                Failure::ambiguous(format!("no answer {limit}")).into()
            } else {
                Trouble::failed(format!("could not be done {limit}"))
            })
        })
    }

    /// Log in, where that has not been done.
    ///
    /// # Errors
    /// What went wrong.
    pub fn connect(&mut self) -> Result<(), Trouble> {
        self.run(async |client, _| client.connect().await)
    }

    /// Attributes of an object.
    ///
    /// # Errors
    /// What went wrong.
    pub fn stat(&mut self, key: &str) -> Result<Attributes, Trouble> {
        let path = self.client.path(key)?;
        self.run(async |client, act| client.stat(&path, act).await)
    }

    /// Names in a folder with their attributes.
    ///
    /// # Errors
    /// What went wrong.
    pub fn list(&mut self, key: &str) -> Result<Vec<(Vec<u8>, Attributes)>, Trouble> {
        let path = self.client.path(key)?;
        let mut found = Vec::new();
        let unknown = Attributes { size: 0, flags: 0, changed: 0 };
        let entry = |name: &[u8], of: Option<Attributes>| found.push((name.to_vec(), of.unwrap_or(unknown)));
        self.run(async |client, act| client.list(&path, true, entry, act).await)?;
        Ok(found)
    }

    /// Bytes of a file from `offset` on, to its end or so many.
    ///
    /// # Errors
    /// What went wrong, pages with wrong checksums among it.
    pub fn read(&mut self, key: &str, offset: u64, length: Option<u64>) -> Result<Vec<u8>, Trouble> {
        let path = self.client.path(key)?;
        let mut data = Vec::new();
        self.run(async |client, act| {
            let (at, file) = client.opened(&path, Mode::Read, act).await?;
            let mut check = Check::new(None, false);
            let pace = Pace { chunk: CHUNK, window: 1 };
            let range = Range { offset, length };
            let read = file.read(client.at(at), range, pace, &mut check, Some(&mut data), act).await;
            let read = read.and_then(|_| check.finish());
            client.put_by((at, file), None, read, act).await
        })?;
        Ok(data)
    }

    /// Write a whole file, with the folders above it when asked; `new`: where nothing is yet.
    ///
    /// # Errors
    /// What went wrong.
    pub fn write(&mut self, key: &str, data: &[u8], make_path: bool, new: bool) -> Result<(), Trouble> {
        let path = self.client.path(key)?;
        let mode = match (new, make_path) {
            (true, _) => Mode::New,
            (false, true) => Mode::WritePath,
            (false, false) => Mode::Write,
        };
        self.run(async |client, act| {
            let (at, file) = client.opened(&path, mode, act).await?;
            let pace = Pace { chunk: CHUNK, window: 2 };
            let fill = |at: u64, into: &mut [u8]| {
                let from = usize::try_from(at).unwrap_or(data.len());
                into.copy_from_slice(&data[from..from + into.len()]);
            };
            let written = file.put(client.at(at), data.len() as u64, pace, fill, act).await;
            client.put_by((at, file), None, written, act).await
        })
    }

    /// Remove a file or an empty folder.
    ///
    /// # Errors
    /// What went wrong.
    pub fn delete(&mut self, key: &str) -> Result<(), Trouble> {
        let path = self.client.path(key)?;
        self.run(async |client, act| client.remove(&path, false, act).await)
    }

    /// Make a folder; with `parents` also those above it, and it may be there already.
    ///
    /// # Errors
    /// What went wrong.
    pub fn mkdir(&mut self, key: &str, parents: bool) -> Result<(), Trouble> {
        let path = self.client.path(key)?;
        self.run(async |client, act| client.make_folder(&path, parents, parents, act).await)
    }

    /// Give an object another name.
    ///
    /// # Errors
    /// What went wrong.
    pub fn rename(&mut self, key: &str, to: &str) -> Result<(), Trouble> {
        let (path, to) = (self.client.path(key)?, self.client.path(to)?);
        self.run(async |client, act| client.rename(&path, &to, act).await)
    }

    /// Ask the server something (kXR_query); a code that is about a path takes the name of an object.
    ///
    /// # Errors
    /// What went wrong.
    pub fn query(&mut self, code: u16, argument: &str) -> Result<Vec<u8>, Trouble> {
        let text = if matches!(code, 3..=5) { self.client.path(argument)? } else { argument.to_owned() };
        self.run(async |client, act| client.query(code, &text, act).await)
    }

    /// The checksum that the server has of a file: its kind and its digits.
    ///
    /// # Errors
    /// What went wrong.
    pub fn checksum(&mut self, key: &str) -> Result<(String, String), Trouble> {
        let path = self.client.path(key)?;
        self.run(async |client, act| client.checksum(&path, act).await)
    }

    /// End the session; the next call begins a new one.
    pub fn close(&mut self) {
        let client = &mut self.client;
        self.runtime.block_on(client.disconnect());
    }
}
