//! One file, one writer thread, and a light hand for every thread that measures.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::row::Row;
use crate::strings::Strings;
use crate::table::{Sink, TableWriter};

/// Rows that a thread gathers before it hands them over.
const BATCH: usize = 1024;
/// Batches that may wait for the writer; beyond that who measures waits too, so that memory stays bounded.
const WAITING: usize = 64;
/// Ids that a thread takes at a time.
const IDS: u64 = 1024;
/// How long a row may stay out of the file.
const TICK: Duration = Duration::from_millis(500);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

enum Message {
    Rows(Vec<Row>),
    /// Write everything, locals included, then answer.
    Flush(SyncSender<()>),
    /// The same, and end.
    Close,
}

type Buffer = Mutex<Vec<Row>>;

struct Shared {
    place: u16,
    next_id: AtomicU64,
    strings: Mutex<Strings>,
    locals: Mutex<Vec<Weak<Buffer>>>,
    /// Empty batches on their way back.
    spare: Mutex<Vec<Vec<Row>>>,
    written: AtomicU64,
    dropped: AtomicU64,
    closed: AtomicBool,
    error: Mutex<Option<(io::ErrorKind, String)>>,
}

impl Shared {
    fn new(place: u16) -> Self {
        Self {
            place,
            next_id: AtomicU64::new(1),
            strings: Mutex::default(),
            locals: Mutex::default(),
            spare: Mutex::default(),
            written: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            closed: AtomicBool::new(false),
            error: Mutex::default(),
        }
    }

    fn result(&self) -> io::Result<()> {
        lock(&self.error).as_ref().map_or(Ok(()), |(kind, text)| Err(io::Error::new(*kind, text.clone())))
    }

    fn take_back(&self, mut batch: Vec<Row>) {
        batch.clear();
        let mut spare = lock(&self.spare);
        if spare.len() < WAITING && batch.capacity() >= BATCH {
            spare.push(batch);
        }
    }

    fn batch(&self) -> Vec<Row> {
        lock(&self.spare).pop().unwrap_or_else(|| Vec::with_capacity(BATCH))
    }
}

/// Writes the operations of one place into a table file; what it holds reaches the file within a second.
///
/// A file that cannot be written any more keeps what was written before; the fault is kept, and rows that come later are counted as dropped.
pub struct Recorder {
    shared: Arc<Shared>,
    /// Taken away by `close`, which ends the writer.
    sender: Mutex<Option<SyncSender<Message>>>,
    writer: Mutex<Option<JoinHandle<()>>>,
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
        let (sender, receiver) = sync_channel(WAITING);
        let writer = Writer { shared: Arc::clone(&shared), table, name, texts: Vec::new(), gathered: Vec::new() };
        let thread = std::thread::Builder::new().name("pileup-recorder".into()).spawn(move || writer.run(&receiver))?;
        Ok(Arc::new(Self { shared, sender: Mutex::new(Some(sender)), writer: Mutex::new(Some(thread)) }))
    }

    /// The hand of one thread.
    #[must_use]
    pub fn local(&self) -> Local {
        let buffer = Arc::new(Mutex::default());
        let mut locals = lock(&self.shared.locals);
        locals.retain(|known| known.strong_count() > 0);
        locals.push(Arc::downgrade(&buffer));
        drop(locals);
        let sender = lock(&self.sender).clone();
        Local { shared: Arc::clone(&self.shared), sender, buffer, next: 0, end: 0 }
    }

    /// The number of a text; 0 for the empty one.
    pub fn string(&self, text: &str) -> u32 {
        lock(&self.shared.strings).number(text)
    }

    /// The number of an operation's name: the same for the same name as long as the recorder lives.
    pub fn name(&self, text: &str) -> u32 {
        lock(&self.shared.strings).name(text)
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

    /// Rows that stand in the file.
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
        if let Some(sender) = sender {
            let (answer, answered) = sync_channel(1);
            if sender.send(Message::Flush(answer)).is_ok() {
                let _ = answered.recv();
            }
        }
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

/// The hand of one thread: gathers rows and gives out ids and texts.
pub struct Local {
    shared: Arc<Shared>,
    sender: Option<SyncSender<Message>>,
    buffer: Arc<Buffer>,
    next: u64,
    end: u64,
}

impl Local {
    /// An id that no other row of the run has.
    pub fn next_id(&mut self) -> u64 {
        if self.next == self.end {
            self.next = self.shared.next_id.fetch_add(IDS, Ordering::Relaxed);
            self.end = self.next + IDS;
        }
        let id = (u64::from(self.shared.place) << 48) + self.next;
        self.next += 1;
        id
    }

    /// The number of a text; 0 for the empty one.
    pub fn string(&self, text: &str) -> u32 {
        lock(&self.shared.strings).number(text)
    }

    /// The number of an operation's name: the same for the same name as long as the recorder lives.
    pub fn name(&self, text: &str) -> u32 {
        lock(&self.shared.strings).name(text)
    }

    /// Number of the place, for the rows.
    #[must_use]
    pub fn place(&self) -> u16 {
        self.shared.place
    }

    /// Record a row. It is in the file within a second, whether or not this thread does anything more.
    pub fn push(&mut self, row: Row) {
        let full = {
            let mut rows = lock(&self.buffer);
            rows.push(row);
            if rows.len() < BATCH { None } else { Some(std::mem::replace(&mut *rows, self.shared.batch())) }
        };
        if let Some(rows) = full {
            self.send(rows);
        }
    }

    /// Hand over what has been gathered, without waiting for it to be written.
    pub fn hand_over(&mut self) {
        let rows = std::mem::take(&mut *lock(&self.buffer));
        if !rows.is_empty() {
            self.send(rows);
        }
    }

    fn send(&self, rows: Vec<Row>) {
        let count = rows.len() as u64;
        let open = !self.shared.closed.load(Ordering::Acquire);
        let sent = open && self.sender.as_ref().is_some_and(|sender| sender.send(Message::Rows(rows)).is_ok());
        if !sent {
            self.shared.dropped.fetch_add(count, Ordering::AcqRel);
        }
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        self.hand_over();
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
                Ok(Message::Rows(rows)) => {
                    self.write(&rows);
                    self.shared.take_back(rows);
                }
                Ok(Message::Flush(answer)) => {
                    self.gather();
                    let _ = answer.send(());
                }
                Err(RecvTimeoutError::Timeout) => {}
                Ok(Message::Close) | Err(RecvTimeoutError::Disconnected) => break,
            }
            if Instant::now() >= next {
                self.gather();
                next = Instant::now() + TICK;
            }
        }
        self.shared.closed.store(true, Ordering::Release);
        self.gather();
        for message in receiver.try_iter() {
            // An answer that is dropped lets the one who waits go on.
            if let Message::Rows(rows) = message {
                self.write(&rows);
            }
        }
    }

    /// Write what the threads have gathered and not handed over.
    fn gather(&mut self) {
        let locals = lock(&self.shared.locals).clone();
        let mut gathered = std::mem::take(&mut self.gathered);
        for buffer in locals.iter().filter_map(Weak::upgrade) {
            let rows = std::mem::take(&mut *lock(&buffer));
            gathered.extend_from_slice(&rows);
            self.shared.take_back(rows);
            if gathered.len() >= BATCH {
                self.write(&gathered);
                gathered.clear();
            }
        }
        self.write(&gathered);
        gathered.clear();
        self.gathered = gathered;
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
