//! Pages of a listing: ListObjectsV2 (Amazon S3 API Reference).

use pileup_http1::xml::{Open, Wrong};

use crate::document::Collect;
use crate::stamp;

/// An object, or what the keys of several begin with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its whole key; of a folder with the slash at its end.
    pub(crate) key: String,
    /// Bytes.
    pub(crate) size: u64,
    /// When it was changed, seconds since the epoch; 0: that is not said.
    pub(crate) changed: i64,
    /// Whether it is a folder.
    pub(crate) folder: bool,
}

/// A page. Each entry is handed on as it comes, so that memory does not grow with the listing.
pub(crate) struct Page<F> {
    each: F,
    entry: Entry,
    truncated: bool,
    /// Where the next page begins; empty: there is none.
    token: String,
}

impl<F: FnMut(Entry)> Page<F> {
    pub(crate) fn new(each: F) -> Self {
        Self { each, entry: Entry::default(), truncated: false, token: String::new() }
    }

    /// Where the next page begins; none: this was the last.
    ///
    /// # Errors
    /// When the answer contradicts itself.
    pub(crate) fn next(self) -> Result<Option<String>, Wrong> {
        match (self.truncated, self.token.is_empty()) {
            (false, _) => Ok(None),
            (true, false) => Ok(Some(self.token)),
            (true, true) => Err("it is not the last page, and does not say where the next begins"),
        }
    }
}

impl<F: FnMut(Entry)> Collect for Page<F> {
    const ROOT: &'static str = "ListBucketResult";

    fn leaf(&mut self, open: &Open<'_>, text: &str) -> Result<(), Wrong> {
        match (open.depth(), open.name(1), open.last()) {
            (2, _, b"IsTruncated") => self.truncated = text.trim() == "true",
            (2, _, b"NextContinuationToken") => text.clone_into(&mut self.token),
            (3, b"Contents", b"Key") | (3, b"CommonPrefixes", b"Prefix") => text.clone_into(&mut self.entry.key),
            (3, b"Contents", b"Size") => self.entry.size = text.trim().parse().map_err(|_| "a size is no number")?,
            (3, b"Contents", b"LastModified") => self.entry.changed = stamp::seconds(text).unwrap_or(0),
            _ => {}
        }
        Ok(())
    }

    fn item(&mut self, name: &[u8]) -> Result<(), Wrong> {
        if !matches!(name, b"Contents" | b"CommonPrefixes") {
            return Ok(());
        }
        let folder = name == b"CommonPrefixes";
        let entry = Entry { folder, ..std::mem::take(&mut self.entry) };
        if entry.key.is_empty() {
            return Err("an entry has no key");
        }
        (self.each)(entry);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Instead, read};

    const GOOD: &str = "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>b</Name>\
        <Prefix>a/</Prefix><KeyCount>2</KeyCount><IsTruncated>true</IsTruncated><NextContinuationToken>x+/=&lt;</NextContinuationToken>\
        <Contents><Key>a/b &amp; c</Key><LastModified>2015-08-30T12:36:00.000Z</LastModified><ETag>&quot;e&quot;</ETag><Size>7</Size>\
        <Owner><ID>Key</ID></Owner></Contents><Contents><Key>a/d</Key><Size>0</Size></Contents>\
        <CommonPrefixes><Prefix>a/e/</Prefix></CommonPrefixes></ListBucketResult>";

    fn page(text: &str, step: usize) -> Result<(Vec<Entry>, Option<String>), String> {
        let mut entries = Vec::new();
        let page = read(Page::new(|entry| entries.push(entry)), text, step);
        let next = match page {
            Ok(page) => page.next().map_err(str::to_owned)?,
            Err(Instead::Wrong(why)) => return Err(why.to_owned()),
            Err(Instead::Said(said)) => return Err(said.code),
        };
        Ok((entries, next))
    }

    #[test]
    fn entries_are_the_same_however_the_pieces_fall() {
        let entry = |key: &str, size, changed, folder| Entry { key: key.to_owned(), size, changed, folder };
        let expected =
            vec![entry("a/b & c", 7, 1_440_938_160, false), entry("a/d", 0, 0, false), entry("a/e/", 0, 0, true)];
        for step in [1, 2, 3, 7, 100, 10_000] {
            assert_eq!(page(GOOD, step), Ok((expected.clone(), Some("x+/=<".to_owned()))), "pieces of {step}");
        }
    }

    #[test]
    fn every_cut_is_seen() {
        for end in 0..GOOD.len() {
            assert!(page(&GOOD[..end], 64).is_err(), "cut at {end}");
        }
    }

    #[test]
    fn what_is_no_page_is_said() {
        let root = |inner: &str| format!("<ListBucketResult>{inner}</ListBucketResult>");
        for (text, why) in [
            (root("<Contents><Size>7</Size></Contents>"), "an entry has no key"),
            (root("<Contents><Key>a</Key><Size>x</Size></Contents>"), "a size is no number"),
            (
                root("<IsTruncated>true</IsTruncated>"),
                "it is not the last page, and does not say where the next begins",
            ),
            ("<Error><Code>NoSuchBucket</Code></Error>".to_owned(), "NoSuchBucket"),
            ("<html><body/></html>".to_owned(), "its root is another"),
        ] {
            assert_eq!(page(&text, 5).unwrap_err(), why, "{text}");
        }
        assert_eq!(page(&root(""), 5), Ok((vec![], None)));
    }
}
