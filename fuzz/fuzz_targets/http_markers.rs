//! Reports on third-party copies.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = pileup_webdav::probe::markers(bytes);
});
