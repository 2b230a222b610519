//! Counts the entries of a WebDAV multistatus (RFC 4918, 14.16) while it arrives, in memory that does not grow with the listing.

use pileup_http1::decode;

/// Longest tag, comment or text that is looked at as a whole.
const LONGEST: usize = 64 * 1024;
/// Deepest nesting.
const DEEPEST: usize = 64;

/// The scanner. Feed it the body piece by piece, then ask for the count.
#[derive(Debug)]
pub(crate) struct Listing {
    /// Path of the folder itself, decoded, without a slash at the end: it is not an entry.
    folder: Vec<u8>,
    /// What has arrived and is not understood yet: the begin of one token.
    rest: Vec<u8>,
    /// How much of it has been looked through for the token's end, so that no byte is looked at twice.
    seen: usize,
    /// The quote that is open there, when it is a tag.
    quote: Option<u8>,
    /// Names of the open elements one after another, and where each begins.
    names: Vec<u8>,
    open: Vec<usize>,
    /// Text of the first `href` of the response at hand.
    href: Vec<u8>,
    href_seen: bool,
    begun: bool,
    entries: u64,
}

impl Listing {
    /// For the answer to a request for this path (as sent, query and escapes included).
    pub(crate) fn new(path: &str) -> Self {
        let path = path.split('?').next().unwrap_or_default();
        Self {
            folder: without_slash(decode(path.as_bytes())),
            rest: Vec::new(),
            seen: 0,
            quote: None,
            names: Vec::new(),
            open: Vec::new(),
            href: Vec::new(),
            href_seen: false,
            begun: false,
            entries: 0,
        }
    }

    /// Take the next piece.
    ///
    /// # Errors
    /// Why this is not a multistatus.
    pub(crate) fn feed(&mut self, piece: &[u8]) -> Result<(), &'static str> {
        let mut rest = std::mem::take(&mut self.rest);
        rest.extend_from_slice(piece);
        let mut at = 0;
        while let Some(step) = self.token(&rest[at..])? {
            at += step;
            (self.seen, self.quote) = (0, None);
        }
        if rest.len() - at > LONGEST {
            return Err("a tag or text is longer than 64 KiB");
        }
        rest.drain(..at);
        self.rest = rest;
        Ok(())
    }

    /// The number of entries, the folder itself left out.
    ///
    /// # Errors
    /// When the listing is not complete.
    pub(crate) fn finish(self) -> Result<u64, &'static str> {
        let blank = self.rest.iter().all(u8::is_ascii_whitespace);
        if !self.begun {
            return Err(if blank { "it is empty" } else { "it is not XML" });
        }
        if self.open.is_empty() && blank { Ok(self.entries) } else { Err("it ends too early") }
    }

    /// Take one token off the front and return its length; `None`: it is not complete yet.
    fn token(&mut self, input: &[u8]) -> Result<Option<usize>, &'static str> {
        match input.first() {
            None => Ok(None),
            Some(b'<') => self.markup(input),
            Some(_) => match memchr::memchr(b'<', &input[self.seen..]) {
                Some(end) => self.text(&input[..self.seen + end], true).map(|()| Some(self.seen + end)),
                None => {
                    self.seen = input.len();
                    Ok(None)
                }
            },
        }
    }

    fn markup(&mut self, input: &[u8]) -> Result<Option<usize>, &'static str> {
        for (begin, end) in [("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>")] {
            let begin = begin.as_bytes();
            if input.len() < begin.len() && begin.starts_with(input) {
                return Ok(None);
            }
            if !input.starts_with(begin) {
                continue;
            }
            let from = self.seen.max(begin.len());
            let Some(found) = memchr::memmem::find(&input[from..], end.as_bytes()) else {
                self.seen = input.len().saturating_sub(end.len() - 1).max(from); // a part of the end may be there
                return Ok(None);
            };
            let inner = from + found - begin.len();
            if begin.len() == 9 {
                self.text(&input[9..9 + inner], false)?;
            }
            return Ok(Some(begin.len() + inner + end.len()));
        }
        if input.starts_with(b"<!") {
            return Err("it has a document type");
        }
        let Some(end) = self.end_of_tag(input) else { return Ok(None) };
        self.tag(&input[1..end])?;
        Ok(Some(end + 1))
    }

    /// A tag without its angle brackets.
    fn tag(&mut self, tag: &[u8]) -> Result<(), &'static str> {
        if let Some(name) = tag.strip_prefix(b"/") {
            return self.close(name.trim_ascii_end());
        }
        let (tag, empty) = tag.strip_suffix(b"/").map_or((tag, false), |tag| (tag, true));
        let length = tag.iter().position(u8::is_ascii_whitespace).unwrap_or(tag.len());
        let name = &tag[..length];
        if name.is_empty() || self.open.len() == DEEPEST {
            return Err("it is not well-formed");
        }
        if self.open.is_empty() && (self.begun || local(name) != b"multistatus") {
            return Err("its root is not a multistatus");
        }
        self.begun = true;
        self.open.push(self.names.len());
        self.names.extend_from_slice(name);
        if self.open.len() == 2 && local(name) == b"response" {
            self.href.clear();
            self.href_seen = false;
        }
        if empty { self.close_top() } else { Ok(()) }
    }

    fn close(&mut self, name: &[u8]) -> Result<(), &'static str> {
        if self.top() != Some(name) {
            return Err("it is not well-formed");
        }
        self.close_top()
    }

    fn close_top(&mut self) -> Result<(), &'static str> {
        let Some(name) = self.top().map(local) else { return Err("it is not well-formed") };
        let (is_response, is_href) = (name == b"response", name == b"href");
        if self.open.len() == 2 && is_response {
            if !self.href_seen {
                return Err("a response has no href");
            }
            self.entries += u64::from(!self.is_folder());
        }
        self.href_seen |= self.open.len() == 3 && is_href;
        if let Some(begin) = self.open.pop() {
            self.names.truncate(begin);
        }
        Ok(())
    }

    fn text(&mut self, text: &[u8], escaped: bool) -> Result<(), &'static str> {
        let Some(name) = self.top() else {
            // Outside of the root: only blanks, and the mark of UTF-8 at the very begin.
            let blank = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text).iter().all(u8::is_ascii_whitespace);
            return if blank { Ok(()) } else { Err("it is not XML") };
        };
        if self.open.len() != 3 || self.href_seen || local(name) != b"href" {
            return Ok(());
        }
        if self.href.len() + text.len() > LONGEST {
            return Err("a tag or text is longer than 64 KiB");
        }
        if escaped {
            unescape(&mut self.href, text)
        } else {
            self.href.extend_from_slice(text)
        }
        Ok(())
    }

    /// Where the `>` of the tag is, those inside of quotes left out.
    fn end_of_tag(&mut self, input: &[u8]) -> Option<usize> {
        for (at, byte) in input.iter().enumerate().skip(self.seen) {
            match (self.quote, byte) {
                (None, b'>') => return Some(at),
                (None, b'"' | b'\'') => self.quote = Some(*byte),
                (Some(open), byte) if *byte == open => self.quote = None,
                _ => {}
            }
        }
        self.seen = input.len();
        None
    }

    fn top(&self) -> Option<&[u8]> {
        self.open.last().map(|begin| &self.names[*begin..])
    }

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

