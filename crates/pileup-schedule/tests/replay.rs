//! Starts of a record pressed again: exact at any speed, and shards add up to the whole.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss)] // tests

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use pileup_schedule::{Arrival, Kind, Load, Replay, Schedule, Shapes, Stage};
use proptest::prelude::*;

const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;
static FILES: AtomicU32 = AtomicU32::new(0);

/// A file of starts that goes at the end.
struct Recorded(PathBuf, usize);

impl Recorded {
    fn of(starts: &[i64]) -> Self {
        let number = FILES.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("pileup-replay-{}-{number}", std::process::id()));
        fs::write(&path, starts.iter().flat_map(|start| start.to_le_bytes()).collect::<Vec<u8>>()).unwrap();
        Self(path, starts.len())
    }

    fn load(&self, changes: &str) -> Load {
        let base = r#"{"case": 1, "name": "t", "target": 0, "place": 0, "shard": 0, "shards": 1, "seed": 7, "start": 0, "kind": "open",
            "times": null, "clients": null, "rate": 5, "arrivals": "constant", "ramp": 0, "warm_up": 0, "for": null, "think": null,
            "phase": null, "timeout": 1000, "pacing": "normal", "workers": 1, "errors_in_a_row": null, "operations": null}"#;
        let mut plain: serde_json::Map<String, serde_json::Value> = serde_json::from_str(base).unwrap();
        plain.insert(
            "replay".into(),
            serde_json::json!({"file": self.0.to_str().unwrap(), "count": self.1, "speed": 1}),
        );
        plain.extend(serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(changes).unwrap());
        serde_json::from_value(plain.into()).unwrap()
    }

    fn at_speed(&self, speed: f64, changes: &str) -> Load {
        let load = self.load(changes);
        let replay = load.shapes.replay.clone().map(|replay| Replay { speed, ..replay });
        Load { shapes: Shapes { replay, ..load.shapes }, ..load }
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        fs::remove_file(&self.0).unwrap();
    }
}

fn times(load: &Load) -> Vec<u64> {
    load.check().unwrap();
    Schedule::new(load).map(|arrival| arrival.time).collect()
}

#[test]
fn starts_come_as_they_were_divided_by_the_speed() {
    let recorded = Recorded::of(&[0, 7, 7, 1_000_000_001, 86_400_000_000_001]);
    assert_eq!(times(&recorded.load("{}")), [0, 7, 7, 1_000_000_001, 86_400_000_000_001]);
    assert_eq!(times(&recorded.at_speed(4.0, "{}")), [0, 2, 2, 250_000_000, 21_600_000_000_000]);
    assert_eq!(times(&recorded.at_speed(0.5, "{}")), [0, 14, 14, 2_000_000_002, 172_800_000_000_002]);
}

