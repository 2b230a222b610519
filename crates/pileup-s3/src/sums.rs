//! Checksums of objects: `x-amz-checksum-*` (Amazon S3 User Guide, "Checking object integrity").

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderName};
use pileup_engine::content::{Maker, Object};
use ring::digest::{Context, SHA256};
use serde::Deserialize;

const PIECE: u64 = 64 * 1024;

pub(crate) const CRC32: HeaderName = HeaderName::from_static("x-amz-checksum-crc32");
pub(crate) const CRC32C: HeaderName = HeaderName::from_static("x-amz-checksum-crc32c");
pub(crate) const SHA: HeaderName = HeaderName::from_static("x-amz-checksum-sha256");

/// Which checksum.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Algorithm {
    Crc32,
    Crc32c,
    Sha256,
}

impl Algorithm {
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [Self::Crc32c, Self::Crc32, Self::Sha256];

    /// The header that states it.
    pub(crate) fn header(self) -> HeaderName {
        match self {
            Self::Crc32 => CRC32,
            Self::Crc32c => CRC32C,
            Self::Sha256 => SHA,
        }
    }

    /// Its name in a request.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Crc32 => "CRC32",
            Self::Crc32c => "CRC32C",
            Self::Sha256 => "SHA256",
        }
    }

    /// Begin to sum up.
    pub(crate) fn begin(self) -> Sum {
        match self {
            Self::Crc32 => Sum::Crc32(crc32fast::Hasher::new()),
            Self::Crc32c => Sum::Crc32c(0),
            Self::Sha256 => Sum::Sha256(Box::new(Context::new(&SHA256))),
        }
    }

    /// That of some bytes.
    pub(crate) fn of(self, bytes: &[u8]) -> Vec<u8> {
        let mut sum = self.begin();
        sum.write(bytes);
        sum.finish()
    }

    /// That of known content, from a byte on up to before another.
    pub(crate) fn of_content(self, object: &Object, begin: u64, end: u64) -> Vec<u8> {
        let (maker, mut sum, mut at) = (Maker::new(object), self.begin(), begin);
        let mut piece = vec![0; usize::try_from(PIECE.min(end.saturating_sub(begin))).unwrap_or(0)];
        while at < end {
            let length = usize::try_from(end - at).unwrap_or(usize::MAX).min(piece.len());
            maker.fill(at, &mut piece[..length]);
            sum.write(&piece[..length]);
            at += length as u64;
        }
        sum.finish()
    }

    /// What is stated of known content that was written whole, or in parts of so many bytes: then it is the sum of the parts' sums, with their
    /// number behind it.
    fn expected(self, object: &Object, parts: Option<u64>) -> String {
        let Some(size) = parts else { return written(&self.of_content(object, 0, object.size)) };
        let (mut sums, mut number) = (Vec::new(), 0);
        let mut begin = 0;
        while begin < object.size {
            let end = object.size.min(begin + size);
            sums.extend(self.of_content(object, begin, end));
            (begin, number) = (end, number + 1);
        }
        format!("{}-{number}", written(&self.of(&sums)))
    }

    /// Whether what headers state is the sum of known content; none: they state nothing that can be compared. `part_size`: how it was
    /// written, where that was in parts.
    pub(crate) fn confirms(self, headers: &HeaderMap, object: &Object, part_size: Option<u64>) -> Option<bool> {
        let stated = headers.get(self.header())?.to_str().ok()?;
        let parts = if stated.contains('-') { Some(part_size?) } else { None };
        Some(stated == self.expected(object, parts))
    }
}

/// A sum as S3 writes it.
pub(crate) fn written(sum: &[u8]) -> String {
    STANDARD.encode(sum)
}

/// A sum of what has come so far.
pub(crate) enum Sum {
    Crc32(crc32fast::Hasher),
    Crc32c(u32),
    Sha256(Box<Context>),
}

impl Sum {
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        match self {
            Self::Crc32(sum) => sum.update(bytes),
            Self::Crc32c(sum) => *sum = crc32c::crc32c_append(*sum, bytes),
            Self::Sha256(sum) => sum.update(bytes),
        }
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        match self {
            Self::Crc32(sum) => sum.finalize().to_be_bytes().to_vec(),
            Self::Crc32c(sum) => sum.to_be_bytes().to_vec(),
            Self::Sha256(sum) => sum.finish().as_ref().to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn sums_are_those_of_the_catalogue_of_crcs() {
        let of = |algorithm: Algorithm| algorithm.of(b"123456789");
        assert_eq!(of(Algorithm::Crc32), 0xcbf4_3926_u32.to_be_bytes());
        assert_eq!(of(Algorithm::Crc32c), 0xe306_9283_u32.to_be_bytes());
        assert_eq!(written(&of(Algorithm::Sha256)), "FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU=");
        assert_eq!(written(&of(Algorithm::Crc32c)), "4waSgw==");
    }

    #[test]
    fn parts_are_summed_up_and_then_their_sums() {
        let object = Object { seed: 7, number: 3, size: 200_001, entropy: 1.0 };
        let mut data = vec![0; 200_001];
        Maker::new(&object).fill(0, &mut data);
        for algorithm in [Algorithm::Crc32, Algorithm::Crc32c, Algorithm::Sha256] {
            let parts: Vec<u8> = data.chunks(70_000).flat_map(|part| algorithm.of(part)).collect();
            let of = |text: String| HeaderMap::from_iter([(algorithm.header(), HeaderValue::from_str(&text).unwrap())]);
            let (whole, pieces) =
                (of(written(&algorithm.of(&data))), of(format!("{}-3", written(&algorithm.of(&parts)))));
            assert_eq!(algorithm.confirms(&whole, &object, None), Some(true));
            assert_eq!(algorithm.confirms(&whole, &object, Some(70_000)), Some(true));
            assert_eq!(algorithm.confirms(&pieces, &object, Some(70_000)), Some(true));
            assert_eq!(algorithm.confirms(&pieces, &object, Some(80_000)), Some(false));
            assert_eq!(algorithm.confirms(&pieces, &object, None), None);
            let other = Object { number: 4, ..object };
            assert_eq!(algorithm.confirms(&whole, &other, None), Some(false));
            assert_eq!(algorithm.confirms(&HeaderMap::new(), &object, None), None);
        }
    }
}
