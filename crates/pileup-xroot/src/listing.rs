//! Listings: names, one a line, each with its attributes on the next line where they were asked for.

use crate::frame::{Attributes, Parsed, attributes};

/// Longest name with its attributes.
const LINE: usize = 16 * 1024;

/// Takes a listing in pieces.
#[derive(Default)]
pub struct Listing {
    /// Whether attributes come with the names.
    attributes: bool,
    /// The name whose attributes are to come.
    name: Option<Vec<u8>>,
    line: Vec<u8>,
    /// Whether a name has come, the mark of attributes included.
    begun: bool,
}

impl Listing {
    /// Take the next piece; `entry` is called for every entry.
    ///
    /// # Errors
    /// When it is none.
    pub fn feed(&mut self, mut bytes: &[u8], mut entry: impl FnMut(&[u8], Option<Attributes>)) -> Parsed<()> {
        while !bytes.is_empty() {
            let end = bytes.iter().position(|byte| *byte == b'\n' || *byte == 0);
            let (piece, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
            if self.line.len() + piece.len() > LINE {
                return Err("a name of more than 16 KiB in a listing");
            }
            self.line.extend_from_slice(piece);
            bytes = rest;
            if end.is_some() {
                bytes = &bytes[1..];
                let line = std::mem::take(&mut self.line);
                self.take(line, &mut entry)?;
            }
        }
        Ok(())
    }

    /// All has come.
    ///
    /// # Errors
    /// When it ended in the middle.
    pub fn finish(mut self, mut entry: impl FnMut(&[u8], Option<Attributes>)) -> Parsed<()> {
        let line = std::mem::take(&mut self.line);
        self.take(line, &mut entry)?;
        if self.name.is_some() { Err("a listing that ends in the middle") } else { Ok(()) }
    }

    fn take(&mut self, line: Vec<u8>, entry: &mut impl FnMut(&[u8], Option<Attributes>)) -> Parsed<()> {
        if let Some(name) = self.name.take() {
            let found = attributes(&line)?;
            // a listing with attributes begins with an entry that is none and has zeros
            if name == b"." && found.size == 0 && found.flags == 0 && found.changed == 0 {
                return Ok(());
            }
            entry(&name, Some(found));
            return Ok(());
        }
        if line.is_empty() {
            return Ok(()); // the end
        }
        if !self.begun {
            (self.begun, self.attributes) = (true, line == b".");
        }
        if self.attributes {
            self.name = Some(line);
        } else {
            entry(&line, None);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8], step: usize) -> Parsed<Vec<(String, Option<u64>)>> {
        let (mut listing, mut found) = (Listing::default(), Vec::new());
        let mut entry = |name: &[u8], of: Option<Attributes>| {
            found.push((String::from_utf8_lossy(name).into_owned(), of.map(|of| of.size)));
        };
        for piece in text.chunks(step) {
            listing.feed(piece, &mut entry)?;
        }
        listing.finish(&mut entry)?;
        Ok(found)
    }

    #[test]
    fn names_come_wherever_they_are_cut() {
        for step in [1, 2, 5, 100] {
            let plain = read(b"a\nbc\nd e\0", step).unwrap();
            assert_eq!(plain, [("a".into(), None), ("bc".into(), None), ("d e".into(), None)]);
            let full = read(b".\n0 0 0 0\nx\n5 17 16 99\nyy\n6 0 18 98\0", step).unwrap();
            assert_eq!(full, [("x".into(), Some(17)), ("yy".into(), Some(0))]);
            assert_eq!(read(b"", step), Ok(vec![]));
            assert_eq!(read(b"\0", step), Ok(vec![]));
            assert_eq!(read(b".\n0 0 0 0\0", step), Ok(vec![]));
        }
    }

    #[test]
    fn what_is_none_is_named() {
        assert_eq!(read(b".\n0 0 0 0\nx\n", 3), Err("invalid attributes"));
        assert_eq!(read(b".\nzzz\n", 3), Err("invalid attributes"));
        assert_eq!(read(&vec![b'x'; 20_000], 512), Err("a name of more than 16 KiB in a listing"));
    }
}