#[test]
fn time_and_number_bound_it_and_a_warm_up_is_told() {
    let recorded = Recorded::of(&[0, 400_000_000, 1_000_000_000, 2_000_000_000, 2_200_000_000]);
    let load = recorded.at_speed(2.0, r#"{"warm_up": 300000000, "for": 700000000}"#);
    let all: Vec<(u64, Stage)> = Schedule::new(&load).map(|arrival| (arrival.time, arrival.stage)).collect();
    assert_eq!(all, [(0, Stage::WarmUp), (200 * MS, Stage::WarmUp), (500 * MS, Stage::Measure)]);
    assert_eq!(times(&recorded.load(r#"{"times": 2}"#)), [0, 400 * MS]);
}

#[test]
fn what_cannot_be_pressed_is_refused_in_words() {
    let recorded = Recorded::of(&[0, 1]);
    let wrong = |load: Load| load.check().unwrap_err().to_string();
    for (changes, said) in [
        (r#"{"kind": "closed", "clients": 2}"#, "combined with another shape"),
        (r#"{"ramp": 1}"#, "no ramp"),
        (r#"{"steered": 9}"#, "combined with another shape"),
        (r#"{"endless": true}"#, "combined with another shape"),
        (r#"{"rate": null}"#, "their mean as rate"),
        (r#"{"replay": {"file": "/nowhere/at-all", "count": 2, "speed": 1}}"#, "/nowhere/at-all cannot be read"),
        (r#"{"replay": {"file": "x", "count": 2, "speed": 0}}"#, "the speed of the replay is 0"),
        (
            r#"{"replay": {"file": "x", "count": 2, "speed": 1, "part": [1, 2]}}"#,
            "part 1 of 2; expected those of shard 0 of 1",
        ),
        (r#"{"replay": {"file": "x", "count": 2, "speed": 1, "part": [0, 0]}}"#, "part 0 of 0"),
    ] {
        let problem = wrong(recorded.load(changes));
        assert!(problem.contains(said), "{problem}");
    }
    fs::write(&recorded.0, [0; 12]).unwrap();
    assert!(wrong(recorded.load("{}")).contains("has 12 bytes; expected the 16 of its starts"));
}

#[test]
fn starts_out_of_order_or_cut_away_are_unreadable_and_no_silent_end() {
    for (starts, said) in [(&[0, 5, 4][..], "start 2 in it is 4 ns"), (&[-1, 5][..], "start 0 in it is -1 ns")] {
        let recorded = Recorded::of(starts);
        let mut schedule = Schedule::new(&recorded.load("{}"));
        while schedule.next().is_some() {}
        assert!(schedule.unreadable().unwrap().problem.contains(said), "{:?}", schedule.unreadable());
    }
    let recorded = Recorded::of(&(0..10_000).collect::<Vec<i64>>());
    let mut schedule = Schedule::new(&recorded.load("{}"));
    assert_eq!((schedule.next().map(|arrival| arrival.time), schedule.unreadable()), (Some(0), None));
    fs::write(&recorded.0, [0; 800]).unwrap();
    assert!(schedule.by_ref().count() < 10_000);
    let told = schedule.unreadable().unwrap().to_string();
    assert!(told.starts_with("the starts to replay cannot be read from"), "{told}");
}

#[test]
fn shards_that_a_load_with_few_clients_leaves_out_need_no_starts() {
    let recorded = Recorded::of(&[0, 1, 2]);
    let part = |shard: u64| Load { shard, shards: 4, ..recorded.load(r#"{"clients": 2}"#) };
    assert_eq!((part(2).narrowed().kind, part(2).narrowed().limit()), (Kind::Times, 0));
    assert_eq!((0..4).map(|shard| part(shard).number_here()).collect::<Vec<_>>(), [Some(2), Some(1), Some(0), Some(0)]);
    assert!((0..4).all(|shard| part(shard).check().is_ok()));
    let share = |shard: u64| Schedule::new(&part(shard).narrowed()).map(|arrival| arrival.number).collect::<Vec<_>>();
    assert_eq!((share(0), share(1)), (vec![0, 2], vec![1]));
}

proptest! {
    #[test]
    fn shards_partition_the_starts_from_the_whole_file_or_their_part_of_it(
        gaps in prop::collection::vec(0i64..3_000_000, 1..9000),
        shards in 1u64..9,
        speed in prop::sample::select(vec![0.3, 1.0, 2.0, 4.0, 1000.0]),
        warm_up in 0u64..S,
        seconds in prop::option::of(1u64..10),
    ) {
        let starts: Vec<i64> = gaps.iter().scan(-gaps[0], |sum, gap| { *sum += gap; Some(*sum) }).collect();
        let recorded = Recorded::of(&starts);
        let mut whole = recorded.at_speed(speed, "{}");
        (whole.warm_up, whole.duration) = (warm_up, seconds.map(|seconds| seconds * S));
        whole.check().unwrap();
        let all: Vec<Arrival> = Schedule::new(&whole).collect();
        let end = whole.end().unwrap_or(u64::MAX);
        let expected = starts.iter().map(|start| (*start as f64 / speed).round() as u64).filter(|time| *time < end);
        prop_assert!(all.iter().map(|arrival| arrival.time).eq(expected));
        prop_assert!(all.iter().enumerate().all(|(number, arrival)| arrival.number == number as u64));
        let mut parts: Vec<Arrival> = Vec::new();
        for shard in 0..shards {
            let load = Load { shard, shards, ..whole.clone() };
            let own: Vec<Arrival> = Schedule::new(&load).collect();
            prop_assert!(own.windows(2).all(|pair| pair[0].number < pair[1].number && pair[0].time <= pair[1].time));
            let share = starts.iter().skip(shard as usize).step_by(shards as usize).copied().collect::<Vec<_>>();
            let sent = Recorded::of(&share);
            let file = sent.0.to_str().unwrap().to_owned();
            let replay = Some(Replay { file, count: starts.len() as u64, speed, part: (shard, shards) });
            let far = Load { shapes: Shapes { replay, ..Shapes::default() }, ..load };
            far.check().unwrap();
            prop_assert!(Schedule::new(&far).eq(own.iter().copied()));
            parts.extend(own);
        }
        parts.sort_by_key(|arrival| arrival.number);
        prop_assert!(parts == all);
    }
}
