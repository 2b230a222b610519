//! Counts the entries of a WebDAV multistatus (RFC 4918, 14.16) while it arrives, in memory that does not grow with the listing.

use pileup_http1::decode;
use pileup_http1::xml::{Elements, Open, Scanner, Text, Wrong};

/// The count. Feed it the body piece by piece, then ask for it.
#[derive(Debug)]
pub(crate) struct Listing {
    scanner: Scanner,
    found: Found,
}

/// What has been found so far.
#[derive(Debug)]
struct Found {
    /// Path of the folder itself, decoded, without a slash at the end: it is not an entry.
    folder: Vec<u8>,
    /// Text of the first `href` of the response at hand.
    href: Vec<u8>,
    href_seen: bool,
    entries: u64,
}

impl Listing {
    /// For the answer to a request for this path (as sent, query and escapes included).
    pub(crate) fn new(path: &str) -> Self {
        let path = path.split('?').next().unwrap_or_default();
        let folder = without_slash(decode(path.as_bytes()));
        Self { scanner: Scanner::default(), found: Found { folder, href: Vec::new(), href_seen: false, entries: 0 } }
    }

    /// Take the next piece.
    ///
    /// # Errors
    /// Why this is not a multistatus.
    pub(crate) fn feed(&mut self, piece: &[u8]) -> Result<(), Wrong> {
        self.scanner.feed(piece, &mut self.found)
    }

    /// The number of entries, the folder itself left out.
    ///
    /// # Errors
    /// When the listing is not complete.
    pub(crate) fn finish(self) -> Result<u64, Wrong> {
        self.scanner.finish()?;
        Ok(self.found.entries)
    }
}

