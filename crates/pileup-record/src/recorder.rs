//! One file and one writer thread.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::ledger::Ledger;
use crate::local::{BATCH, Local, Message, Shared, flush, lock};
use crate::row::Row;
use crate::table::{Sink, TableWriter};

/// Messages that may wait for the writer.
const MESSAGES: usize = 64;
/// How long a row may stay out of the file.
const TICK: Duration = Duration::from_millis(500);

/// Writes the operations of one place into a table file; what it holds reaches the file within a second.
///
/// A file that cannot be written any more keeps what was written before; the fault is kept, and rows that come later are counted as dropped.
pub struct Recorder {
    shared: Arc<Shared>,
    /// Taken away by `close`, which ends the writer.
    sender: Mutex<Option<SyncSender<Message>>>,
    writer: Mutex<Option<JoinHandle<()>>>,
    ledger: OnceLock<Arc<Ledger>>,
}

impl Recorder {
    /// Begin the file and its writer thread.
    ///
    /// # Errors
    /// When the file is there already or cannot be made.
    pub fn create(path: &Path, place: u16) -> io::Result<Arc<Self>> {
        let explain = |error: io::Error| {
            let text = format!(
                "cannot begin the record {}: {error}; expected a new file in a folder that can be written (give the run another folder)",
                path.display()
            );
            io::Error::new(error.kind(), text)
        };
        let file = File::options().write(true).create_new(true).open(path).map_err(explain)?;
        Self::begin(Box::new(file), place, path.display().to_string()).map_err(explain)
    }

    fn begin(sink: Box<dyn Sink>, place: u16, name: String) -> io::Result<Arc<Self>> {
        let table = TableWriter::begin(sink, place)?;
        let shared = Arc::new(Shared::new(place));
        let (sender, receiver) = sync_channel(MESSAGES);
        let writer = Writer { shared: Arc::clone(&shared), table, name, texts: Vec::new(), gathered: Vec::new() };
        let thread = std::thread::Builder::new().name("pileup-recorder".into()).spawn(move || writer.run(&receiver))?;
        Ok(Arc::new(Self {
            shared,
            sender: Mutex::new(Some(sender)),
            writer: Mutex::new(Some(thread)),
            ledger: OnceLock::new(),
        }))
    }

    /// The hand of one thread.
    #[must_use]
    pub fn local(&self) -> Local {
        let sender = lock(&self.sender).clone();
        Local::new(&self.shared, sender)
    }

    /// The operations that are open beside the iterations: one ledger, made when it is first asked for.
    pub fn ledger(&self) -> Arc<Ledger> {
        Arc::clone(self.ledger.get_or_init(|| Arc::new(Ledger::new(self.local()))))
    }

    /// The number of a text; 0 for the empty one.
    pub fn string(&self, text: &str) -> u32 {
        self.shared.string(text)
    }

    /// The number of an operation's name: the same for the same name as long as the recorder lives.
    pub fn name(&self, text: &str) -> u32 {
        lock(&self.shared.strings).name(text)
    }

    /// The number of an operation's name with labels (`name=value,...`, sorted), as this case has it.
    pub fn labelled(&self, case: u32, name: &str, labels: &str) -> u32 {
        if labels.is_empty() { self.name(name) } else { lock(&self.shared.strings).labelled(case, name, labels) }
    }

    /// The operation's name of that number, if `name` has given it.
    #[must_use]
    pub fn name_of(&self, number: u32) -> Option<Arc<str>> {
        lock(&self.shared.strings).name_of(number)
    }

    /// Number of the place.
    #[must_use]
    pub fn place(&self) -> u16 {
        self.shared.place
    }

