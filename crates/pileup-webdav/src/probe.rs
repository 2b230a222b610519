//! The parser of listings on any bytes: what a fuzzer calls. Nothing here is used by a client.
//!
//! It must neither panic, nor stand still, nor need more memory than the bytes have and its limits allow.

use crate::listing::Listing;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_right_server_lists_is_counted() {
        assert_eq!(listing(b"\x07<multistatus><response><href>/a%20b/c</href></response></multistatus>"), Some(1));
    }

    #[test]
    fn nothing_is_nothing() {
        assert_eq!(listing(b""), None);
    }
}
