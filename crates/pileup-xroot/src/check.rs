//! Whether what is read is what it should be: content, checksums of pages, a sum over all. Piece by piece, nothing is kept.

use pileup_engine::content::{Adler32, Maker, Object};

use crate::error::Trouble;
use crate::frame::{PAGE, Parsed};

/// Looks at data as it comes.
pub(crate) struct Check {
    /// Content to compare with.
    content: Option<Maker>,
    /// What was wrong first.
    wrong: Option<String>,
    /// Whether everything is summed up.
    pub(crate) sums: bool,
}

impl Check {
    /// Compare with this, where something is known.
    pub(crate) fn new(content: Option<Object>, sums: bool) -> Self {
        Self { content: content.map(|object| Maker::new(&object)), wrong: None, sums }
    }

    /// Look at data of this place.
    pub(crate) fn look(&mut self, offset: u64, data: &[u8]) {
        if self.wrong.is_none()
            && let Some(wrong) = self.content.as_ref().and_then(|maker| maker.first_wrong(offset, data))
        {
            self.wrong = Some(format!("wrong content at offset {wrong}"));
        }
    }

    /// A page whose checksum is not that of what came.
    pub(crate) fn torn(&mut self, offset: u64) {
        self.wrong.get_or_insert_with(|| format!("the checksum of the page at offset {offset} is wrong"));
    }

    /// Judge what has come.
    ///
    /// # Errors
    /// What was wrong first.
    pub(crate) fn finish(self) -> Result<(), Trouble> {
        self.wrong.map_or(Ok(()), |wrong| Err(Trouble::failed(wrong)))
    }
}

/// Takes pages with their checksums before them apart (kXR_pgread): 4 bytes of CRC-32C, then the page; the first ends at a multiple of the
/// size of a page in the file, the last with the data.
pub struct Pages {
    /// Where in the file the next byte belongs.
    at: u64,
    /// Bytes of this frame left, checksums included.
    left: u64,
    /// Bytes of the checksum that have come, and the checksum so far.
    come: u32,
    stated: u32,
    /// Checksum of the page so far.
    sum: u32,
    /// Bytes of the page that are to come.
    page: u64,
}

/// What is in pages.
pub enum Found<'a> {
    /// Data of this place.
    Data(u64, &'a [u8]),
    /// The page that ends before this place has another checksum than stated.
    Torn(u64),
}

impl Pages {
    /// Of a frame of `length` bytes, checksums included, that belongs to this place.
    #[must_use]
    pub fn new(offset: u64, length: u32) -> Self {
        Self { at: offset, left: u64::from(length), come: 0, stated: 0, sum: 0, page: 0 }
    }

    /// Take the next bytes.
    ///
    /// # Errors
    /// When a page has a checksum and no data.
    pub fn feed(&mut self, mut bytes: &[u8], mut found: impl FnMut(Found<'_>)) -> Parsed<()> {
        while let Some(first) = bytes.first().copied() {
            if self.left == 0 {
                return Err("more pages than stated");
            }
            if self.come < 4 {
                self.stated = self.stated << 8 | u32::from(first);
                self.come += 1;
                self.left -= 1;
                bytes = &bytes[1..];
                if self.come == 4 {
                    self.page = (PAGE as u64 - self.at % PAGE as u64).min(self.left);
                    if self.page == 0 {
                        return Err("a checksum without a page");
                    }
                }
                continue;
            }
            let length = usize::try_from(self.page).unwrap_or(PAGE).min(bytes.len());
            let (data, rest) = bytes.split_at(length);
            self.sum = crc32c::crc32c_append(self.sum, data);
            found(Found::Data(self.at, data));
            bytes = rest;
            self.at += length as u64;
            self.page -= length as u64;
            self.left -= length as u64;
            if self.page == 0 {
                if self.sum != self.stated {
                    found(Found::Torn(self.at));
                }
                (self.come, self.stated, self.sum) = (0, 0, 0);
            }
        }
        if self.left == 0 && self.come > 0 { Err("a checksum without a page") } else { Ok(()) }
    }

    /// Where in the file the next byte belongs.
    #[must_use]
    pub fn at(&self) -> u64 {
        self.at
    }
}

/// Bytes of a page's data that a frame of pages holds at most, for `length` bytes of data at any place: one checksum a page, two pages more.
#[must_use]
pub fn with_sums(length: u64) -> u64 {
    length + 4 * (length / PAGE as u64 + 2)
}

/// Takes the answer to a vector read apart: 16 bytes name a piece, its data follows, piece after piece.
#[derive(Default)]
pub struct Pieces {
    head: [u8; 16],
    come: usize,
    /// Bytes of the piece that are to come, and where they belong.
    left: u32,
    at: u64,
}

impl Pieces {
    /// Take the next bytes. `next` gives the (offset, length) of the next piece that was asked for.
    ///
    /// # Errors
    /// When a piece is another than the one asked for.
    pub fn feed(
        &mut self,
        mut bytes: &[u8],
        mut next: impl FnMut() -> Option<(u64, u32)>,
        mut found: impl FnMut(u64, &[u8]),
    ) -> Parsed<()> {
        while !bytes.is_empty() {
            if self.left > 0 {
                let length = (self.left as usize).min(bytes.len());
                let (data, rest) = bytes.split_at(length);
                found(self.at, data);
                self.at += length as u64;
                self.left -= u32::try_from(length).unwrap_or(self.left);
                bytes = rest;
                continue;
            }
            let length = (self.head.len() - self.come).min(bytes.len());
            self.head[self.come..self.come + length].copy_from_slice(&bytes[..length]);
            self.come += length;
            bytes = &bytes[length..];
            if self.come == self.head.len() {
                self.come = 0;
                let [.., a, b, c, d, e, f, g, h, i, j, k, l] = self.head;
                let stated = (u64::from_be_bytes([e, f, g, h, i, j, k, l]), u32::from_be_bytes([a, b, c, d]));
                if next() != Some(stated) {
                    return Err("another piece than the one asked for");
                }
                (self.at, self.left) = stated;
            }
        }
        Ok(())
    }

