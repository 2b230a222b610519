//! Every load shape with exact instants; shards add up to the whole.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss)] // tests

use pileup_schedule::{Arrival, Kind, Load, Schedule, Stage, Steps, birth, think, wanted};
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
fn a_load_takes_no_more_workers_than_it_has_clients_for() {
    let used = |changes: &str| load(changes).used_workers();
    assert_eq!(used(r#"{"kind": "once", "workers": 8}"#), 1);
    assert_eq!(used(r#"{"kind": "times", "times": 100, "workers": 8}"#), 1);
    assert_eq!(used(r#"{"kind": "closed", "clients": 3, "workers": 8, "for": 1}"#), 3);
    assert_eq!(used(r#"{"kind": "closed", "clients": 300, "workers": 8, "for": 1}"#), 8);
    assert_eq!(used(r#"{"kind": "closed", "clients": 5, "workers": 8, "for": 1, "shard": 1, "shards": 2}"#), 2);
    assert_eq!(used(r#"{"rate": 10, "workers": 8, "for": 1}"#), 8);
    assert_eq!(used(r#"{"rate": 10, "clients": 70, "workers": 8, "for": 1}"#), 2);
    assert_eq!(used(r#"{"rate": 10, "clients": 10, "workers": 8, "for": 1}"#), 1);
}

proptest! {
    /// Each place has workers of its own number: together they begin each iteration, and have each client, once.
    #[test]
    fn workers_of_places_add_up_to_the_whole(
        counts in prop::collection::vec(1u32..5, 1..5),
        clients in 1u32..40,
        iterations in 1u64..200,
    ) {
        let shards = counts.len();
        let mut begun = vec![0; usize::try_from(iterations).unwrap()];
        let mut there = vec![0; usize::try_from(clients).unwrap()];
        for (shard, workers) in counts.iter().enumerate() {
            let whole = load(&format!(
                r#"{{"kind": "closed", "clients": {clients}, "times": {iterations}, "workers": {workers},
                    "shard": {shard}, "shards": {shards}}}"#
            ));
            let used = whole.used_workers();
            for part in (0..used).map(|worker| whole.part(worker, used)) {
                (0..iterations).filter(|k| part.mine(*k) && *k < part.limit()).for_each(|k| begun[usize::try_from(k).unwrap()] += 1);
                if part.limit() > 0 {
                    (0..clients).filter(|k| part.mine(u64::from(*k))).for_each(|k| there[k as usize] += 1);
                }
            }
        }
        prop_assert!(begun.iter().all(|count| *count == 1), "{begun:?}");
        prop_assert!(there.iter().all(|count| *count == 1), "{there:?}");
    }
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
    let births: Vec<Option<u64>> = (0..5).map(|client| birth(&load, client)).collect();
    assert_eq!(births, [Some(0), Some(500 * MS), Some(S), Some(1500 * MS), None]);
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

/// Segments as (level, ramp, warm-up, time), times in ms; a negative time is none.
fn segments(levels: &[(f64, u64, u64, i64)]) -> String {
    let plain = levels.iter().map(|(level, ramp, warm_up, time)| {
        let time = u64::try_from(*time).map_or("null".to_owned(), |time| (time * MS).to_string());
        format!(r#"{{"level": {level}, "ramp": {}, "warm_up": {}, "for": {time}}}"#, ramp * MS, warm_up * MS)
    });
    format!("[{}]", plain.collect::<Vec<_>>().join(", "))
}

fn stages(kind: &str, levels: &[(f64, u64, u64, i64)]) -> Load {
    load(&format!(r#"{{"kind": "{kind}", "segments": {}}}"#, segments(levels)))
}

#[test]
fn an_open_load_goes_linearly_from_level_to_level() {
    // 4 /s for 1 s; in 1 s up to 12 /s (8 arrivals); 12 /s for 0.5 s; down to 0 in 1 s (6 arrivals); nothing for 1 s; 2 /s at once
    let load = stages("open", &[(4.0, 0, 0, 1000), (12.0, 1000, 250, 250), (0.0, 1000, 0, 1000), (2.0, 0, 0, 1000)]);
    let all: Vec<Arrival> = Schedule::new(&load).collect();
    assert_eq!(load.end(), Some(5500 * MS));
    let flat = [0, 250, 500, 750].map(|time| (time * MS, Stage::Measure));
    assert_eq!(all[..4].iter().map(|a| (a.time, a.stage)).collect::<Vec<_>>(), flat);
    // 4 t + 4 t^2 = k
    let up: Vec<u64> = (0..8u32).map(|k| S + (((1.0 + f64::from(k)).sqrt() - 1.0) * 0.5e9).round() as u64).collect();
    assert_eq!(all[4..12].iter().map(|a| a.time).collect::<Vec<_>>(), up);
    assert!(all[4..12].iter().all(|a| a.stage == Stage::Ramp));
    let held: Vec<(u64, Stage)> = all[12..18].iter().map(|a| (a.time / 1000, a.stage)).collect();
    let (warm, measure) = (Stage::WarmUp, Stage::Measure);
    assert_eq!(
        held,
        [
            (2_000_000, warm),
            (2_083_333, warm),
            (2_166_666, warm),
            (2_250_000, measure),
            (2_333_333, measure),
            (2_416_666, measure)
        ]
    );
    // 12 t - 6 t^2 = k
    let down: Vec<u64> =
        (0..6u32).map(|k| 2500 * MS + ((1.0 - (1.0 - f64::from(k) / 6.0).sqrt()) * 1e9).round() as u64).collect();
    assert_eq!(all[18..24].iter().map(|a| a.time).collect::<Vec<_>>(), down);
    assert_eq!(all[24..].iter().map(|a| a.time).collect::<Vec<_>>(), [4500 * MS, S * 5], "the next after the pause");
    assert!(all.iter().enumerate().all(|(number, arrival)| arrival.number == number as u64));
}

#[test]
fn one_segment_is_the_plain_load() {
    let plain =
        load(r#"{"rate": 77, "ramp": 1000000000, "warm_up": 500000000, "for": 2000000000, "arrivals": "poisson"}"#);
    let mut segment = stages("open", &[(77.0, 1000, 500, 2000)]);
    segment.arrivals = pileup_schedule::Arrivals::Poisson;
    assert_eq!(Schedule::new(&plain).collect::<Vec<_>>(), Schedule::new(&segment).collect::<Vec<_>>());
    let plain = load(r#"{"kind": "closed", "clients": 7, "ramp": 1000000000, "for": 2000000000}"#);
    let segment = stages("closed", &[(7.0, 1000, 0, 2000)]);
    let births = |load: &Load| (0..9).map(|client| birth(load, client)).collect::<Vec<_>>();
    assert_eq!(births(&plain), births(&segment));
    assert_eq!((plain.end(), plain.stage(S - 1)), (segment.end(), segment.stage(S - 1)));
}

#[test]
fn clients_come_and_go_along_the_ramps_of_segments() {
    // 0 to 4 in 2 s, hold 1 s, down to 1 in 3 s, hold 1 s, at once to 3, hold 1 s
    let load = stages("closed", &[(4.0, 2000, 0, 1000), (1.0, 3000, 0, 1000), (3.0, 0, 500, 500)]);
    assert_eq!((load.most_clients(), load.end()), (Some(4), Some(8 * S)));
    assert_eq!(
        (0..5).map(|client| birth(&load, client)).collect::<Vec<_>>()[1..],
        [Some(500 * MS), Some(S), Some(1500 * MS), None]
    );
    assert_eq!([0, S, 7 * S].map(|time| wanted(&load, 0, time)), [Some(0), Some(S), Some(7 * S)], "0 stays");
    assert_eq!(wanted(&load, 3, 4 * S - 1), Some(4 * S - 1), "3 goes when 3 are left");
    assert_eq!(wanted(&load, 3, 4 * S), None, "and never comes back");
    assert_eq!(wanted(&load, 2, 5 * S - 1), Some(5 * S - 1));
    assert_eq!(wanted(&load, 2, 5 * S), Some(7 * S), "2 comes back at once with the third level");
    assert_eq!(wanted(&load, 1, 6 * S), Some(7 * S));
    let stages = [1999, 2000, 3000, 6000, 7000, 7500, 9000].map(|time| load.stage(time * MS));
    let (ramp, warm, measure) = (Stage::Ramp, Stage::WarmUp, Stage::Measure);
    assert_eq!(stages, [ramp, measure, ramp, measure, warm, measure, measure]);
}

#[test]
fn an_endless_load_needs_no_end() {
    for changes in [r#""rate": 10"#, r#""kind": "closed", "clients": 2"#] {
        let open = load(&format!(r#"{{{changes}, "endless": true}}"#));
        open.check().unwrap();
        assert_eq!((open.end(), open.untimed()), (None, false));
    }
    let open = load(r#"{"rate": 10, "endless": true}"#);
    assert_eq!(Schedule::new(&open).nth(100_000).map(|arrival| arrival.time), Some(10_000 * S));
    let mut last = stages("open", &[(2.0, 0, 0, 1000), (4.0, 0, 0, -1)]);
    let told = last.check().unwrap_err().to_string();
    assert!(told.contains("the last segment has no `for`; expected it"), "{told}");
    last.endless = true;
    last.check().unwrap();
    assert_eq!((last.end(), Schedule::new(&last).nth(42).map(|arrival| arrival.time)), (None, Some(11 * S)));
}

#[test]
fn loads_without_sense_are_refused_in_words() {
    for (changes, said) in [
        (r#"{"rate": 1}"#, "`for` and `times` are missing"),
        (r#"{"for": 1}"#, "no rate"),
        (r#"{"kind": "closed", "for": 1}"#, "no clients"),
        (r#"{"kind": "times"}"#, "times is missing"),
        (r#"{"rate": 1, "for": 1, "shard": 2, "shards": 2}"#, "shard"),
        (r#"{"segments": []}"#, "no segment has a level above 0"),
        (&format!(r#"{{"segments": {}}}"#, segments(&[(0.0, 0, 0, 1)])), "no segment has a level above 0"),
        (&format!(r#"{{"segments": {}}}"#, segments(&[(-1.0, 0, 0, 1)])), "segment 0 is -1; expected iterations"),
        (&format!(r#"{{"segments": {}}}"#, segments(&[(1.0, 0, 0, -1), (1.0, 0, 0, 1)])), "segment 0 has no `for`"),
        (&format!(r#"{{"kind": "closed", "segments": {}}}"#, segments(&[(1.5, 0, 0, 1)])), "1.5; expected a whole"),
        (&format!(r#"{{"kind": "once", "segments": {}}}"#, segments(&[(1.0, 0, 0, 1)])), "combined with once"),
    ] {
        let problem = load(changes).check().unwrap_err().to_string();
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

/// Any few levels, with times up to 200 ms; the last above 0.
fn levels() -> impl Strategy<Value = Vec<(f64, u64, u64, i64)>> {
    let level = (0u32..300, 0u64..200, 0u64..50, 1i64..200);
    prop::collection::vec(level, 1..6).prop_map(|levels| {
        let last = levels.len() - 1;
        let one = |(number, (level, ramp, warm_up, time)): (usize, (u32, u64, u64, i64))| {
            (f64::from(if number == last { level + 1 } else { level }), ramp, warm_up, time)
        };
        levels.into_iter().enumerate().map(one).collect()
    })
}

/// The level at a time (ns) by following the segments: what the arithmetic must agree with.
fn level_at(levels: &[(f64, u64, u64, i64)], time: u64) -> f64 {
    let (mut begin, mut before) = (0.0, 0.0);
    let time = time as f64 / MS as f64;
    for (level, ramp, warm_up, length) in levels {
        let (ramp, held) = (*ramp as f64, *warm_up as f64 + *length as f64);
        if time < begin + ramp {
            return before + (level - before) * (time - begin) / ramp;
        }
        if time < begin + ramp + held {
            return *level;
        }
        (begin, before) = (begin + ramp + held, *level);
    }
    0.0
}

proptest! {
    #[test]
    fn shards_of_segments_add_up_and_follow_the_level(levels in levels(), shards in 1u64..9, poisson: bool, seed: u64) {
        let mut whole = stages("open", &levels);
        whole.seed = seed >> 1;
        if poisson { whole.arrivals = pileup_schedule::Arrivals::Poisson; }
        whole.check().unwrap();
        let all: Vec<Arrival> = Schedule::new(&whole).collect();
        let mut parts: Vec<Arrival> = (0..shards)
            .flat_map(|shard| Schedule::new(&Load { shard, shards, ..whole.clone() }))
            .collect();
        parts.sort_by_key(|arrival| arrival.number);
        prop_assert!(parts == all);
        prop_assert!(all.windows(2).all(|pair| pair[0].time <= pair[1].time));
        prop_assert!(all.iter().all(|arrival| level_at(&levels, arrival.time + 1000) > 0.0 || level_at(&levels, arrival.time.saturating_sub(1000)) > 0.0));
        if !poisson {
            let area: f64 = levels.iter().fold((0.0, 0.0), |(sum, before), (level, ramp, warm_up, time)| {
                (sum + (before + level) / 2e3 * *ramp as f64 + level / 1e3 * (*warm_up as f64 + *time as f64), *level)
            }).0;
            prop_assert!((all.len() as f64 - area).abs() <= 1.0, "{} {}", all.len(), area);
        }
    }

    #[test]
    fn wanted_clients_are_as_many_as_the_level(levels in levels(), part in 0.0f64..1.0) {
        let load = stages("closed", &levels);
        let time = (load.end().unwrap() as f64 * part) as u64;
        let here = (0..400).filter(|client| wanted(&load, *client, time) == Some(time)).count() as f64;
        let level = level_at(&levels, time);
        prop_assert!(here >= level - 1e-3 && here < level + 1.0 + 1e-3, "{} wanted, level {}", here, level);
    }

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

/// All arrivals of a steered load that is given a level each time: at `told` (ns) it learns of `level` from `at` on.
fn steered(load: &Load, changes: &[(u64, u64, f64)]) -> Vec<(u64, u64)> {
    let mut schedule = Schedule::new(load);
    let mut found = Vec::new();
    for (told, at, level) in changes {
        while schedule.peek().is_some_and(|arrival| arrival.time <= *told) {
            found.extend(schedule.next().map(|arrival| (arrival.number, arrival.time)));
        }
        schedule.set_level(*at, *level, *told);
    }
    found.extend(schedule.map(|arrival| (arrival.number, arrival.time)));
    found
}

#[test]
fn a_level_told_while_it_goes_on_moves_the_next_arrival_without_a_jump() {
    let load = load(r#"{"rate": 2, "steered": 100, "for": 3000000000}"#);
    // half of an arrival is done at 1.25 s: at 4 /s the rest of it takes 125 ms, not the 250 that were planned
    let times: Vec<u64> = steered(&load, &[(1250 * MS, 1250 * MS, 4.0)]).iter().map(|due| due.1).collect();
    let expected = [0, 500, 1000, 1375, 1625, 1875, 2125, 2375, 2625, 2875].map(|time: u64| time * MS);
    assert_eq!(times, expected);
    // nothing at level 0, and then the rest of what was begun
    let paused: Vec<u64> =
        steered(&load, &[(S, 1250 * MS, 0.0), (2 * S, 2 * S, 1.0)]).iter().map(|due| due.1).collect();
    assert_eq!(paused, [0, 500 * MS, S, 2500 * MS]);
    // also where the new level comes at the very time of a pause that was reached
    let restarted: Vec<u64> =
        steered(&load, &[(0, 1250 * MS, 0.0), (1250 * MS, 1250 * MS, 2.0)]).iter().map(|due| due.1).collect();
    assert_eq!(restarted, [0, 500, 1000, 1500, 2000, 2500].map(|time: u64| time * MS));
    let silent = self::load(r#"{"rate": 0, "steered": 100, "for": 3000000000}"#);
    let later: Vec<u64> = steered(&silent, &[(S, S, 1.0)]).iter().map(|due| due.1).collect();
    assert_eq!(later, [S, 2 * S]);
}

proptest! {
    #[test]
    fn shards_of_a_steered_load_add_up_to_the_whole_whatever_it_is_told(
        shards in 1u64..5,
        poisson in any::<bool>(),
        changes in prop::collection::vec((1u64..2000, 0u64..300, 0.0f64..400.0), 0..12),
    ) {
        let arrivals = if poisson { "poisson" } else { "constant" };
        let whole = load(&format!(r#"{{"rate": 50, "steered": 400, "for": 10000000000, "arrivals": "{arrivals}"}}"#));
        let mut time = 0;
        let told: Vec<_> = changes.iter().map(|(wait, margin, level)| {
            time += wait * MS;
            (time, time + margin * MS, *level)
        }).collect();
        let all = steered(&whole, &told);
        let mut parts: Vec<(u64, u64)> = (0..shards)
            .flat_map(|shard| steered(&Load { shard, shards, ..whole.clone() }, &told))
            .collect();
        parts.sort_unstable();
        prop_assert_eq!(&parts, &all);
        prop_assert!(all.windows(2).all(|pair| pair[0].1 <= pair[1].1));
        if !poisson {
            // in number what the integral of the rate says, with one in the making; where a change is reported before it holds and the next before that, the last word counts
            let mut levels: Vec<(u64, f64)> = vec![(0, 50.0)];
            for (_, at, level) in &told {
                levels.retain(|known| known.0 < *at || known.0 == 0);
                levels.push((*at, *level));
            }
            let ends = levels.iter().skip(1).map(|known| known.0).chain([10 * S]);
            let sum: f64 = levels.iter().zip(ends)
                .map(|((begin, level), end)| end.min(10 * S).saturating_sub(*begin) as f64 / 1e9 * level).sum();
            prop_assert!((all.len() as f64 - sum).abs() <= 1.5, "{} arrivals, the integral is {}", all.len(), sum);
        }
    }
}

#[test]
fn clients_of_a_steered_load_come_and_go_with_its_level() {
    let mut steps = Steps::new(2);
    assert_eq!((steps.wanted(1, 5), steps.wanted(2, 5)), (Some(5), None));
    steps.set(100, 4, 50);
    assert_eq!((steps.wanted(1, 60), steps.wanted(3, 60), steps.wanted(4, 60)), (Some(60), Some(100), None));
    steps.set(200, 1, 150);
    assert_eq!((steps.wanted(1, 160), steps.wanted(1, 200), steps.wanted(3, 199)), (Some(160), None, Some(199)));
    steps.set(180, 3, 160); // the newer word about an earlier time voids the later one
    assert_eq!((steps.wanted(2, 300), steps.wanted(3, 300)), (Some(300), None));
}

#[test]
fn steered_loads_have_clear_bounds() {
    let wrong = |changes: &str| load(changes).check().unwrap_err().to_string();
    assert!(wrong(r#"{"rate": 5, "steered": 4, "for": 1}"#).contains("level of the start"));
    assert!(wrong(r#"{"rate": 5, "steered": 9}"#).contains("`for` and `times` are missing"));
    assert!(wrong(r#"{"rate": 5, "steered": -1, "for": 1}"#).contains("highest level"));
    assert!(wrong(r#"{"rate": 5, "steered": 9, "for": 1, "ramp": 1}"#).contains("ramp"));
}

#[test]
fn what_nobody_could_begin_is_counted_at_once() {
    let even = load(r#"{"rate": 1e12, "warm_up": 1000000000, "for": 60000000000}"#);
    assert_eq!(Schedule::new(&even).measured_until(11 * S - 1), 10_000_000_000_000);
    let shards = (0..3).map(|shard| Schedule::new(&Load { shard, shards: 3, ..even.clone() }).measured_until(100 * S));
    assert_eq!(shards.sum::<u64>(), 60_000_000_000_000);
    let most = load(
        r#"{"segments": [{"level": 1e18, "ramp": 0, "warm_up": 0, "for": 20000000000},
        {"level": 1e18, "ramp": 0, "warm_up": 0, "for": 20000000000}]}"#,
    );
    assert_eq!(Schedule::new(&most).measured_until(40 * S), u64::MAX, "no more than can be counted");
    let random = load(r#"{"rate": 1e9, "arrivals": "poisson", "for": 60000000000}"#);
    let counted = Schedule::new(&random).measured_until(10 * S) as f64;
    assert!((counted / 1e10 - 1.0).abs() < 1e-5, "{counted}"); // what is counted by the rate has no chance in it
}

proptest! {
    #[test]
    fn counting_is_the_same_as_being_told_of_each(
        rate in 1.0f64..500.0, level in 0.0f64..500.0, warm_up in 0u64..S, last in 0u64..6_000_000_000, begun in 0usize..50,
        shards in 1u64..4, poisson: bool
    ) {
        let arrivals = if poisson { "poisson" } else { "constant" };
        let whole = load(&format!(
            r#"{{"rate": {rate}, "arrivals": "{arrivals}", "segments": [
            {{"level": {rate}, "ramp": 700000000, "warm_up": {warm_up}, "for": 1000000000}},
            {{"level": {level}, "ramp": 300000000, "warm_up": 0, "for": 1500000001}}]}}"#
        ));
        for shard in 0..shards {
            let mut schedule = Schedule::new(&Load { shard, shards, ..whole.clone() });
            let _ = schedule.by_ref().take(begun).count();
            schedule.peek();
            let told = schedule.clone().take_while(|arrival| arrival.time <= last);
            let one_by_one = told.filter(|arrival| arrival.stage == Stage::Measure).count() as u64;
            prop_assert_eq!(schedule.measured_until(last), one_by_one);
        }
    }
}