/// The name without its namespace prefix.
fn local(name: &[u8]) -> &[u8] {
    memchr::memchr(b':', name).map_or(name, |colon| &name[colon + 1..])
}

/// Append text with the five entities and character numbers of XML resolved; what is none stays.
fn unescape(into: &mut Vec<u8>, text: &[u8]) {
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'&', rest) {
        into.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        let found =
            memchr::memchr(b';', &rest[..rest.len().min(12)]).and_then(|end| Some((entity(&rest[1..end])?, end + 1)));
        let (character, length) = found.unwrap_or(('&', 1));
        into.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        rest = &rest[length..];
    }
    into.extend_from_slice(rest);
}

fn entity(name: &[u8]) -> Option<char> {
    match name {
        b"amp" => return Some('&'),
        b"lt" => return Some('<'),
        b"gt" => return Some('>'),
        b"quot" => return Some('"'),
        b"apos" => return Some('\''),
        _ => {}
    }
    let digits = std::str::from_utf8(name.strip_prefix(b"#")?).ok()?;
    let number = match digits.strip_prefix('x') {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => digits.parse().ok()?,
    };
    char::from_u32(number)
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
            ("<multistatus></multistatus><multistatus/>", "its root is not a multistatus"),
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
        assert!(listing.rest.capacity() + listing.names.capacity() + listing.href.capacity() < 2000);
        listing.feed(b"</multistatus>").unwrap();
        assert_eq!(listing.finish(), Ok(20_000));
    }

    #[test]
    fn s23_every_byte_is_looked_at_once() {
        let long = "x".repeat(LONGEST - 100);
        for (begin, end) in [("<a b='", "'/>"), ("<!--", "-->"), ("<a>", "</a>"), ("<a><![CDATA[", "]]></a>")] {
            let mut listing = Listing::new("/");
            listing.feed(b"<multistatus>").unwrap();
            listing.feed(begin.as_bytes()).unwrap();
            let before = listing.rest.len();
            for (count, byte) in long.bytes().enumerate() {
                listing.feed(&[byte]).unwrap();
                assert!(listing.seen + 2 > before + count, "{begin}: {} of {}", listing.seen, listing.rest.len());
            }
            for byte in end.bytes() {
                listing.feed(&[byte]).unwrap();
            }
            assert_eq!(listing.rest, b"", "{begin}");
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
