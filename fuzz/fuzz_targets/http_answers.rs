//! Heads, bodies and what comes behind them on a connection.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = pileup_http1::probe::answers(bytes);
});