impl Elements for Found {
    fn begin(&mut self, open: &Open<'_>) -> Result<(), Wrong> {
        match open.depth() {
            1 if open.last() != b"multistatus" => return Err("its root is not a multistatus"),
            2 if open.last() == b"response" => {
                self.href.clear();
                self.href_seen = false;
            }
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, open: &Open<'_>, text: &Text<'_>) -> Result<(), Wrong> {
        if open.depth() != 3 || self.href_seen || open.last() != b"href" {
            return Ok(());
        }
        text.add_to(&mut self.href)
    }

    fn end(&mut self, open: &Open<'_>) -> Result<(), Wrong> {
        if open.depth() == 2 && open.last() == b"response" {
            if !self.href_seen {
                return Err("a response has no href");
            }
            self.entries += u64::from(!self.is_folder());
        }
        self.href_seen |= open.depth() == 3 && open.last() == b"href";
        Ok(())
    }
}

impl Found {
    fn is_folder(&self) -> bool {
        let href = self.href.trim_ascii();
        let path = match memchr::memmem::find(href, b"://") {
            Some(at) => {
                let rest = &href[at + 3..];
                memchr::memchr(b'/', rest).map_or(&b""[..], |slash| &rest[slash..])
            }
            None => href,
        };
        without_slash(decode(path)) == self.folder
    }
}

fn without_slash(mut path: Vec<u8>) -> Vec<u8> {
    while path.last() == Some(&b'/') {
        path.pop();
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "\u{feff}<?xml version=\"1.0\"?>\n<!-- > a <comment> -->\
        <D:multistatus xmlns:D='DAV:' note=\"a > b\">\
        <D:response><D:href>http://h:1/a%20b/</D:href><D:propstat/></D:response>\
        <D:response><D:href>/a%20b/x&amp;y</D:href><D:propstat><D:prop><D:href>/a%20b</D:href></D:prop></D:propstat></D:response>\
        <D:response><D:href><![CDATA[/a b/z]]></D:href></D:response>\
        <D:responsedescription>ok</D:responsedescription></D:multistatus>\n";

    fn count(text: &str, step: usize) -> Result<u64, &'static str> {
        let mut listing = Listing::new("/a%20b/?authz=t");
        for piece in text.as_bytes().chunks(step) {
            listing.feed(piece)?;
        }
        listing.finish()
    }

    #[test]
    fn the_folder_itself_is_no_entry_however_the_pieces_fall() {
        for step in [1, 2, 3, 7, 100, 10_000] {
            assert_eq!(count(GOOD, step), Ok(2), "pieces of {step}");
        }
    }

    #[test]
    fn every_cut_is_seen() {
        let whole = GOOD.trim_end();
        for end in (0..whole.len()).filter(|end| whole.is_char_boundary(*end)) {
            assert!(count(&whole[..end], 64).is_err(), "cut at {end}");
        }
    }

    #[test]
    fn what_is_no_multistatus_is_said() {
        for (text, why) in [
            ("", "it is empty"),
            ("Index of /", "it is not XML"),
            ("hello <b>", "it is not XML"),
            ("<html><body/></html>", "its root is not a multistatus"),
            ("<!DOCTYPE x><multistatus/>", "it has a document type"),
            ("<multistatus><a></b></multistatus>", "it is not well-formed"),
            ("<multistatus><response/></multistatus>", "a response has no href"),
            ("<multistatus></multistatus><multistatus/>", "it has a second root"),
        ] {
            assert_eq!(count(text, 5), Err(why), "{text}");
        }
        assert_eq!(count("<multistatus/>", 3), Ok(0));
        assert_eq!(count(&"<multistatus>".repeat(80), 5), Err("it is not well-formed"));
        assert_eq!(
            count(&format!("<multistatus a='{}", "x".repeat(70_000)), 5000),
            Err("a tag or text is longer than 64 KiB")
        );
    }

    #[test]
    fn memory_does_not_grow_with_the_listing() {
        let mut listing = Listing::new("/");
        listing.feed(b"<multistatus>").unwrap();
        for _ in 0..20_000 {
            listing.feed(b"<response><href>/some/name</href></response>").unwrap();
        }
        assert!(listing.scanner.held() + listing.found.href.capacity() < 2000);
        listing.feed(b"</multistatus>").unwrap();
        assert_eq!(listing.finish(), Ok(20_000));
    }

    #[test]
    fn s23_every_byte_is_looked_at_once() {
        let long = "x".repeat(65_000);
        for (begin, end) in [("<a b='", "'/>"), ("<!--", "-->"), ("<a>", "</a>"), ("<a><![CDATA[", "]]></a>")] {
            let mut listing = Listing::new("/");
            listing.feed(b"<multistatus>").unwrap();
            listing.feed(begin.as_bytes()).unwrap();
            let before = listing.scanner.looked().0;
            for (count, byte) in long.bytes().enumerate() {
                listing.feed(&[byte]).unwrap();
                let (there, seen) = listing.scanner.looked();
                assert!(seen + 2 > before + count, "{begin}: {seen} of {there}");
            }
            for byte in end.bytes() {
                listing.feed(&[byte]).unwrap();
            }
            assert_eq!(listing.scanner.looked().0, 0, "{begin}");
            listing.feed(b"</multistatus>").unwrap();
            assert_eq!(listing.finish(), Ok(0));
        }
    }

    #[test]
    fn s19_no_encoding_hides_a_document_type() {
        let text = "<?xml version='1.0'?><!DOCTYPE x [<!ENTITY a 'b'>]><multistatus/>";
        let wide = |swap: bool| -> Vec<u8> {
            let bytes = |unit: u16| if swap { unit.to_be_bytes() } else { unit.to_le_bytes() };
            format!("\u{feff}{text}").encode_utf16().flat_map(bytes).collect()
        };
        for body in [wide(false), wide(true), wide(false)[2..].to_vec(), wide(true)[2..].to_vec()] {
            let mut listing = Listing::new("/");
            assert!(body.chunks(7).try_for_each(|piece| listing.feed(piece)).is_err());
        }
    }
}
