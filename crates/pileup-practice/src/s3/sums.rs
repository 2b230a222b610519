//! Checksums that clients state and ask for: CRC-32, CRC-32C and SHA-256. Written apart from the client of the engine, bit by bit from the
//! polynomials.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use ring::digest::{SHA256, digest};

/// Checksums and their headers.
pub(crate) const KNOWN: [(&str, &str); 3] =
    [("CRC32", "x-amz-checksum-crc32"), ("CRC32C", "x-amz-checksum-crc32c"), ("SHA256", "x-amz-checksum-sha256")];

/// A checksum: its name and its digits as headers have them.
pub(crate) type Sum = (&'static str, String);

/// That of some bytes.
pub(crate) fn of(name: &str, data: &[u8]) -> String {
    STANDARD.encode(raw(name, data))
}

fn raw(name: &str, data: &[u8]) -> Vec<u8> {
    match name {
        "CRC32" => crc(&table(0xedb8_8320), data).to_be_bytes().to_vec(),
        "CRC32C" => crc(&table(0x82f6_3b78), data).to_be_bytes().to_vec(),
        _ => digest(&SHA256, data).as_ref().to_vec(),
    }
}

/// The sum of the sums of parts, with their number behind it.
pub(crate) fn of_parts(name: &str, parts: &[String]) -> String {
    let sums: Vec<u8> = parts.iter().flat_map(|part| STANDARD.decode(part).unwrap_or_default()).collect();
    format!("{}-{}", of(name, &sums), parts.len())
}

/// What a request states of its body, if it does.
pub(crate) fn stated(headers: &HeaderMap) -> Option<Sum> {
    KNOWN.iter().find_map(|(name, header)| Some((*name, headers.get(*header)?.to_str().ok()?.to_owned())))
}

/// The name among those that are known.
pub(crate) fn known(name: &str) -> Option<&'static str> {
    KNOWN.iter().map(|(known, _)| *known).find(|known| *known == name)
}

/// The header of a checksum.
pub(crate) fn header(name: &str) -> &'static str {
    KNOWN.iter().find(|(known, _)| *known == name).map_or("x-amz-checksum", |(_, header)| header)
}

fn table(polynomial: u32) -> [u32; 256] {
    let mut table = [0; 256];
    for (byte, entry) in (0..).zip(table.iter_mut()) {
        *entry = (0..8).fold(byte, |crc: u32, _| if crc & 1 == 1 { (crc >> 1) ^ polynomial } else { crc >> 1 });
    }
    table
}

fn crc(table: &[u32; 256], data: &[u8]) -> u32 {
    !data.iter().fold(!0, |crc: u32, byte| (crc >> 8) ^ table[((crc ^ u32::from(*byte)) & 0xff) as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_the_catalogue_of_crcs() {
        assert_eq!(raw("CRC32", b"123456789"), 0xcbf4_3926_u32.to_be_bytes());
        assert_eq!(of("CRC32C", b"123456789"), "4waSgw==");
        assert_eq!(of("SHA256", b"123456789"), "FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU=");
        assert!(of_parts("CRC32C", &[of("CRC32C", b"1"), of("CRC32C", b"2")]).ends_with("==-2"));
    }
}
