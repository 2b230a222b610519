//! Texts of the record: each gets a number, and is in the file before the first row that names it.

use std::hash::BuildHasher;
use std::sync::Arc;

use foldhash::fast::RandomState;
use foldhash::{HashMap, HashSet};
use hashbrown::HashTable;

/// How many texts are remembered to be used again. Texts beyond that get a number each time they come: memory stays bounded.
pub const REMEMBERED: usize = 65_536;
/// The same for their bytes.
const REMEMBERED_BYTES: usize = 16 << 20;
/// Room for bytes that is taken at once.
const ROOM: usize = 32 * REMEMBERED;
/// Most names of operations; a test that makes up names by the thousand gets `OTHER_NAMES` for the rest.
pub const NAMES: usize = 4096;
/// Most sets of labels in one case; further ones are counted together as `OTHER_LABELS`.
pub const LABELS: usize = 1000;
/// The same over all cases of a place.
const ALL_LABELS: usize = 65_536;
/// Between the name of an operation and its labels, in one text of the record.
pub const SEPARATOR: char = '\u{1f}';
/// The labels of sets that came after `LABELS` others.
pub const OTHER_LABELS: &str = "labels=other";
/// Stands for the names that came after `NAMES` others.
pub const OTHER_NAMES: &str = "(other names)";
/// Longer texts are cut, bytes.
pub const LONGEST_TEXT: usize = 65_535;

/// The texts that are remembered, one behind the other. Their room is taken and touched at once, so that a load of names
/// that come once each, such as those of jobs, does not look like a leak; only texts of more than 32 bytes on average take
/// more.
struct Known {
    table: HashTable<Entry>,
    bytes: Vec<u8>,
    hasher: RandomState,
}

#[derive(Clone, Copy)]
struct Entry {
    number: u32,
    at: u32,
    length: u16,
}

impl Entry {
    fn bytes(self, all: &[u8]) -> &[u8] {
        &all[self.at as usize..][..usize::from(self.length)]
    }
}

impl Default for Known {
    fn default() -> Self {
        let hasher = RandomState::default();
        let hash = |entry: &Entry| hasher.hash_one(entry.number);
        let mut table = HashTable::with_capacity(REMEMBERED);
        for number in (0..).take(REMEMBERED) {
            let entry = Entry { number, at: 0, length: 0 };
            table.insert_unique(hash(&entry), entry, hash);
        }
        table.clear();
        let mut bytes = vec![1; ROOM];
        bytes.clear();
        Self { table, bytes, hasher }
    }
}

impl Known {
    fn get(&self, text: &str) -> Option<u32> {
        let same = |entry: &Entry| entry.bytes(&self.bytes) == text.as_bytes();
        self.table.find(self.hasher.hash_one(text.as_bytes()), same).map(|entry| entry.number)
    }

    /// Remember one that is not known yet, if there is room.
    fn add(&mut self, text: &str, number: u32) {
        let (Ok(at), Ok(length)) = (u32::try_from(self.bytes.len()), u16::try_from(text.len())) else { return };
        if self.table.len() == REMEMBERED || self.bytes.len() + text.len() > REMEMBERED_BYTES {
            return;
        }
        self.bytes.extend_from_slice(text.as_bytes());
        let (bytes, hasher) = (&self.bytes, &self.hasher);
        let hash = |entry: &Entry| hasher.hash_one(entry.bytes(bytes));
        self.table.insert_unique(hasher.hash_one(text.as_bytes()), Entry { number, at, length }, hash);
    }
}

/// The table of texts of one recorder.
#[derive(Default)]
pub struct Strings {
    known: Known,
    names: HashMap<Arc<str>, u32>,
    named: HashMap<u32, Arc<str>>,
    /// Of `names`, how many have labels.
    with_labels: usize,
    /// Case -> the numbers of its names with labels.
    sets: HashMap<u32, HashSet<u32>>,
    last: u32,
    pending: Vec<u8>,
    count: u32,
}

impl Strings {
    /// The number of a text; 0 for the empty one, and for all when four thousand million have been given.
    pub fn number(&mut self, text: &str) -> u32 {
        let text = cut(text);
        if text.is_empty() {
            return 0;
        }
        if let Some(number) = self.known.get(text) {
            return number;
        }
        let number = self.append(text);
        if number != 0 {
            self.known.add(text, number);
        }
        number
    }

    /// The number of an operation's name: always the same for the same name, however many other texts there are.
    pub fn name(&mut self, text: &str) -> u32 {
        let text = cut(text);
        if text.is_empty() {
            return 0;
        }
        if let Some(number) = self.names.get(text) {
            return *number;
        }
        if self.names.len() - self.with_labels >= NAMES && text != OTHER_NAMES {
            return self.name(OTHER_NAMES);
        }
        self.new_name(text)
    }

    /// The number of a name with a set of labels, as this case has it: sets beyond `LABELS` are one.
    pub fn labelled(&mut self, case: u32, name: &str, labels: &str) -> u32 {
        let text = format!("{name}{SEPARATOR}{labels}");
        let text = cut(&text);
        let known = self.names.get(text).copied();
        let mine = self.sets.entry(case).or_default();
        if let Some(number) = known.filter(|number| mine.contains(number)) {
            return number;
        }
        let full = mine.len() >= LABELS || known.is_none() && self.with_labels >= ALL_LABELS;
        if full && labels != OTHER_LABELS {
            return self.labelled(case, name, OTHER_LABELS);
        }
        let number = known.unwrap_or_else(|| {
            self.with_labels += 1;
            self.new_name(text)
        });
        self.sets.entry(case).or_default().insert(number);
        number
    }