    /// Rows that are in the file.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.shared.written.load(Ordering::Acquire)
    }

    /// Rows that were lost because the file could not be written or was closed.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.shared.dropped.load(Ordering::Acquire)
    }

    /// What went wrong with the file, if anything did.
    #[must_use]
    pub fn error(&self) -> Option<String> {
        lock(&self.shared.error).as_ref().map(|(_, text)| text.clone())
    }

    /// Bring every row pushed so far into the file.
    ///
    /// # Errors
    /// What went wrong with the file, now or before.
    pub fn flush(&self) -> io::Result<()> {
        let sender = lock(&self.sender).clone();
        flush(sender.as_ref());
        self.shared.result()
    }

    /// Write the rest and end the writer. Later rows are dropped. Closing again does nothing.
    ///
    /// # Errors
    /// What went wrong with the file, now or before.
    pub fn close(&self) -> io::Result<()> {
        if let Some(sender) = lock(&self.sender).take() {
            let _ = sender.send(Message::Close);
        }
        if let Some(writer) = lock(&self.writer).take() {
            let _ = writer.join();
        }
        self.shared.result()
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        let _ = self.close();
    }
}

/// What the writer thread owns.
struct Writer {
    shared: Arc<Shared>,
    table: TableWriter,
    name: String,
    texts: Vec<u8>,
    gathered: Vec<Row>,
}

impl Writer {
    fn run(mut self, receiver: &Receiver<Message>) {
        let mut next = Instant::now() + TICK;
        loop {
            match receiver.recv_timeout(next.saturating_duration_since(Instant::now())) {
                Ok(Message::Wake) => self.collect(false),
                Ok(Message::Flush(answer)) => {
                    self.collect(true);
                    let _ = answer.send(());
                }
                Err(RecvTimeoutError::Timeout) => {}
                Ok(Message::Close) | Err(RecvTimeoutError::Disconnected) => break,
            }
            if Instant::now() >= next {
                self.collect(true);
                next = Instant::now() + TICK;
            }
        }
        self.shared.closed.store(true, Ordering::Release);
        self.collect(true);
    }

    /// Write the full batches of all threads, and with `all` what else they have pushed.
    fn collect(&mut self, all: bool) {
        let locals = lock(&self.shared.locals).clone();
        let mut gathered = std::mem::take(&mut self.gathered);
        for buffer in &locals {
            let (full, rows) = {
                let mut theirs = lock(buffer);
                let rows = if all { theirs.take_rows() } else { Vec::new() };
                (std::mem::take(&mut theirs.full), rows)
            };
            for batch in full {
                self.write(&batch);
                lock(buffer).take_back(batch);
            }
            gathered.extend_from_slice(&rows);
            lock(buffer).take_back(rows);
            if gathered.len() >= BATCH {
                self.write(&gathered);
                gathered.clear();
            }
        }
        self.write(&gathered);
        gathered.clear();
        self.gathered = gathered;
        if all {
            lock(&self.shared.locals).retain(|buffer| {
                let theirs = lock(buffer);
                !theirs.gone || !theirs.rows.is_empty() || !theirs.full.is_empty()
            });
        }
    }

    /// Texts first: whoever pushed these rows has got their numbers before.
    fn write(&mut self, rows: &[Row]) {
        let count = lock(&self.shared.strings).take(&mut self.texts);
        let lost = rows.len() as u64;
        if lock(&self.shared.error).is_some() {
            self.shared.dropped.fetch_add(lost, Ordering::AcqRel);
            return;
        }
        match self.table.strings(count, &self.texts).and_then(|()| self.table.rows(rows)) {
            Ok(()) => {
                self.shared.written.fetch_add(lost, Ordering::AcqRel);
            }
            Err(error) => {
                self.shared.dropped.fetch_add(lost, Ordering::AcqRel);
                self.keep(&error);
            }
        }
    }

    fn keep(&self, error: &io::Error) {
        let rows = self.shared.written.load(Ordering::Acquire);
        let text = format!(
            "cannot write the record {}: {error}; expected room on the disk (the first {rows} rows are safe, later ones are not kept)",
            self.name
        );
        lock(&self.shared.error).get_or_insert((error.kind(), text));
    }
}

#[cfg(test)]
mod tests;
