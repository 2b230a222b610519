//! XML of answers, read while it arrives, in memory that does not grow with it: elements and their texts, for whoever looks for some of them.
//!
//! No document types, so no entities but the five of XML and character numbers; tags, comments and texts are bounded, and so is the nesting.

/// Longest tag, comment or text that is looked at as a whole.
const LONGEST: usize = 64 * 1024;
/// Deepest nesting.
const DEEPEST: usize = 64;

/// Why something is not the XML that was expected: the rest of a sentence that begins with what it is.
pub type Wrong = &'static str;

/// What looks for some elements among all.
pub trait Elements {
    /// An element begins; it is the last of `open`.
    ///
    /// # Errors
    /// When it cannot be there.
    fn begin(&mut self, open: &Open<'_>) -> Result<(), Wrong>;

    /// Text in the last element of `open`, or a part of it.
    ///
    /// # Errors
    /// When it cannot be there.
    fn text(&mut self, open: &Open<'_>, text: &Text<'_>) -> Result<(), Wrong>;

    /// An element ends; it is the last of `open` still.
    ///
    /// # Errors
    /// When something is missing in it.
    fn end(&mut self, open: &Open<'_>) -> Result<(), Wrong>;
}

/// The elements that are open, the root first.
#[derive(Clone, Copy, Debug)]
pub struct Open<'a> {
    /// Their names one after another, and where each begins.
    names: &'a [u8],
    begins: &'a [usize],
}

impl<'a> Open<'a> {
    /// How many.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.begins.len()
    }

    /// The name of the n-th, from 0, without its namespace prefix; nothing where there is none.
    #[must_use]
    pub fn name(&self, number: usize) -> &'a [u8] {
        let Some(begin) = self.begins.get(number) else { return b"" };
        let end = self.begins.get(number + 1).copied().unwrap_or(self.names.len());
        local(&self.names[*begin..end])
    }

    /// The name of the last.
    #[must_use]
    pub fn last(&self) -> &'a [u8] {
        self.depth().checked_sub(1).map_or(b"", |number| self.name(number))
    }
}

/// Text as it was written.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    raw: &'a [u8],
    escaped: bool,
}

impl Text<'_> {
    /// Append it as it is meant, at most 64 KiB in all.
    ///
    /// # Errors
    /// When it is longer.
    pub fn add_to(&self, into: &mut Vec<u8>) -> Result<(), Wrong> {
        if into.len() + self.raw.len() > LONGEST {
            return Err("a tag or text is longer than 64 KiB");
        }
        if self.escaped {
            unescape(into, self.raw);
        } else {
            into.extend_from_slice(self.raw);
        }
        Ok(())
    }
}

/// The scanner. Feed it the document piece by piece, then ask whether that was all.
#[derive(Debug, Default)]
pub struct Scanner {
    /// What has arrived and is not understood yet: the begin of one token.
    rest: Vec<u8>,
    /// How much of it has been looked through for the token's end, so that no byte is looked at twice.
    seen: usize,
    /// The quote that is open there, when it is a tag.
    quote: Option<u8>,
    /// Names of the open elements one after another, and where each begins.
    names: Vec<u8>,
    open: Vec<usize>,
    begun: bool,
}

impl Scanner {
    /// Take the next piece.
    ///
    /// # Errors
    /// Why this is not XML, or not what `elements` expect.
    pub fn feed(&mut self, piece: &[u8], elements: &mut impl Elements) -> Result<(), Wrong> {
        let mut rest = std::mem::take(&mut self.rest);
        rest.extend_from_slice(piece);
        let mut at = 0;
        while let Some(step) = self.token(&rest[at..], elements)? {
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

    /// All has come.
    ///
    /// # Errors
    /// When the document is not complete.
    pub fn finish(&self) -> Result<(), Wrong> {
        let blank = self.rest.iter().all(u8::is_ascii_whitespace);
        if !self.begun {
            return Err(if blank { "it is empty" } else { "it is not XML" });
        }
        if self.open.is_empty() && blank { Ok(()) } else { Err("it ends too early") }
    }

    /// Bytes that it holds, for tests of its memory.
    #[must_use]
    pub fn held(&self) -> usize {
        self.rest.capacity() + self.names.capacity()
    }

    /// How much of a token that is not complete has come, and how much of that was looked through, for tests of its time.
    #[must_use]
    pub fn looked(&self) -> (usize, usize) {
        (self.rest.len(), self.seen)
    }

    fn open(&self) -> Open<'_> {
        Open { names: &self.names, begins: &self.open }
    }

    /// Take one token off the front and return its length; `None`: it is not complete yet.
    fn token(&mut self, input: &[u8], elements: &mut impl Elements) -> Result<Option<usize>, Wrong> {
        match input.first() {
            None => Ok(None),
            Some(b'<') => self.markup(input, elements),
            Some(_) => match memchr::memchr(b'<', &input[self.seen..]) {
                Some(end) => self.text(&input[..self.seen + end], true, elements).map(|()| Some(self.seen + end)),
                None => {
                    self.seen = input.len();
                    Ok(None)
                }
            },
        }
    }

    fn markup(&mut self, input: &[u8], elements: &mut impl Elements) -> Result<Option<usize>, Wrong> {
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
                self.text(&input[9..9 + inner], false, elements)?;
            }
            return Ok(Some(begin.len() + inner + end.len()));
        }
        if input.starts_with(b"<!") {
            return Err("it has a document type");
        }
        let Some(end) = self.end_of_tag(input) else { return Ok(None) };
        self.tag(&input[1..end], elements)?;
        Ok(Some(end + 1))
    }

    /// A tag without its angle brackets.
    fn tag(&mut self, tag: &[u8], elements: &mut impl Elements) -> Result<(), Wrong> {
        if let Some(name) = tag.strip_prefix(b"/") {
            return self.close(name.trim_ascii_end(), elements);
        }
        let (tag, empty) = tag.strip_suffix(b"/").map_or((tag, false), |tag| (tag, true));
        let length = tag.iter().position(u8::is_ascii_whitespace).unwrap_or(tag.len());
        let name = &tag[..length];
        if name.is_empty() || self.open.len() == DEEPEST {
            return Err("it is not well-formed");
        }
        if self.open.is_empty() && self.begun {
            return Err("it has a second root");
        }
        self.begun = true;
        self.open.push(self.names.len());
        self.names.extend_from_slice(name);
        elements.begin(&self.open())?;
        if empty { self.close_top(elements) } else { Ok(()) }
    }

    fn close(&mut self, name: &[u8], elements: &mut impl Elements) -> Result<(), Wrong> {
        let top = self.open.last().map(|begin| &self.names[*begin..]);
        if top != Some(name) {
            return Err("it is not well-formed");
        }
        self.close_top(elements)
    }

    fn close_top(&mut self, elements: &mut impl Elements) -> Result<(), Wrong> {
        elements.end(&self.open())?;
        if let Some(begin) = self.open.pop() {
            self.names.truncate(begin);
        }
        Ok(())
    }

    fn text(&mut self, text: &[u8], escaped: bool, elements: &mut impl Elements) -> Result<(), Wrong> {
        if self.open.is_empty() {
            // Outside of the root: only blanks, and the mark of UTF-8 at the very begin.
            let blank = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text).iter().all(u8::is_ascii_whitespace);
            return if blank { Ok(()) } else { Err("it is not XML") };
        }
        elements.text(&self.open(), &Text { raw: text, escaped })
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
