//! Read a file over and over with one client and say what it costs: `stream URL KEY SIZE TIMES [SETTINGS] [STEP]`, the last two as JSON.

use std::time::{Duration, Instant};

use pileup_engine::client::{Act, Call, Client, Factory};
use pileup_engine::program::Step;
use pileup_xroot::XrootFactory;
use serde_json::{Value, json};

/// CPU time of this process so far: user and system, seconds.
fn used() -> (f64, f64) {
    // SAFETY: all zeros is a rusage, and the call only fills it in.
    let usage = unsafe {
        let mut usage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    let seconds = |time: libc::timeval| Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000).as_secs_f64();
    (seconds(usage.ru_utime), seconds(usage.ru_stime))
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |at: usize| words.get(at).map_or("{}", String::as_str);
    let (size, times): (u64, u32) = (word(2).parse().unwrap_or(0), word(3).parse().unwrap_or(1));
    let mut settings: Value = serde_json::from_str(word(4)).unwrap_or_default();
    settings["url"] = json!(word(0));
    let mut step = json!({
        "operation": "read", "verb": "read", "repeat": 1, "content": {"seed": 5, "size": size}, "offset": 0, "length": null, "buffer": null,
        "keys": {"prefix": "", "count": 1, "width": 6, "names": [], "order": "sequential"}, "verify": false, "checksum": "none",
        "method": "", "headers": [], "expect": {"statuses": [], "contains": null, "entries": null}, "missing_ok": false, "cost_ns": 0,
    });
    let more: Value = serde_json::from_str(word(5)).unwrap_or_default();
    for (name, value) in more.as_object().into_iter().flatten() {
        step[name] = value.clone();
    }
    let step: Step = serde_json::from_value(step).unwrap_or_else(|error| panic!("{error}"));
    let factory = XrootFactory::new(&settings.to_string()).unwrap_or_else(|error| panic!("{error}"));
    let mut client = factory.make(0);
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap_or_else(|error| panic!("{error}"));
    runtime.block_on(async {
        client.open().await.unwrap_or_else(|failure| panic!("{failure:?}"));
        for _ in 0..times {
            let (before, begin, mut act) = (used(), Instant::now(), Act::default());
            let result = client.act(&Call::new(1, &step, 0, word(1)), &mut act).await;
            let (after, seconds) = (used(), begin.elapsed().as_secs_f64());
            let rate = act.bytes as f64 / seconds / 1e9;
            println!("{result:?} {rate:.2} GB/s, user {:.3} s, system {:.3} s", after.0 - before.0, after.1 - before.1);
        }
    });
}
