//! What one iteration costs the engine itself: noop operations of closed and open loads, CPU time of the whole process by iteration.
//!
//! `cargo run --release -p pileup-engine --example cost`

use std::sync::Arc;
use std::time::Duration;

use pileup_engine::noop::NoopFactory;
use pileup_engine::press::{Frame, Press};
use pileup_engine::program::Program;
use pileup_posix::PosixFactory;
use pileup_record::{Histogram, Recorder};

fn cpu() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a valid timespec and a clock that every Linux has.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    #[allow(clippy::cast_precision_loss)] // a display
    let seconds = time.tv_sec as f64 + time.tv_nsec as f64 / 1e9;
    seconds
}

fn load(shape: &str) -> String {
    format!(
        r#"{{"case": 1, "name": "cost", "target": 0, "place": 0, "shard": 0, "shards": 1, "seed": 7, "start": 0, "times": null,
        "arrivals": "constant", "ramp": 0, "warm_up": 0, "phase": null, "timeout": 5000000000, "pacing": "normal",
        "workers": 1, "errors_in_a_row": null, "operations": null, {shape}}}"#
    )
}

fn program(verb: &str) -> Result<Program, serde_json::Error> {
    serde_json::from_str(&format!(
        r#"{{"steps": [{{"operation": "act", "verb": "{verb}", "keys": {{"prefix": "f", "count": 1, "width": 1, "names": [],
        "order": "sequential"}}, "repeat": 1, "content": null, "offset": 0, "length": null, "buffer": 65536, "verify": false,
        "checksum": "none", "method": "", "headers": [], "expect": {{"statuses": [], "contains": null, "entries": null}},
        "missing_ok": false, "cost_ns": 0}}]}}"#
    ))
}

fn measure(name: &str, shape: &str, blocking: bool) -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("pileup-cost-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("f0"), "")?;
    let recorder = Recorder::create(&folder.join("operations.table"), 0)?;
    let press = Press::new(Arc::clone(&recorder), &load(shape))?;
    let before = cpu();
    if blocking {
        press.native(PosixFactory::new(&format!(r#"{{"root": {folder:?}}}"#))?, program("stat")?)?;
    } else {
        press.native(NoopFactory, program("noop")?)?;
    }
    let (mut started, mut late) = (0, Histogram::new());
    let mut take = |frame: Frame| {
        started += frame.started;
        late.merge(&frame.late)
    };
    while !press.wait(Duration::from_secs(1)) {
        take(press.frame())?;
    }
    take(press.frame())?;
    recorder.close()?;
    #[allow(clippy::cast_precision_loss)] // a display
    let each = (cpu() - before) * 1e9 / started as f64;
    println!(
        "{name:24} {started:9} iterations {each:7.0} ns of CPU each, starts late p50 {} ns, p99 {} ns",
        late.quantile(0.5),
        late.quantile(0.99)
    );
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let closed = |clients: u32| {
        format!(r#""kind": "closed", "clients": {clients}, "rate": null, "for": 2000000000, "think": null"#)
    };
    let open =
        |rate: u32| format!(r#""kind": "open", "clients": null, "rate": {rate}, "for": 2000000000, "think": null"#);
    measure("noop, 1 client", &closed(1), false)?;
    measure("noop, 100 clients", &closed(100), false)?;
    measure("noop, 1000 /s", &open(1000), false)?;
    measure("noop, 20000 /s", &open(20_000), false)?;
    measure("stat, 1 client", &closed(1), true)?;
    measure("stat, 8 clients", &closed(8), true)?;
    measure("stat, 2000 /s", &open(2000), true)?;
    let thinking =
        r#""kind": "closed", "clients": 50, "rate": null, "for": 2000000000, "think": {"exponential": 50000000}"#;
    measure("stat, 50 that think", thinking, true)
}
