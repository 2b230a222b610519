//! Every load shape with exact instants; shards add up to the whole.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss)] // tests

use pileup_schedule::{Arrival, Kind, Load, Schedule, Stage, birth, think};
use proptest::prelude::*;

const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;

fn load(changes: &str) -> Load {
    let base = r#"{"case": 1, "name": "t", "target": 0, "place": 0, "shard": 0, "shards": 1, "seed": 7, "start": 0, "kind": "open",
        "times": null, "clients": null, "rate": null, "arrivals": "constant", "ramp": 0, "warm_up": 0, "for": null, "think": null,
        "phase": null, "timeout": 1000, "pacing": "normal", "workers": 1, "errors_in_a_row": null, "operations": null}"#;
    let mut plain: serde_json::Map<String, serde_json::Value> = serde_json::from_str(base).unwrap();
    plain.extend(serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(changes).unwrap());
    serde_json::from_value(plain.into()).unwrap()
}

fn times(load: &Load) -> Vec<u64> {
    Schedule::new(load).map(|arrival| arrival.time).collect()
}

#[test]
fn a_constant_rate_is_exact_for_all_its_life() {
    let load = load(r#"{"rate": 4, "for": 1000000000}"#);
    assert_eq!(times(&load), [0, 250 * MS, 500 * MS, 750 * MS]);
    let odd = self::load(r#"{"rate": 3, "for": 2000000000}"#);
    assert_eq!(times(&odd), [0, 333_333_333, 666_666_667, S, 1_333_333_333, 1_666_666_667]);
    let long = self::load(r#"{"rate": 1000, "for": 3600000000000}"#);
    assert_eq!(
        Schedule::new(&long).last().unwrap(),
        Arrival { number: 3_599_999, time: 3_599_999 * MS, stage: Stage::Measure }
    );
}

#[test]
fn a_ramp_grows_by_the_square_root_and_stages_are_named() {
    // rate 4 reached after 2 s: 4 arrivals in the ramp at sqrt(k), then every 250 ms
    let load = load(r#"{"rate": 4, "ramp": 2000000000, "warm_up": 500000000, "for": 500000000}"#);
    let all: Vec<_> = Schedule::new(&load).map(|arrival| (arrival.time, arrival.stage)).collect();
    let ramp = [(0, Stage::Ramp), (S, Stage::Ramp), (1_414_213_562, Stage::Ramp), (1_732_050_808, Stage::Ramp)];
    let flat =
        [(2 * S, Stage::WarmUp), (2250 * MS, Stage::WarmUp), (2500 * MS, Stage::Measure), (2750 * MS, Stage::Measure)];
    assert_eq!(all, [ramp, flat].concat());
}

#[test]
fn times_bounds_an_open_load() {
    assert_eq!(times(&load(r#"{"rate": 10, "times": 3}"#)), [0, 100 * MS, 200 * MS]);
    assert_eq!(times(&load(r#"{"rate": 10, "times": 30, "for": 150000000}"#)), [0, 100 * MS]);
}

#[test]
fn poisson_arrivals_are_the_same_in_every_run_and_their_gaps_are_exponential() {
    let load = load(r#"{"rate": 1000, "arrivals": "poisson", "for": 20000000000}"#);
    let all = times(&load);
    assert_eq!(all, times(&load));
    assert_eq!(all[..3], [495_289, 954_564, 1_540_900], "frozen: old suites must keep their arrivals");
    assert!((all.len() as f64 / 20_000.0 - 1.0).abs() < 0.03, "{}", all.len());
    let gaps: Vec<f64> = all.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e6).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let spread = (gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64).sqrt();
    assert!((spread / mean - 1.0).abs() < 0.05, "an exponential law has its mean as deviation: {mean} {spread}");
}

#[test]
fn clients_of_a_closed_load_begin_along_the_ramp() {
    let load = load(r#"{"kind": "closed", "clients": 4, "ramp": 2000000000, "for": 1000000000}"#);
    assert_eq!((0..4).map(|client| birth(&load, client)).collect::<Vec<_>>(), [0, 500 * MS, S, 1500 * MS]);
}

#[test]
fn think_times_differ_by_client_and_turn_and_stay() {
    let load = load(r#"{"kind": "closed", "clients": 4, "for": 1, "think": {"uniform": [10, 2000]}}"#);
    let all: Vec<u64> =
        (0..3).flat_map(|client| (0..3).map(move |turn| (client, turn))).map(|(c, t)| think(&load, c, t)).collect();
    assert!(all.iter().all(|time| (10..=2000).contains(time)));
    assert!(all.windows(2).any(|pair| pair[0] != pair[1]));
    assert_eq!(think(&load, 1, 1), think(&load, 1, 1));
}

#[test]
fn loads_without_sense_are_refused_in_words() {
    for (changes, said) in [
        (r#"{"rate": 1}"#, "no end"),
        (r#"{"for": 1}"#, "no rate"),
        (r#"{"kind": "closed", "for": 1}"#, "no clients"),
        (r#"{"kind": "times"}"#, "times is missing"),
        (r#"{"rate": 1, "for": 1, "shard": 2, "shards": 2}"#, "shard"),
    ] {
        let problem = load(changes).check().unwrap_err();
        assert!(problem.contains(said), "{problem}");
    }
    assert!(load(r#"{"kind": "once"}"#).check().is_ok());
    assert_eq!(load(r#"{"kind": "once"}"#).kind, Kind::Once);
}

#[test]
fn a_load_with_fewer_clients_than_shards_belongs_to_as_many_shards_as_it_has_clients() {
    let whole = load(r#"{"kind": "closed", "clients": 2, "for": 1}"#);
    let parts: Vec<Load> = (0..4).map(|shard| Load { shard, shards: 4, ..whole.clone() }.narrowed()).collect();
    assert_eq!(parts.iter().map(|part| (part.shard, part.shards)).collect::<Vec<_>>()[..2], [(0, 2), (1, 2)]);
    assert_eq!(parts.iter().map(Load::limit).collect::<Vec<_>>(), [u64::MAX, u64::MAX, 0, 0]);
    let many = Load { shard: 3, shards: 4, ..load(r#"{"rate": 1, "for": 1}"#) };
    assert_eq!((many.narrowed().shards, many.narrowed().limit()), (4, u64::MAX), "an open load has clients enough");
    assert_eq!((0..4).map(|shard| Load { shard, shards: 4, ..whole.clone() }.share(10)).sum::<u64>(), 10);
}

proptest! {
    #[test]
    fn shards_add_up_to_the_whole(rate in 1.0f64..5000.0, shards in 1u64..9, ramp in 0u64..2_000_000_000, poisson: bool, seed: u64) {
        let mut whole = load(r#"{"for": 500000000}"#);
        whole.rate = Some(rate);
        whole.ramp = ramp;
        whole.seed = seed >> 1;
        if poisson { whole.arrivals = pileup_schedule::Arrivals::Poisson; }
        let all: Vec<Arrival> = Schedule::new(&whole).collect();
        let mut parts: Vec<Arrival> = (0..shards)
            .flat_map(|shard| Schedule::new(&Load { shard, shards, ..whole.clone() }))
            .collect();
        parts.sort_by_key(|arrival| arrival.number);
        prop_assert_eq!(&parts, &all);
        prop_assert!(all.windows(2).all(|pair| pair[0].time <= pair[1].time));
        prop_assert!(all.iter().all(|arrival| arrival.time < ramp + 500_000_000));
        if !poisson {
            let expected = rate * (ramp as f64 / 2e9 + 0.5);
            prop_assert!((all.len() as f64 - expected).abs() <= 1.0, "{} {}", all.len(), expected);
        }
    }
}
