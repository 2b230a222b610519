//! What a certificate says of itself, for messages: whose it is, who has signed it, and its fingerprint.

use std::fmt;

use crate::unusable::Unusable;

/// Longest name that is shown, characters.
const LONGEST: usize = 200;
/// Attributes of a name that are shown (RFC 4514, 3), by their object identifiers.
const ATTRIBUTES: [(&[u8], &str); 6] = [
    (&[0x55, 4, 3], "CN"),
    (&[0x55, 4, 6], "C"),
    (&[0x55, 4, 7], "L"),
    (&[0x55, 4, 10], "O"),
    (&[0x55, 4, 11], "OU"),
    (&[0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 25], "DC"),
];
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const OBJECT: u8 = 0x06;
const VERSION: u8 = 0xa0;

/// A certificate in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// Whose it is: "CN=se01.site.org,O=Site"; empty when that cannot be read.
    pub subject: String,
    /// Who has signed it.
    pub issuer: String,
    /// SHA-256 of the whole, in hexadecimal digits.
    pub sha256: String,
}

impl Described {
    /// Read a certificate (DER).
    #[must_use]
    pub fn new(der: &[u8]) -> Self {
        let (issuer, subject) = names(der).unwrap_or_default();
        let sha256 = digest(der).iter().map(|byte| format!("{byte:02x}")).collect();
        Self { subject, issuer, sha256 }
    }
}

impl fmt::Display for Described {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "subject {:?}, issuer {:?}, SHA-256 {}", self.subject, self.issuer, self.sha256)
    }
}

/// SHA-256 of a certificate (DER).
pub(crate) fn digest(der: &[u8]) -> [u8; 32] {
    let mut all = [0; 32];
    all.copy_from_slice(ring::digest::digest(&ring::digest::SHA256, der).as_ref());
    all
}

/// A fingerprint as users write it: 64 hexadecimal digits, with colons between them or without.
///
/// # Errors
/// When it is none, in three parts.
pub(crate) fn fingerprint(text: &str) -> Result<[u8; 32], Unusable> {
    let digits: Vec<char> = text.chars().filter(|character| *character != ':').collect();
    let mut all = [0; 32];
    let digit = |place: usize| digits.get(place).and_then(|one| one.to_digit(16));
    for (place, byte) in all.iter_mut().enumerate() {
        *byte = match (digit(2 * place), digit(2 * place + 1)) {
            (Some(high), Some(low)) if digits.len() == 64 => (high * 16 + low) as u8,
            _ => {
                return Err(Unusable::new(
                    format!("certificate_sha256 {text:?} is not a fingerprint"),
                    "64 hexadecimal digits",
                    "see: openssl x509 -noout -fingerprint -sha256",
                ));
            }
        };
    }
    Ok(all)
}

/// Issuer and subject (RFC 5280, 4.1).
fn names(der: &[u8]) -> Option<(String, String)> {
    let (_, certificate, _) = element(der, Some(SEQUENCE))?;
    let (_, mut rest, _) = element(certificate, Some(SEQUENCE))?;
    if rest.first() == Some(&VERSION) {
        rest = element(rest, Some(VERSION))?.2;
    }
    rest = element(rest, None)?.2; // serial number
    rest = element(rest, Some(SEQUENCE))?.2; // algorithm
    let (_, issuer, rest) = element(rest, Some(SEQUENCE))?;
    let (_, _, rest) = element(rest, Some(SEQUENCE))?; // validity
    let (_, subject, _) = element(rest, Some(SEQUENCE))?;
    Some((name(issuer)?, name(subject)?))
}

fn name(mut sets: &[u8]) -> Option<String> {
    let mut parts = Vec::new();
    while !sets.is_empty() {
        let (_, mut set, rest) = element(sets, Some(SET))?;
        sets = rest;
        while !set.is_empty() {
            let (_, pair, rest) = element(set, Some(SEQUENCE))?;
            set = rest;
            let (_, object, value) = element(pair, Some(OBJECT))?;
            let (_, text, _) = element(value, None)?;
            if let Some((_, short)) = ATTRIBUTES.iter().find(|(known, _)| *known == object) {
                parts.push(format!("{short}={}", String::from_utf8_lossy(text)));
            }
        }
    }
    Some(parts.join(",").chars().take(LONGEST).collect())
}

/// The first element of DER (X.690, 8.1): its tag, its content, and what is behind it. `wanted`: the tag that it must have.
fn element(der: &[u8], wanted: Option<u8>) -> Option<(u8, &[u8], &[u8])> {
    let [tag, length, rest @ ..] = der else { return None };
    if wanted.is_some_and(|wanted| wanted != *tag) {
        return None;
    }
    let (length, rest) = match usize::from(*length) {
        short @ 0..128 => (short, rest),
        long => {
            let (bytes, rest) =
                rest.split_at_checked(long - 128).filter(|(bytes, _)| (1..=4).contains(&bytes.len()))?;
            (bytes.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)), rest)
        }
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((*tag, content, rest))
}

#[cfg(test)]
mod tests {
    use rustls_pki_types::CertificateDer;
    use rustls_pki_types::pem::PemObject;

    use super::*;

    #[test]
    fn a5_a_certificate_says_whose_it_is() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/proxy.pem");
        let der = CertificateDer::from_pem_file(path).unwrap();
        let described = Described::new(&der);
        assert!(described.subject.starts_with(&described.issuer) && described.issuer.contains("CN="), "{described}");
        assert_eq!(fingerprint(&described.sha256), Ok(digest(&der)));
        for end in 0..der.len() {
            let _ = Described::new(&der[..end]); // never a panic
        }
        assert_eq!(Described::new(b"\x30\x84\xff\xff\xff\xff").subject, "");
    }

    #[test]
    fn a5_fingerprints_are_64_digits() {
        let digits = "0123456789abcdefABCDEF0123456789".repeat(2);
        let colons = digits.as_bytes().chunks(2).map(|two| std::str::from_utf8(two).unwrap()).collect::<Vec<_>>();
        assert_eq!(fingerprint(&digits), fingerprint(&colons.join(":")));
        for wrong in ["", "abc", &digits[1..], &format!("{digits}0"), &digits.replace('a', "g")] {
            assert!(
                fingerprint(wrong).unwrap_err().to_string().contains("; expected 64 hexadecimal digits ("),
                "{wrong}"
            );
        }
    }
}