    /// Whether it ended between two pieces.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.left == 0 && self.come == 0
    }
}

/// Adler-32 of what was summed up in parts (RFC 1950): `b` of `length` bytes behind `a`.
pub(crate) fn join_sums(a: u32, b: u32, length: u64) -> u32 {
    const BASE: u64 = 65_521;
    let (low_a, high_a) = (u64::from(a & 0xffff), u64::from(a >> 16));
    let (low_b, high_b) = (u64::from(b & 0xffff), u64::from(b >> 16));
    let low = (low_a + low_b + BASE - 1) % BASE;
    let high = (high_a + high_b + (length % BASE) * ((low_a + BASE - 1) % BASE)) % BASE;
    u32::try_from(high << 16 | low).unwrap_or_default()
}

/// A sum in the making; nothing when nobody wants it.
pub(crate) fn sum(wanted: bool) -> Option<Adler32> {
    wanted.then(Adler32::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(data: &[u8]) -> u32 {
        let mut sum = Adler32::new();
        sum.write(data);
        sum.finish()
    }

    #[test]
    fn sums_join() {
        let data: Vec<u8> = (0..200_000u32).map(|at| (at.wrapping_mul(at) >> 7) as u8 | 0xe0).collect();
        for cut in [0, 1, 5552, 65_521, 131_042, 200_000] {
            let (a, b) = data.split_at(cut);
            assert_eq!(join_sums(of(a), of(b), b.len() as u64), of(&data), "{cut}");
        }
    }

    /// Pages as a server makes them.
    fn pages(offset: u64, data: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut at = 0;
        while at < data.len() {
            let length = (PAGE - (offset as usize + at) % PAGE).min(data.len() - at);
            let page = &data[at..at + length];
            bytes.extend(crc32c::crc32c(page).to_be_bytes());
            bytes.extend(page);
            at += length;
        }
        bytes
    }

    fn read(offset: u64, length: usize, bytes: &[u8], step: usize) -> Parsed<(Vec<u8>, Vec<u64>)> {
        let mut pages = Pages::new(offset, length as u32);
        let (mut data, mut torn) = (Vec::new(), Vec::new());
        for piece in bytes.chunks(step) {
            pages.feed(piece, |found| match found {
                Found::Data(at, piece) => {
                    assert_eq!(at, offset + data.len() as u64);
                    data.extend(piece);
                }
                Found::Torn(at) => torn.push(at),
            })?;
        }
        assert_eq!(pages.at(), offset + data.len() as u64);
        Ok((data, torn))
    }

    #[test]
    fn pages_come_apart_wherever_they_are_cut() {
        let data: Vec<u8> = (0..10_000).map(|at| (at % 251) as u8).collect();
        for offset in [0, 1, 4095, 4096, 5000] {
            let mut bytes = pages(offset, &data);
            assert!(bytes.len() as u64 <= with_sums(data.len() as u64));
            for step in [1, 3, 4096, 4100, 20_000] {
                assert_eq!(read(offset, bytes.len(), &bytes, step), Ok((data.clone(), vec![])), "{offset} {step}");
            }
            let last = bytes.len() - 1;
            bytes[last] ^= 1;
            assert_eq!(read(offset, bytes.len(), &bytes, 777).unwrap().1, [offset + 10_000]);
        }
        let bytes = pages(0, &data);
        assert_eq!(read(0, 4, &bytes[..4], 4), Err("a checksum without a page"));
        assert_eq!(read(0, 4102, &bytes[..4102], 1), Err("a checksum without a page"));
        assert_eq!(read(0, 100, &bytes, 4096), Err("more pages than stated"));
    }

    #[test]
    fn pieces_come_apart_and_must_be_those_asked_for() {
        let asked = [(10u64, 3u32), (500, 1), (7_000_000_000, 5)];
        let mut bytes = Vec::new();
        for (offset, length) in asked {
            bytes.extend([9, 9, 9, 9]);
            bytes.extend(length.to_be_bytes());
            bytes.extend(offset.to_be_bytes());
            bytes.extend((0..length).map(|at| (offset as u8).wrapping_add(at as u8)));
        }
        for step in [1, 7, 100] {
            let (mut pieces, mut next, mut seen) = (Pieces::default(), asked.into_iter(), 0);
            for piece in bytes.chunks(step) {
                let look = |at: u64, data: &[u8]| {
                    assert_eq!(data[0], at as u8);
                    seen += data.len();
                };
                pieces.feed(piece, || next.next(), look).unwrap();
            }
            assert!(pieces.is_whole() && next.next().is_none() && seen == 9);
        }
        let mut pieces = Pieces::default();
        assert!(pieces.feed(&bytes, || Some((10, 4)), |_, _| {}).is_err());
        assert!(Pieces::default().feed(&bytes, || None, |_, _| {}).is_err());
        let mut cut = Pieces::default();
        cut.feed(&bytes[..20], || Some((10, 3)), |_, _| {}).unwrap_or_default();
        assert!(!cut.is_whole());
    }
}
