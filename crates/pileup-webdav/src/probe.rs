//! The parsers of listings and of reports on copies, on any bytes: what a fuzzer calls. Nothing here is used by a client.
//!
//! They must neither panic, nor stand still, nor need more memory than the bytes have and their limits allow.

use crate::listing::Listing;
use crate::markers::{End, Markers};

/// Take bytes as a WebDAV listing; the first byte says how many come at a time. Returns how many entries there were.
#[must_use]
pub fn listing(bytes: &[u8]) -> Option<u64> {
    let [step, bytes @ ..] = bytes else { return None };
    let mut listing = Listing::new("/a%20b/");
    for piece in bytes.chunks(usize::from(*step) + 1) {
        listing.feed(piece).ok()?;
    }
    listing.finish().ok()
}

/// Take bytes as a report on a third-party copy; the first byte says how many come at a time. Returns how many bytes it says were moved, and
/// whether it says that the copy has succeeded.
#[must_use]
pub fn markers(bytes: &[u8]) -> (u64, bool) {
    let [step, bytes @ ..] = bytes else { return (0, false) };
    let mut markers = Markers::default();
    for piece in bytes.chunks(usize::from(*step) + 1) {
        let before = markers.bytes();
        markers.feed(piece);
        assert!(markers.bytes() >= before, "what has been moved stays moved");
    }
    let end = markers.finish();
    (markers.bytes(), end == End::Success)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_right_server_reports_is_read() {
        let text = b"\x07Perf Marker\nStripe Index: 0\nStripe Bytes Transferred: 12\nEnd\nsuccess: Created";
        assert_eq!(markers(text), (12, true));
    }

    #[test]
    fn what_a_right_server_lists_is_counted() {
        assert_eq!(listing(b"\x07<multistatus><response><href>/a%20b/c</href></response></multistatus>"), Some(1));
    }

    #[test]
    fn nothing_is_nothing() {
        assert_eq!(listing(b""), None);
    }
}
