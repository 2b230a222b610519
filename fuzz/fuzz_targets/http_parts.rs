//! Answers with several ranges.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = pileup_http1::probe::parts(bytes);
});
