//! Answers of S3: errors, listings, the begin and the end of uploads, uploads that have not ended.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = pileup_s3::probe::answer(bytes);
});
