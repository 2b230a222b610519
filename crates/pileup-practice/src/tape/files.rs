//! The files on tape. Their names are numbers, so that none of them costs memory.

use std::fmt;

use pileup_schedule::Law;
use serde::{Serialize, Serializer};

/// Digits of a name, at least.
const DIGITS: usize = 7;
/// The stream of draws that sizes are from; the library has the first ones.
const SIZES: u64 = 101;

/// The files `PREFIX/0000000`, `PREFIX/0000001` and so on.
pub(crate) struct Files {
    prefix: String,
    number: u32,
    size: Law,
    seed: u64,
}

/// The path of a file.
pub(crate) struct Path<'a> {
    prefix: &'a str,
    file: u32,
}

impl Files {
    /// So many, below a prefix without a slash at its end. The law is one of bytes.
    pub(crate) fn new(prefix: String, number: u32, size: Law, seed: u64) -> Self {
        Self { prefix, number, size, seed }
    }

    /// The number of the file with this path; none: it is not on tape.
    pub(crate) fn find(&self, path: &str) -> Option<u32> {
        let digits = path.strip_prefix(self.prefix.as_str())?.strip_prefix('/')?;
        let padded = digits.len() == DIGITS || (digits.len() > DIGITS && !digits.starts_with('0'));
        if !padded || !digits.bytes().all(|each| each.is_ascii_digit()) {
            return None;
        }
        digits.parse().ok().filter(|file| *file < self.number)
    }

    /// The path of a file.
    pub(crate) fn path(&self, file: u32) -> Path<'_> {
        Path { prefix: &self.prefix, file }
    }

    /// Its bytes, at least one.
    pub(crate) fn size(&self, file: u32) -> u64 {
        self.size.draw(self.seed, SIZES, u64::from(file)).max(1)
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{:0width$}", self.prefix, self.file, width = DIGITS)
    }
}

impl Serialize for Path<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
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
        let files = Files::new("/tape/a".to_owned(), 12_345_679, Law::Uniform(100, 300), 3);
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
        assert_eq!(Files::new(String::new(), 5, Law::Fixed(0), 3).size(1), 1);
    }

    #[test]
    fn slashes_count_once() {
        assert_eq!(clean("//tape///a/"), "/tape/a/");
        assert_eq!(clean(""), "");
    }
}
