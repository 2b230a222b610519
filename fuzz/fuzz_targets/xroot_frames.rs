//! Frames of xroot and all that can be in them.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = pileup_xroot::probe::probe(bytes);
});
