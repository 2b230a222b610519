//! Listings of WebDAV.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = pileup_http::probe::listing(bytes);
});
