//! The hand of one thread, and what it shares with the writer.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::row::Row;
use crate::strings::Strings;

/// Rows that a thread gathers before it hands them over, 0.7 MB: the file system takes one large write for half the time of many small
/// ones, and the writer is woken as seldom.
pub(crate) const BATCH: usize = 8192;
/// Batches of a thread that may wait for the writer; beyond that it waits too, so that memory stays bounded.
const WAITING: usize = 8;
/// Ids that a thread takes at a time.
const IDS: u64 = 1024;

/// Lock, whatever became of who had it before.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the writer is reported.
pub(crate) enum Message {
    /// Some thread has full batches.
    Wake,
    /// Write everything that was pushed so far, then answer.
    Flush(SyncSender<()>),
    /// The same, and end.
    Close,
}

/// What a thread has pushed and the writer has not taken. Rows are always either here or with the writer, never on their way:
/// who flushes may rely on it.
#[derive(Default)]
pub(crate) struct Gathered {
    pub(crate) full: Vec<Vec<Row>>,
    pub(crate) rows: Vec<Row>,
    /// Empty batches on their way back: each thread has its own, so that threads do not wait for each other.
    spare: Vec<Vec<Row>>,
    /// Whether the thread has let go.
    pub(crate) gone: bool,
}

impl Gathered {
    /// An empty batch, for a thread that has filled one.
    fn batch(&mut self) -> Vec<Row> {
        self.spare.pop().unwrap_or_else(|| Vec::with_capacity(BATCH))
    }

    /// What was pushed since the last full batch.
    pub(crate) fn take_rows(&mut self) -> Vec<Row> {
        if self.rows.is_empty() {
            return Vec::new();
        }
        let alike = self.rows.len(); // as many may come again until then
        std::mem::replace(&mut self.rows, self.spare.pop().unwrap_or_else(|| Vec::with_capacity(alike)))
    }

    /// Take a batch back that was written.
    pub(crate) fn take_back(&mut self, mut batch: Vec<Row>) {
        batch.clear();
        if self.spare.len() < WAITING && batch.capacity() >= BATCH {
            self.spare.push(batch);
        }
    }
}

pub(crate) type Buffer = Mutex<Gathered>;

/// What the recorder, its writer and all hands share.
pub(crate) struct Shared {
    pub(crate) place: u16,
    next_id: AtomicU64,
    pub(crate) strings: Mutex<Strings>,
    pub(crate) locals: Mutex<Vec<Arc<Buffer>>>,
    pub(crate) written: AtomicU64,
    pub(crate) dropped: AtomicU64,
    pub(crate) closed: AtomicBool,
    pub(crate) error: Mutex<Option<(io::ErrorKind, String)>>,
}

impl Shared {
    pub(crate) fn new(place: u16) -> Self {
        Self {
            place,
            next_id: AtomicU64::new(1),
            strings: Mutex::default(),
            locals: Mutex::default(),
            written: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            closed: AtomicBool::new(false),
            error: Mutex::default(),
        }
    }

    /// The number of a text; 0 for the empty one, without the lock: most rows have neither an object nor an error, and threads
    /// that record at full rate would wait for each other.
    pub(crate) fn string(&self, text: &str) -> u32 {
        if text.is_empty() { 0 } else { lock(&self.strings).number(text) }
    }

    pub(crate) fn result(&self) -> io::Result<()> {
        lock(&self.error).as_ref().map_or(Ok(()), |(kind, text)| Err(io::Error::new(*kind, text.clone())))
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
    /// One whose rows this writer takes; none: it has ended.
    pub(crate) fn new(shared: &Arc<Shared>, sender: Option<SyncSender<Message>>) -> Self {
        let buffer = Arc::new(Mutex::default());
        lock(&shared.locals).push(Arc::clone(&buffer));
        Self { shared: Arc::clone(shared), sender, buffer, next: 0, end: 0 }
    }

    /// An id that no other row of the run has.
    #[inline]
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
        self.shared.string(text)
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
    #[inline]
    pub fn push(&mut self, row: Row) {
        let mut gathered = lock(&self.buffer);
        // Looked at under the lock: the writer sets it before it takes the last rows.
        if self.shared.closed.load(Ordering::Acquire) {
            self.shared.dropped.fetch_add(1, Ordering::AcqRel);
            return;
        }
        gathered.rows.push(row);
        if gathered.rows.len() < BATCH {
            fetch_next(&gathered.rows);
            return;
        }
        let empty = gathered.batch();
        let batch = std::mem::replace(&mut gathered.rows, empty);
        gathered.full.push(batch);
        let waiting = gathered.full.len();
        drop(gathered);
        if waiting < WAITING {
            let _ = self.sender.as_ref().map(|sender| sender.try_send(Message::Wake)); // a full channel wakes it anyway
        } else {
            flush(self.sender.as_ref());
        }
    }
}

/// Have the memory of the next row brought near, to be written: the writer had it last, on another core, and whoever pushes the next row
/// would wait for it.
#[inline]
fn fetch_next(rows: &[Row]) {
    #[cfg(target_arch = "x86_64")]
    for row in 0..2 {
        let next = rows.as_ptr().wrapping_add(rows.len() + row);
        // SAFETY: a prefetch reads and writes nothing, whatever the address; a processor that does not know it does nothing.
        unsafe { std::arch::asm!("prefetchw [{}]", in(reg) next, options(nostack, preserves_flags, readonly)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = rows;
}

impl Drop for Local {
    fn drop(&mut self) {
        lock(&self.buffer).gone = true;
    }
}

/// Wait until the writer has written everything pushed so far.
pub(crate) fn flush(sender: Option<&SyncSender<Message>>) {
    let (answer, answered) = sync_channel(1);
    if sender.is_some_and(|sender| sender.send(Message::Flush(answer)).is_ok()) {
        let _ = answered.recv();
    }
}
