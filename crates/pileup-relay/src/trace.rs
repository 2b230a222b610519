//! What is written down of connections: when each message came, and when it was there.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pileup_pacer::clock::now;
use serde::Serialize;

use crate::counts::{Counts, up};
use crate::path::{DOWN, UP};
use crate::tls::{Answer, client_hello, server_hello};

/// Bytes one way that come so long after the last, ns, are another message.
const PAUSE: i64 = 1_000_000;
/// Most messages of a connection that are kept.
const MESSAGES: usize = 100_000;
/// Most connections that are kept.
const CONNECTIONS: usize = 100_000;

/// Bytes one way, without a byte the other way and without a pause of 1 ms between. Times in ns since the epoch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Message {
    /// 0: to the target, 1: back.
    pub way: usize,
    /// When its first and its last byte came to the relay.
    pub came: [i64; 2],
    /// When they were due at the other end.
    pub due: [i64; 2],
    /// Bytes.
    pub bytes: u64,
}

/// The TLS handshake of a connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Handshake {
    /// As the standards number it: 0x0304 is TLS 1.3.
    pub version: u16,
    /// Whether an earlier session goes on.
    pub resumed: bool,
    /// Whether the server asked for another hello first.
    pub again: bool,
}

/// What is known of a connection. Times in ns since the epoch, 0: it did not come to that.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Connection {
    /// Its number, from 0 in the order of their accepts.
    pub number: u64,
    /// When it was accepted.
    pub accepted: i64,
    /// When its client would have been connected over the distance: a round trip later.
    pub sent: i64,
    /// When the target was asked for a connection.
    pub asked: i64,
    /// When the target had taken it.
    pub reached: i64,
    /// When it ended.
    pub closed: i64,
    /// Whether the target did not take it.
    pub refused: bool,
    /// Messages in the order in which they came.
    pub messages: Vec<Message>,
    /// Whether there were more messages than are kept.
    pub cut: bool,
    /// Its TLS handshake.
    pub tls: Option<Handshake>,
}

#[derive(Default)]
struct Entry {
    connection: Connection,
    /// Way and time of the last byte.
    last: Option<(usize, i64)>,
    hello: Hello,
    ended: bool,
}

/// How far a handshake was seen.
#[derive(Default)]
enum Hello {
    #[default]
    Unseen,
    /// The session id that the client gave; whether it had to say hello again.
    Said(Vec<u8>, bool),
    Seen,
}

impl Entry {
    fn piece(&mut self, keep: bool, counts: &Counts, way: usize, (time, due): (i64, i64), size: usize, bytes: &[u8]) {
        let goes_on = self.last.is_some_and(|(last, at)| last == way && time - at <= PAUSE);
        let came = time.max(self.connection.sent); // what came before the client could be connected counts as sent then
        if !goes_on {
            up(&counts.messages[way]);
            if way == DOWN && self.last.is_some_and(|(last, _)| last == UP) {
                up(&counts.turns);
            }
        }
        self.last = Some((way, time));
        if !keep {
            return;
        }
        if !goes_on {
            self.hello(way, bytes);
        }
        let messages = &mut self.connection.messages;
        let full = messages.len() >= MESSAGES;
        match messages.last_mut() {
            Some(last) if goes_on => {
                (last.came[1], last.due[1]) = (came, due);
                last.bytes += size as u64;
            }
            _ if full => self.connection.cut = true,
            _ => messages.push(Message { way, came: [came; 2], due: [due; 2], bytes: size as u64 }),
        }
    }

    fn hello(&mut self, way: usize, bytes: &[u8]) {
        match (&mut self.hello, way) {
            (Hello::Unseen, UP) => {
                if let Some(session) = client_hello(bytes) {
                    self.hello = Hello::Said(session.to_vec(), false);
                }
            }
            (Hello::Said(session, again), DOWN) => match server_hello(bytes, session) {
                Some(Answer::Again) => *again = true,
                Some(Answer::Chosen(version, resumed)) => {
                    self.connection.tls = Some(Handshake { version, resumed, again: *again });
                    self.hello = Hello::Seen;
                }
                None => self.hello = Hello::Seen,
            },
            _ => {}
        }
    }
}

