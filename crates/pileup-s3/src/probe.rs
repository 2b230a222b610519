//! The parsers of answers on any bytes: what a fuzzer calls. Nothing here is used by a client.
//!
//! They must neither panic, nor stand still, nor need more memory than the bytes have and their limits allow.

use crate::document::{Begun, Collect, Completed, Document, Instead, Nothing};
use crate::listing::Page;
use crate::uploads::Uploads;

/// Take bytes as an answer of S3: the first byte says which, the second how many come at a time. Returns whether it is one, or an error that
/// has a code.
#[must_use]
pub fn answer(bytes: &[u8]) -> bool {
    let [which, step, bytes @ ..] = bytes else { return false };
    let step = usize::from(*step) + 1;
    match which % 5 {
        0 => {
            let mut entries = 0_u64;
            let page = read(Page::new(|entry| entries += entry.key.len().min(1) as u64), bytes, step);
            page.is_some_and(|page| page.is_none_or(|page| page.next().is_ok()))
        }
        1 => read(Begun::default(), bytes, step).is_some(),
        2 => read(Completed::default(), bytes, step).is_some(),
        3 => read(Uploads::default(), bytes, step).is_some(),
        _ => read(Nothing, bytes, step).is_some(),
    }
}

/// What was found; none for an error; nothing at all for what is neither.
fn read<C: Collect>(collect: C, bytes: &[u8], step: usize) -> Option<Option<C>> {
    let mut document = Document::new(collect);
    for piece in bytes.chunks(step) {
        document.feed(piece).ok()?;
    }
    match document.finish() {
        Ok(found) => Some(Some(found)),
        Err(Instead::Said(said)) if !said.code.is_empty() => Some(None),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_right_server_says_is_understood() {
        let error = b"<Error><Code>SlowDown</Code></Error>";
        for which in 0..5 {
            assert!(answer(&[&[which, 7], &error[..]].concat()), "{which}");
            assert!(!answer(&[&[which, 7], &error[..20]].concat()), "{which}");
        }
        assert!(answer(b"\x00\x07<ListBucketResult><Contents><Key>a</Key></Contents></ListBucketResult>"));
        assert!(!answer(b""));
    }
}
