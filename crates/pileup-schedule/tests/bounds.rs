//! What a load comes to by its own words, against what it does.
#![allow(clippy::unwrap_used)] // tests

use pileup_schedule::{Load, Schedule};
use proptest::prelude::*;

const S: u64 = 1_000_000_000;

fn load(changes: &str) -> Load {
    let base = r#"{"case": 1, "name": "t", "target": 0, "place": 0, "shard": 0, "shards": 1, "seed": 7, "start": 0, "kind": "open",
        "times": null, "clients": null, "rate": null, "arrivals": "constant", "ramp": 0, "warm_up": 0, "for": null, "think": null,
        "phase": null, "timeout": 1000, "pacing": "normal", "workers": 1, "errors_in_a_row": null, "operations": null}"#;
    let mut plain: serde_json::Map<String, serde_json::Value> = serde_json::from_str(base).unwrap();
    plain.extend(serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(changes).unwrap());
    serde_json::from_value(plain.into()).unwrap()
}

#[test]
fn a_rate_that_is_no_short_number_is_told_as_it_was_asked_for() {
    let told = |rate: &str| serde_json::from_str::<f64>(rate).unwrap();
    assert_eq!(told("9.615384615384615").to_bits(), (1e9f64 / 104_000_000.0).to_bits());
}

#[test]
fn what_only_the_system_bounds_has_no_number() {
    for unbounded in [
        r#"{"kind": "closed", "clients": 3, "for": 5}"#,
        r#"{"rate": 3, "steered": 9, "for": 1000000000}"#,
        r#"{"rate": 3, "endless": true}"#,
    ] {
        assert_eq!((load(unbounded).iterations(), load(unbounded).number_here()), (None, None), "{unbounded}");
    }
    assert_eq!(load(r#"{"kind": "once"}"#).iterations(), Some(1));
    let silent = r#"{"segments": [{"level": 0, "ramp": 0, "warm_up": 0, "for": 5}]}"#;
    assert_eq!((load(silent).iterations(), load(silent).asked()), (Some(0), Some(0.0)));
    assert_eq!(load(r#"{"rate": 10, "for": 10000000000, "arrivals": "poisson"}"#).iterations(), Some(160));
}

#[test]
fn pauses_and_ramps_are_in_no_span_nor_in_the_mean() {
    let levels = r#"{"segments": [{"level": 0, "ramp": 0, "warm_up": 0, "for": 5}, {"level": 100, "ramp": 1, "warm_up": 1, "for": 2},
        {"level": 300, "ramp": 0, "warm_up": 0, "for": 2}, {"level": 50, "ramp": 3, "warm_up": 0, "for": 4}]}"#;
    assert_eq!(load(levels).spans(), [(0, 4), (7, 11)]);
    assert_eq!(load(levels).asked(), Some((100.0 * 2.0 + 300.0 * 2.0 + 50.0 * 4.0) / 8.0));
    assert!(load(r#"{"rate": 5, "for": 9}"#).spans().is_empty());
}

proptest! {
    #[test]
    fn as_many_begin_as_are_foretold(
        rate in 1u32..50_000,
        ramp in 0u64..3000,
        time in 1u64..3000,
        times in prop::option::of(1u64..2000),
        shards in 1u64..5,
        clients in prop::option::of(1u32..5),
    ) {
        let rate = f64::from(rate) / 100.0;
        let mut load = load(&format!(r#"{{"rate": {rate}, "ramp": {}, "for": {}}}"#, ramp * S / 1000, time * S / 1000));
        (load.times, load.clients) = (times, clients);
        let all: Vec<u64> = Schedule::new(&load).map(|due| due.number).collect();
        prop_assert_eq!(load.iterations(), Some(all.len() as u64));
        for shard in 0..shards {
            let part = Load { shard, shards, ..load.clone() };
            let expected = part.numbers_here().map_or(0, |(first, step)| all.iter().filter(|k| *k % step == first).count());
            let narrowed = part.narrowed();
            let begun = if narrowed.limit() == 0 { 0 } else { Schedule::new(&narrowed).count() };
            prop_assert_eq!(begun, expected);
        }
    }
}