/// The connections of a relay, while they are written down.
pub(crate) struct Book {
    /// Whether anything is kept.
    keep: bool,
    entries: Mutex<VecDeque<Arc<Mutex<Entry>>>>,
}

impl Book {
    pub(crate) fn new(keep: bool) -> Self {
        Self { keep, entries: Mutex::default() }
    }

    /// Take out what has ended, oldest first, with copies of what is `open`.
    pub(crate) fn take(&self, open: bool) -> Vec<Connection> {
        let mut taken = Vec::new();
        locked(&self.entries).retain(|entry| {
            let mut entry = locked(entry);
            if entry.ended {
                taken.push(std::mem::take(&mut entry.connection));
            } else if open {
                taken.push(entry.connection.clone());
            }
            !entry.ended
        });
        taken
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes down what becomes of one connection. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Note(Rc<Owner>);

struct Owner {
    keep: bool,
    entry: Arc<Mutex<Entry>>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        let mut entry = locked(&self.entry);
        if entry.connection.closed == 0 {
            entry.connection.closed = now();
        }
        entry.ended = true;
    }
}

impl Note {
    /// Of a connection that was accepted, and whose client would have been connected at `sent`.
    pub(crate) fn open(book: &Book, number: u64, accepted: i64, sent: i64) -> Self {
        let connection = Connection { number, accepted, sent, ..Connection::default() };
        let entry = Arc::new(Mutex::new(Entry { connection, ..Entry::default() }));
        if book.keep {
            let mut entries = locked(&book.entries);
            if entries.len() >= CONNECTIONS {
                entries.pop_front();
            }
            entries.push_back(Arc::clone(&entry));
        }
        Self(Rc::new(Owner { keep: book.keep, entry }))
    }

    /// Write something down.
    pub(crate) fn with(&self, write: impl FnOnce(&mut Connection)) {
        write(&mut locked(&self.0.entry).connection);
    }

    /// Whether the bytes of pieces are looked at.
    pub(crate) fn keeps(&self) -> bool {
        self.0.keep
    }

    /// A piece of this size has come, and is due, at `times`; its bytes where they are looked at.
    pub(crate) fn piece(&self, counts: &Counts, way: usize, times: (i64, i64), size: usize, bytes: &[u8]) {
        locked(&self.0.entry).piece(self.0.keep, counts, way, times, size, bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_become_messages_and_turns() {
        let (book, counts) = (Book::new(true), Counts::default());
        let note = Note::open(&book, 3, 10, 20);
        for (way, time, size) in
            [(UP, 0, 5), (UP, 500_000, 5), (UP, 2_000_000, 1), (DOWN, 2_100_000, 7), (UP, 2_200_000, 1)]
        {
            note.piece(&counts, way, (time, time + 1000), size, &vec![0; size]);
        }
        assert_eq!(book.take(true).len(), 1);
        assert_eq!(book.take(false), []);
        drop(note);
        let taken = book.take(false);
        assert_eq!(book.take(true), []);
        let messages: Vec<_> = taken[0].messages.iter().map(|each| (each.way, each.came, each.bytes)).collect();
        assert_eq!(
            messages,
            [(UP, [20, 500_000], 10), (UP, [2_000_000; 2], 1), (DOWN, [2_100_000; 2], 7), (UP, [2_200_000; 2], 1)]
        );
        assert_eq!((taken[0].number, taken[0].accepted, taken[0].sent), (3, 10, 20));
        assert!(taken[0].closed > 0);
        let counted = counts.now();
        assert_eq!((counted.messages, counted.turns), ([3, 1], 1));
    }

    #[test]
    fn nothing_is_kept_where_nobody_asks() {
        let (book, counts) = (Book::new(false), Counts::default());
        let note = Note::open(&book, 0, 0, 0);
        note.piece(&counts, UP, (0, 0), 1, b"x");
        drop(note);
        assert_eq!((book.take(true).len(), counts.now().messages), (0, [1, 0]));
    }
}
