//! The files on tape. Their names are numbers, so that none of them costs memory; so are those of their folders.

use std::fmt;

use pileup_schedule::Law;
use serde::{Serialize, Serializer};

/// Digits of a name, at least.
const DIGITS: usize = 7;
/// The stream of draws that sizes are from; the library has the first ones.
const SIZES: u64 = 101;

/// The files `PREFIX/0000000`, `PREFIX/0000001` and so on; with folders `PREFIX/0000000/0000000`.
pub(crate) struct Files {
    prefix: String,
    number: u32,
    /// Files of a folder; 0: there are no folders.
    together: u32,
    size: Law,
    seed: u64,
}

/// The path of a file.
pub(crate) struct Path<'a> {
    prefix: &'a str,
    folder: Option<u32>,
    file: u32,
}

impl Files {
    /// So many, below a prefix without a slash at its end. The law is one of bytes.
    pub(crate) fn new(prefix: String, number: u32, together: u32, size: Law, seed: u64) -> Self {
        Self { prefix, number, together, size, seed }
    }

    /// The number of the file with this path; none: it is not on tape.
    pub(crate) fn find(&self, path: &str) -> Option<u32> {
        let below = path.strip_prefix(self.prefix.as_str())?.strip_prefix('/')?;
        let (folder, name) = match below.split_once('/') {
            Some((folder, name)) => (Some(number(folder)?), name),
            None => (None, below),
        };
        number(name).filter(|file| *file < self.number && self.folder(*file) == folder)
    }

    /// What lies together on a cartridge: the files of a folder, or each file alone.
    pub(crate) fn key(&self, file: u32) -> u64 {
        u64::from(self.folder(file).unwrap_or(file))
    }

    fn folder(&self, file: u32) -> Option<u32> {
        file.checked_div(self.together)
    }

    /// The path of a file.
    pub(crate) fn path(&self, file: u32) -> Path<'_> {
        Path { prefix: &self.prefix, folder: self.folder(file), file }
    }

    /// Its bytes, at least one.
    pub(crate) fn size(&self, file: u32) -> u64 {
        self.size.draw(self.seed, SIZES, u64::from(file)).max(1)
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.prefix)?;
        self.folder.map_or(Ok(()), |folder| write!(formatter, "/{folder:0DIGITS$}"))?;
        write!(formatter, "/{:0DIGITS$}", self.file)
    }
}

impl Serialize for Path<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The number that a name is.
fn number(name: &str) -> Option<u32> {
    let padded = name.len() == DIGITS || (name.len() > DIGITS && !name.starts_with('0'));
    if padded && name.bytes().all(|each| each.is_ascii_digit()) { name.parse().ok() } else { None }
}

/// A path with single slashes.
pub(crate) fn clean(path: &str) -> String {
    let mut clean = String::with_capacity(path.len());
    for letter in path.chars() {
        if letter != '/' || !clean.ends_with('/') {
            clean.push(letter);
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_numbers() {
        let files = Files::new("/tape/a".to_owned(), 12_345_679, 0, Law::Uniform(100, 300), 3);
        for file in [0, 7, 1_234_567, 12_345_678] {
            assert_eq!(files.find(&files.path(file).to_string()), Some(file));
            assert!((100..=300).contains(&files.size(file)) && files.size(file) == files.size(file));
        }
        assert_eq!(files.path(42).to_string(), "/tape/a/0000042");
        for wrong in
            ["/tape/a/42", "/tape/a/00000042", "/tape/a/12345679", "/tape/a/000004x", "/tape/a", "/tape/b/0000042"]
        {
            assert_eq!(files.find(wrong), None, "{wrong}");
        }
        assert_eq!(Files::new(String::new(), 5, 0, Law::Fixed(0), 3).size(1), 1);
    }

    #[test]
    fn the_files_of_a_folder_lie_together() {
        let files = Files::new("/tape".to_owned(), 25, 10, Law::Fixed(1), 3);
        for file in 0..25 {
            assert_eq!(files.find(&files.path(file).to_string()), Some(file));
            assert_eq!(files.key(file), u64::from(file / 10));
        }
        assert_eq!(files.path(12).to_string(), "/tape/0000001/0000012");
        for wrong in ["/tape/0000012", "/tape/0000002/0000012", "/tape/0000002/0000025", "/tape/1/0000012"] {
            assert_eq!(files.find(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn slashes_count_once() {
        assert_eq!(clean("//tape///a/"), "/tape/a/");
        assert_eq!(clean(""), "");
    }
}
