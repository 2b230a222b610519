//! All parsers at once on any bytes: what a fuzzer calls. Nothing here is used by a client.

use crate::check::{Pages, Pieces};
use crate::frame::{self, ANSWER, CHECKED, Code, Head, Parsed, Status};
use crate::listing::Listing;

/// What one connection has taken so far.
#[derive(Default)]
struct Taken {
    listing: Listing,
    pieces: Pieces,
    /// Offset and length of the next piece, as a server that is right would say.
    next: u64,
}

/// Take bytes as what a server sends: frame after frame, each body read as every kind of answer it could be. Returns how many frames there were.
///
/// It must neither panic nor need more memory than the bytes themselves have, whatever they are.
#[must_use]
pub fn probe(mut bytes: &[u8]) -> usize {
    let (mut taken, mut frames) = (Taken::default(), 0);
    while let Some((head, body, rest)) = split(bytes) {
        frames += 1;
        if taken.frame(head, body).is_err() {
            break;
        }
        bytes = rest;
    }
    frames
}

/// The next frame: head, as much of its body as there is, what follows.
fn split(bytes: &[u8]) -> Option<(Head, &[u8], &[u8])> {
    let (first, rest) = bytes.split_first_chunk::<ANSWER>()?;
    let head = frame::head(*first).ok()?;
    let length = usize::try_from(head.length).unwrap_or(usize::MAX).min(rest.len());
    Some((head, &rest[..length], &rest[length..]))
}

impl Taken {
    fn frame(&mut self, head: Head, body: &[u8]) -> Parsed<()> {
        match head.status {
            Status::Ok | Status::SoFar => self.answer(body),
            Status::Error => frame::error(body).map(drop),
            Status::Redirect => frame::redirect(body).map(drop),
            Status::Wait | Status::WaitAnswer => frame::wait(body).map(drop),
            Status::AuthMore => Ok(()),
            Status::Checked => checked(head, body),
            Status::Attention => match body.split_first_chunk() {
                Some((first, rest)) => match frame::attention(*first, head.length)? {
                    Some(inner) => self.frame(inner, rest),
                    None => Ok(()),
                },
                None => Ok(()),
            },
        }
    }

    /// An answer without a word of what was asked: all it could be.
    fn answer(&mut self, body: &[u8]) -> Parsed<()> {
        let _ = (frame::server(body), frame::login(body), frame::attributes(body), frame::opened(body));
        let _ = (frame::checksum(body), frame::split_port(&String::from_utf8_lossy(body)));
        let next = &mut self.next;
        let _ = self.pieces.feed(
            body,
            || {
                *next += 8;
                Some((*next, 8))
            },
            |_, data| assert!(data.len() <= 8),
        );
        self.listing.feed(body, |_, _| {})
    }
}

/// Pages, as far as their head lets them through.
fn checked(head: Head, body: &[u8]) -> Parsed<()> {
    let Some((first, rest)) = body.split_first_chunk::<CHECKED>() else { return Ok(()) };
    let found = frame::checked(*first, head.stream, Code::PgRead);
    // a fuzzer does not guess a checksum: the pages are read all the same
    let (offset, length) =
        found.map_or((7, u32::try_from(rest.len()).unwrap_or(0)), |found| (found.offset, found.length));
    let mut pages = Pages::new(offset, length);
    pages.feed(rest, |_| {})?;
    found.map(drop)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Frames as a server sends them.
    fn conversation() -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut say = |status: u16, body: &[u8]| {
            bytes.extend([0, 1]);
            bytes.extend(status.to_be_bytes());
            bytes.extend(u32::try_from(body.len()).unwrap().to_be_bytes());
            bytes.extend(body);
        };
        say(0, b".\n0 0 0 0\nname\n1 10 48 99\n");
        say(4000, b"other\n1 10 48 99\n");
        say(4003, b"\0\0\x0b\xc3x; no such file\0");
        say(4004, b"\0\0\x04\x46se01.site.org?a=b\0");
        say(4005, b"\0\0\0\x09wait");
        say(4006, b"\0\0\0\x09");
        say(4001, &[&[0, 0, 0x13, 0x90, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 14][..], b"x\n1 10 48 99\0\0"].concat());
        say(4007, &[&[0; CHECKED][..], &[1; 5000]].concat());
        bytes
    }

    #[test]
    fn a_conversation_is_read_to_its_end() {
        assert_eq!(probe(&conversation()), 8);
        assert_eq!(probe(b"HTTP/1.1 200 OK\r\n\r\n"), 0);
    }

    proptest! {
        #[test]
        fn no_bytes_break_it(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
            prop_assert!(probe(&bytes) <= bytes.len());
        }

        #[test]
        fn no_change_of_a_byte_breaks_it(at in 0usize..5200, byte: u8, cut in 0usize..5200) {
            let mut bytes = conversation();
            let length = bytes.len();
            bytes[at % length] = byte;
            let _ = probe(&bytes[..cut % length]);
            let _ = probe(&bytes);
        }
    }
}