    fn new_name(&mut self, text: &str) -> u32 {
        let (number, text) = (self.append(text), Arc::<str>::from(text));
        self.names.insert(Arc::clone(&text), number);
        self.named.insert(number, text);
        number
    }

    /// The name of that number.
    pub fn name_of(&self, number: u32) -> Option<Arc<str>> {
        self.named.get(&number).cloned()
    }

    fn append(&mut self, text: &str) -> u32 {
        let Some(number) = self.last.checked_add(1) else { return 0 };
        self.last = number;
        self.pending.extend_from_slice(&number.to_le_bytes());
        self.pending.extend_from_slice(&u32::try_from(text.len()).unwrap_or_default().to_le_bytes());
        self.pending.extend_from_slice(text.as_bytes());
        self.count += 1;
        number
    }

    /// Move what is not in the file yet into `payload` (emptied before) and return how many texts that are.
    pub fn take(&mut self, payload: &mut Vec<u8>) -> u32 {
        payload.clear();
        std::mem::swap(payload, &mut self.pending);
        std::mem::take(&mut self.count)
    }
}

fn cut(text: &str) -> &str {
    if text.len() <= LONGEST_TEXT {
        return text;
    }
    let end = (0..=LONGEST_TEXT).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alike_texts_share_a_number_until_the_table_is_full() {
        let mut strings = Strings::default();
        assert_eq!(strings.number(""), 0);
        assert_eq!(strings.number("a"), 1);
        assert_eq!(strings.number("b"), 2);
        assert_eq!(strings.number("a"), 1);
        for number in 0..REMEMBERED {
            strings.number(&format!("key{number}"));
        }
        let first = strings.number("fresh");
        assert_eq!(strings.number("fresh"), first + 1);
        assert_eq!(strings.number("a"), 1);
        assert_eq!(strings.known.table.len(), REMEMBERED);
        let length = strings.known.bytes.len();
        strings.number("fresh");
        assert_eq!(strings.known.bytes.len(), length, "what is not remembered takes no room");
    }

    #[test]
    fn long_texts_are_remembered_until_their_bytes_are_too_many() {
        let mut strings = Strings::default();
        let long = |letter: &str| letter.repeat(LONGEST_TEXT);
        let first = strings.number(&long("a"));
        assert_eq!(strings.number(&long("a")), first);
        for number in 0..REMEMBERED_BYTES / LONGEST_TEXT + 2 {
            strings.number(&format!("{number}{}", long("b")));
        }
        assert_ne!(strings.number(&long("c")), strings.number(&long("c")));
        assert_eq!(strings.number(&long("a")), first);
        assert!(strings.known.bytes.len() <= REMEMBERED_BYTES);
    }

    #[test]
    fn names_keep_their_numbers_and_are_bounded() {
        let mut strings = Strings::default();
        let read = strings.name("read");
        for number in 0..=REMEMBERED {
            strings.number(&format!("key{number}"));
        }
        let write = strings.name("write");
        assert_eq!((strings.name("read"), strings.name("write"), strings.name("")), (read, write, 0));
        assert_eq!(strings.name_of(write).as_deref(), Some("write"));
        assert_eq!(strings.name_of(7), None);
        let last: Vec<u32> = (0..2 * NAMES).map(|number| strings.name(&format!("name {number}"))).collect();
        assert_eq!(strings.name_of(last[2 * NAMES - 1]).as_deref(), Some(OTHER_NAMES));
        assert_eq!(strings.names.len(), NAMES + 1);
    }

    #[test]
    fn sets_of_labels_are_bounded_in_each_case() {
        let mut strings = Strings::default();
        let plain = strings.name("task");
        let sets: Vec<u32> =
            (0..LABELS + 5).map(|number| strings.labelled(1, "task", &format!("worker={number}"))).collect();
        assert_eq!(strings.name_of(sets[3]).as_deref(), Some("task\u{1f}worker=3"));
        assert_eq!(strings.labelled(1, "task", "worker=3"), sets[3]);
        let other = sets[LABELS];
        assert_eq!(strings.name_of(other).as_deref(), Some("task\u{1f}labels=other"));
        assert!(sets[LABELS..].iter().all(|number| *number == other) && other != plain);
        assert_eq!(strings.labelled(2, "task", "worker=3"), sets[3], "another case has room, and the same number");
        assert_ne!(strings.labelled(2, "task", "worker=99999"), other);
        let names: Vec<u32> = (0..NAMES - 1).map(|number| strings.name(&format!("name {number}"))).collect();
        assert_ne!(strings.name_of(names[NAMES - 2]).as_deref(), Some(OTHER_NAMES), "labels take no room of names");
    }

    #[test]
    fn what_is_taken_is_gone_and_long_texts_are_cut_between_letters() {
        let mut strings = Strings::default();
        strings.number("ab");
        let mut payload = vec![9];
        assert_eq!(strings.take(&mut payload), 1);
        assert_eq!(payload, [1, 0, 0, 0, 2, 0, 0, 0, b'a', b'b']);
        assert_eq!(strings.take(&mut payload), 0);
        assert!(payload.is_empty());
        let long = "é".repeat(LONGEST_TEXT);
        assert_eq!(cut(&long).len(), LONGEST_TEXT - 1);
    }
}
