//! The control plane: the same client for a caller that waits, with answers instead of verdicts.

use std::time::Duration;

use pileup_engine::client::{Act, Factory, Failure};
use pileup_engine::control::{Attributes, Control, Problem};
use pileup_engine::program::Range;
use pileup_net::Unusable;
use tokio::runtime::Runtime;

use crate::XrootFactory;
use crate::check::Check;
use crate::client::{Mode, XrootClient};
use crate::error::Trouble;
use crate::file::Pace;

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
    ) -> Result<T, Problem> {
        let mut act = Act::default();
        let (client, timeout) = (&mut self.client, self.timeout);
        let result = self.runtime.block_on(async {
            let done = tokio::time::timeout(timeout, work(client, &mut act)).await;
            client.rest().await;
            done
        });
        let Ok(done) = result else {
            let limit = format!("within {} s", timeout.as_secs_f64());
            return Err(Problem::from(if act.waits {
                Failure::refused(format!("the server asks to wait, and that could not end {limit}"))
            } else if act.sent {
                Failure::ambiguous(format!("no answer {limit}"))
            } else {
                Failure::failed(format!("could not be done {limit}"))
            }));
        };
        Ok(done?)
    }
}

impl Control for Plane {
    fn connect(&mut self) -> Result<(), Problem> {
        self.run(async |client, _| client.connect().await)
    }

    fn stat(&mut self, key: &str) -> Result<Attributes, Problem> {
        let path = self.client.path(key)?;
        self.run(async |client, act| client.stat(&path, act).await)
    }

    fn list(&mut self, key: &str) -> Result<Vec<(Vec<u8>, Attributes)>, Problem> {
        let path = self.client.path(key)?;
        let mut found = Vec::new();
        let unknown = Attributes { size: 0, flags: 0, changed: 0 };
        let entry = |name: &[u8], of: Option<Attributes>| found.push((name.to_vec(), of.unwrap_or(unknown)));
        self.run(async |client, act| client.list(&path, true, entry, act).await)?;
        Ok(found)
    }

    fn read(&mut self, key: &str, offset: u64, length: Option<u64>) -> Result<Vec<u8>, Problem> {
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

    fn write(&mut self, key: &str, data: &[u8], make_path: bool, new: bool) -> Result<(), Problem> {
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

    fn delete(&mut self, key: &str) -> Result<(), Problem> {
        let path = self.client.path(key)?;
        self.run(async |client, act| client.remove(&path, false, act).await)
    }

    fn mkdir(&mut self, key: &str, parents: bool) -> Result<(), Problem> {
        let path = self.client.path(key)?;
        self.run(async |client, act| client.make_folder(&path, parents, parents, act).await)
    }

    fn rename(&mut self, key: &str, to: &str) -> Result<(), Problem> {
        let (path, to) = (self.client.path(key)?, self.client.path(to)?);
        self.run(async |client, act| client.rename(&path, &to, act).await)
    }

    fn query(&mut self, code: u16, argument: &str) -> Result<Vec<u8>, Problem> {
        let text = if matches!(code, 3..=5) { self.client.path(argument)? } else { argument.to_owned() };
        self.run(async |client, act| client.query(code, &text, act).await)
    }

    fn prepare(&mut self, options: u8, more: u16, lines: &str) -> Result<Vec<u8>, Problem> {
        self.run(async |client, act| client.prepare(options, more, lines, act).await)
    }

    fn checksum(&mut self, key: &str) -> Result<(String, String), Problem> {
        let path = self.client.path(key)?;
        self.run(async |client, act| client.checksum(&path, act).await)
    }

    fn close(&mut self) {
        let client = &mut self.client;
        self.runtime.block_on(client.disconnect());
    }
}
