//! Every load shape pulled under virtual time: the whole list of (instant, client, iteration, intended) is compared.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use pileup_engine::ending::{Ending, EndingKind};
use pileup_engine::puller::{Begin, Puller, Step};
use pileup_schedule::{Load, Schedule, Stage};
use proptest::prelude::*;

const MS: i64 = 1_000_000;

fn load(changes: &str) -> Load {
    serde_json::from_str(&pileup_testing::bench::load(changes)).unwrap()
}

/// One start: (when, client, iteration, intended), times in ms.
type Line = (i64, u32, u64, i64);

/// Press a load whose iterations take `service(number)` ms and pass when `passes(number)`; no thread, no clock, no sleep.
fn simulate(load: &Load, service: impl Fn(u64) -> i64, passes: impl Fn(u64) -> bool) -> (Vec<Line>, Puller) {
    let mut puller = Puller::new(load, 0);
    let mut ends: BinaryHeap<Reverse<(i64, u32, u64)>> = BinaryHeap::new();
    let (mut now, mut log) = (0, Vec::new());
    loop {
        let wake = match puller.next(now) {
            Step::Start(Begin { client, number, intended, .. }) => {
                log.push((now / MS, client, number, intended / MS));
                ends.push(Reverse((now + service(number) * MS, client, number)));
                continue;
            }
            Step::Wait(until) => Some(until),
            Step::Idle | Step::Done => None,
        };
        let end = ends.peek().map(|Reverse(end)| end.0);
        let Some(next) = [wake, end].into_iter().flatten().min() else { return (log, puller) };
        now = now.max(next);
        while ends.peek().is_some_and(|Reverse(end)| end.0 <= now) {
            let Some(Reverse((at, client, number))) = ends.pop() else { break };
            puller.finished(client, at, passes(number));
        }
    }
}

fn starts(load: &Load, service: i64) -> Vec<Line> {
    simulate(load, |_| service, |_| true).0
}

#[test]
fn once_is_one_iteration() {
    assert_eq!(starts(&load("{}"), 5), [(0, 0, 0, 0)]);
}

#[test]
fn times_are_one_after_another_and_due_when_the_client_is_free() {
    let lines = starts(&load(r#"{"kind": "times", "times": 3}"#), 5);
    assert_eq!(lines, [(0, 0, 0, 0), (5, 0, 1, 5), (10, 0, 2, 10)]);
}

#[test]
fn times_are_shared_by_clients() {
    let shared = load(r#"{"kind": "closed", "clients": 2, "times": 5}"#);
    let (lines, _) = simulate(&shared, |k| if k % 2 == 0 { 5 } else { 7 }, |_| true);
    assert_eq!(lines, [(0, 0, 0, 0), (0, 1, 1, 0), (5, 0, 2, 5), (7, 1, 3, 7), (10, 0, 4, 10)]);
}

#[test]
fn closed_clients_ramp_up_think_and_stop_at_the_end() {
    let load =
        load(r#"{"kind": "closed", "clients": 2, "ramp": 20000000, "for": 30000000, "think": {"fixed": 8000000}}"#);
    let lines = starts(&load, 12);
    assert_eq!(lines, [(0, 0, 0, 0), (10, 1, 1, 10), (20, 0, 2, 20), (30, 1, 3, 30), (40, 0, 4, 40)]);
}

#[test]
fn a_client_that_began_late_thinks_less_by_that() {
    let load = load(r#"{"kind": "closed", "clients": 1, "for": 100000000, "think": {"fixed": 8000000}}"#);
    let mut puller = Puller::new(&load, 0);
    assert!(matches!(puller.next(0), Step::Start(_)));
    let mut after = |end: i64, late: i64, least: i64| {
        puller.finished_and_pauses(0, end * MS, true, late * MS, (least * MS).unsigned_abs());
        let next = (end..).find(|at| matches!(puller.next(at * MS), Step::Start(_)));
        next.expect("the load has not ended")
    };
    assert_eq!(after(2, 0, 0), 10, "in time: 8 ms after its end");
    assert_eq!(after(15, 3, 0), 20, "as if it had begun when it should");
    assert_eq!(after(32, 10, 0), 32, "later than it thinks: at once");
    assert_eq!(after(34, 5, 6), 40, "a pause is not made up for");
}

/// Levels one after another: 2 clients from 0 over 20 ms, held 20 ms; down to none over 20 ms, held 20 ms; 1 at once for 20 ms.
const STAGES: &str = r#"{"kind": "closed", "segments": [
    {"level": 2, "ramp": 20000000, "warm_up": 10000000, "for": 10000000},
    {"level": 0, "ramp": 20000000, "warm_up": 0, "for": 20000000},
    {"level": 1, "ramp": 0, "warm_up": 0, "for": 20000000}]}"#;

#[test]
fn clients_of_segments_go_when_the_level_falls_and_come_back_when_it_grows() {
    let lines = starts(&load(STAGES), 12);
    // client 1 is there from 10 to 50 ms, client 0 from 0 to 60 and from 80 to 100; what is under way ends by itself
    let first = [(0, 0, 0, 0), (10, 1, 1, 10), (12, 0, 2, 12), (22, 1, 3, 22), (24, 0, 4, 24), (34, 1, 5, 34)];
    let second = [(36, 0, 6, 36), (46, 1, 7, 46), (48, 0, 8, 48), (80, 0, 9, 80), (92, 0, 10, 92)];
    assert_eq!(lines, [&first[..], &second[..]].concat());
}

#[test]
fn a_level_of_segments_says_how_many_clients_there_are_now() {
    let mut puller = Puller::new(&load(STAGES), 0);
    let mut at = |now: i64| {
        let mut begun = Vec::new();
        while let Step::Start(begin) = puller.next(now * MS) {
            begun.push(begin.client);
        }
        begun.iter().for_each(|client| puller.finished(*client, (now + 2) * MS, true));
        puller.clients()
    };
    assert_eq!([0, 10, 48, 59].map(&mut at), [1, 2, 1, 0], "1 went at 50, 0 at 60");
    assert_eq!(at(70), 0);
    assert_eq!(at(80), 1, "0 came back");
    assert_eq!(puller.next(80 * MS), Step::Wait(82 * MS));
}

#[test]
fn a_load_whose_clients_have_all_gone_still_tells_when_it_ends() {
    let load = load(
        r#"{"kind": "closed", "segments": [{"level": 1, "ramp": 0, "warm_up": 0, "for": 5000000},
        {"level": 0, "ramp": 0, "warm_up": 0, "for": 50000000}]}"#,
    );
    let mut puller = Puller::new(&load, 0);
    assert!(matches!(puller.next(0), Step::Start(_)));
    assert_eq!(puller.next(7 * MS), Step::Idle);
    puller.finished(0, 8 * MS, true);
    assert_eq!(puller.next(8 * MS), Step::Wait(55 * MS));
    assert_eq!(puller.next(55 * MS), Step::Done);
}

#[test]
fn an_endless_load_goes_on_until_it_is_stopped_and_keeps_its_intended_starts() {
    let load = load(r#"{"kind": "closed", "clients": 1, "endless": true}"#);
    let mut puller = Puller::new(&load, 0);
    for turn in 0..1000 {
        let Step::Start(begin) = puller.next(10 * turn * MS + 3) else { panic!("it ended") };
        assert_eq!(begin.intended, (10 * turn - 5).max(0) * MS, "due when the client was free");
        puller.finished(0, (10 * turn + 5) * MS, true);
    }
    puller.stop(10_000 * MS, &Ending::stopped());
    assert_eq!((puller.next(10_000 * MS), puller.ending()), (Step::Done, &Ending::stopped()));
}

proptest! {
    #[test]
    fn shards_of_segments_have_the_clients_of_the_whole(shards in 1u64..7, levels in prop::collection::vec((0u32..40, 0u64..60, 1u64..40), 1..5)) {
        let plain = levels.iter().map(|(level, ramp, time)| {
            format!(r#"{{"level": {level}, "ramp": {}, "warm_up": 0, "for": {}}}"#, ramp * 1_000_000, time * 1_000_000)
        });
        let plain = plain.collect::<Vec<_>>().join(", ");
        let whole = load(&format!(r#"{{"kind": "closed", "segments": [{plain}]}}"#));
        // what each client does depends on nobody else: only numbers of iterations differ
        let of = |lines: &[Line]| lines.iter().map(|line| (line.0, line.1, line.3)).collect::<Vec<_>>();
        let mut parts: Vec<_> = (0..shards)
            .flat_map(|shard| of(&starts(&Load { shard, shards, ..whole.clone() }, 7)))
            .collect();
        let mut all = of(&starts(&whole, 7));
        parts.sort_unstable();
        all.sort_unstable();
        prop_assert_eq!(parts, all);
    }
}

#[test]
fn an_open_load_uses_the_client_that_was_used_last() {
    let load = load(r#"{"kind": "open", "rate": 100, "for": 60000000}"#);
    let due = [(0, 0, 0, 0), (10, 0, 1, 10), (20, 0, 2, 20), (30, 0, 3, 30), (40, 0, 4, 40), (50, 0, 5, 50)];
    assert_eq!(starts(&load, 4), due);
    let clients: Vec<u32> = starts(&load, 15).iter().map(|line| line.1).collect();
    assert_eq!(clients, [0, 1, 0, 1, 0, 1]);
}

#[test]
fn without_a_free_client_what_is_due_begins_late_and_what_never_begins_is_missed() {
    let load = load(r#"{"kind": "open", "rate": 100, "clients": 1, "for": 60000000}"#);
    let (lines, mut puller) = simulate(&load, |_| 25, |_| true);
    assert_eq!(lines, [(0, 0, 0, 0), (25, 0, 1, 10), (50, 0, 2, 20)]);
    assert_eq!(puller.missed(), 3);
    assert_eq!(puller.missed(), 3, "counted once");
}

#[test]
fn what_was_due_just_before_the_end_begins_where_a_client_was_free_then() {
    let load = load(r#"{"kind": "open", "rate": 100, "clients": 2, "for": 60000000}"#);
    // the worker that waits for what is due at 40 ms wakes after the end, at 61 ms
    let at = |time: i64| {
        let mut puller = Puller::new(&load, 0);
        let first: Vec<Step> = (0..4).map(|k| begun(&mut puller, 10 * k * MS, true)).collect();
        assert!(first.iter().all(|step| matches!(step, Step::Start(_))));
        puller.look(time * MS);
        puller
    };
    let mut woken = at(61);
    let late = [begun(&mut woken, 61 * MS, false), begun(&mut woken, 61 * MS, false)];
    assert!(matches!(late[0], Step::Start(begin) if begin.intended == 40 * MS));
    assert!(matches!(late[1], Step::Start(begin) if begin.intended == 50 * MS));
    assert_eq!((woken.next(61 * MS), woken.missed()), (Step::Done, 0));

    let mut busy = at(61);
    let one = begun(&mut busy, 61 * MS, true);
    assert!(matches!(one, Step::Start(begin) if begin.client == 0));
    let other = begun(&mut busy, 62 * MS, true);
    assert!(
        matches!(other, Step::Start(begin) if begin.client == 1),
        "who was free only after the end begins nothing more"
    );
    assert_eq!((busy.next(63 * MS), busy.missed()), (Step::Done, 0));

    let mut asleep = at(200);
    assert_eq!((asleep.next(200 * MS), asleep.missed()), (Step::Done, 2), "that late it counts as missed");
}

/// The step at a time; what it begins ends then too, if it is `short`.
fn begun(puller: &mut Puller, now: i64, short: bool) -> Step {
    let step = puller.next(now);
    if let Step::Start(begin) = step
        && short
    {
        puller.finished(begin.client, now, true);
    }
    step
}

#[test]
fn a_stall_delays_what_was_due_meanwhile_and_keeps_its_intended_start() {
    let load = load(r#"{"kind": "open", "rate": 100, "clients": 1, "for": 80000000}"#);
    let (lines, mut puller) = simulate(&load, |k| if k == 1 { 35 } else { 1 }, |_| true);
    let late: Vec<(i64, i64)> = lines.iter().map(|line| (line.0, line.3)).collect();
    assert_eq!(late, [(0, 0), (10, 10), (45, 20), (46, 30), (47, 40), (50, 50), (60, 60), (70, 70)]);
    assert_eq!(puller.missed(), 0);
}

#[test]
fn errors_in_a_row_stop_the_load_and_a_success_between_counts_anew() {
    let load = load(r#"{"kind": "times", "times": 100, "errors_in_a_row": 3}"#);
    let (lines, puller) = simulate(&load, |_| 1, |k| k == 2);
    assert_eq!(lines.len(), 6);
    assert_eq!(*puller.ending(), Ending::new(EndingKind::Limit, "3 errors in a row"));
}

#[test]
fn a_limit_of_operations_stops_the_load() {
    let (lines, puller) = simulate(&load(r#"{"kind": "times", "times": 100, "operations": 4}"#), |_| 1, |_| true);
    assert_eq!((lines.len(), puller.ending()), (4, &Ending::new(EndingKind::Limit, "4 operations")));
}

#[test]
fn shards_of_an_open_load_are_due_as_the_whole_is_and_never_share_a_client() {
    let whole = load(r#"{"kind": "open", "rate": 977, "arrivals": "poisson", "ramp": 100000000, "for": 300000000}"#);
    let mut parts: Vec<Line> = (0..3)
        .flat_map(|shard| {
            let part = starts(&Load { shard, shards: 3, ..whole.clone() }, 2);
            assert!(part.iter().all(|line| u64::from(line.1) % 3 == shard));
            part
        })
        .collect();
    parts.sort_by_key(|line| line.2);
    let due = |lines: &[Line]| lines.iter().map(|line| (line.2, line.3)).collect::<Vec<_>>();
    assert_eq!(due(&parts), due(&starts(&whole, 2)));
}

#[test]
fn clients_of_a_closed_load_live_the_same_life_in_any_shard() {
    let whole = load(
        r#"{"kind": "closed", "clients": 7, "ramp": 70000000, "for": 100000000, "think": {"exponential": 5000000}}"#,
    );
    let life = |mut lines: Vec<Line>| {
        lines.sort_by_key(|line| (line.1, line.0));
        lines.iter().map(|line| (line.1, line.0)).collect::<Vec<_>>()
    };
    let parts = (0..3).flat_map(|shard| starts(&Load { shard, shards: 3, ..whole.clone() }, 2)).collect();
    assert_eq!(life(parts), life(starts(&whole, 2)));
}

#[test]
fn shards_share_the_times() {
    let whole = load(r#"{"kind": "closed", "clients": 7, "times": 100}"#);
    let mut numbers: Vec<u64> =
        (0..3).flat_map(|shard| starts(&Load { shard, shards: 3, ..whole.clone() }, 2)).map(|line| line.2).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..100).collect::<Vec<_>>());
}

#[test]
fn what_cannot_be_divided_is_left_to_the_first_shards() {
    let parts = |whole: &Load| {
        let mut lines: Vec<Line> =
            (0..4).flat_map(|shard| starts(&Load { shard, shards: 4, ..whole.clone() }, 2)).collect();
        lines.sort_by_key(|line| line.2);
        lines
    };
    assert_eq!(parts(&load("{}")), [(0, 0, 0, 0)]);
    let times = load(r#"{"kind": "times", "times": 3}"#);
    assert_eq!(parts(&times), [(0, 0, 0, 0), (2, 0, 1, 2), (4, 0, 2, 4)]);
    let shared = load(r#"{"kind": "times", "clients": 2, "times": 5}"#);
    assert_eq!(parts(&shared), [(0, 0, 0, 0), (0, 1, 1, 0), (2, 0, 2, 2), (2, 1, 3, 2), (4, 0, 4, 4)]);
    let open = load(r#"{"kind": "open", "rate": 100, "clients": 1, "for": 50000000}"#);
    assert_eq!(parts(&open), starts(&open, 2), "never more clients than the load has");
}

#[test]
fn shards_share_a_limit_of_operations_and_one_that_is_just_met_is_no_stop() {
    let whole = load(r#"{"kind": "closed", "clients": 8, "times": 100, "operations": 10}"#);
    let begun = |shard| starts(&Load { shard, shards: 4, ..whole.clone() }, 2).len();
    assert_eq!((0..4).map(begun).sum::<usize>(), 10);
    let (lines, puller) = simulate(&load(r#"{"kind": "times", "times": 4, "operations": 4}"#), |_| 1, |_| true);
    assert_eq!((lines.len(), puller.ending()), (4, &Ending::default()));
}

#[test]
fn a_load_that_nobody_asks_about_still_ends() {
    let mut puller = Puller::new(&load(r#"{"kind": "closed", "clients": 1, "for": 5000000}"#), 0);
    assert!(matches!(puller.next(0), Step::Start(_)));
    assert_eq!(puller.next(MS), Step::Idle);
    puller.look(4 * MS);
    assert_eq!(puller.stopped(), None);
    puller.look(6 * MS);
    assert_eq!((puller.stopped(), puller.under_way()), (Some(6 * MS), 1));
}

proptest! {
    #[test]
    fn nothing_is_early_or_lost_and_no_client_does_two_things(
        rate in 1.0f64..400.0, clients in 1u32..12, shards in 1u64..5, service in 0i64..60, poisson: bool, open: bool, thinks in 0u64..20_000_000
    ) {
        let kind = if open { "open" } else { "closed" };
        let arrivals = if poisson { "poisson" } else { "constant" };
        let whole = load(&format!(
            r#"{{"kind": "{kind}", "rate": {rate}, "clients": {clients}, "arrivals": "{arrivals}", "ramp": 50000000, "for": 200000000,
            "think": {}}}"#,
            if open { "null".to_owned() } else { format!(r#"{{"exponential": {thinks}}}"#) }
        ));
        let mut begun = Vec::new();
        let mut missed = 0;
        let times = |number: u64| service + i64::try_from(number % 7).unwrap();
        for shard in 0..shards {
            let (lines, mut puller) = simulate(&Load { shard, shards, ..whole.clone() }, times, |_| true);
            prop_assert!(lines.windows(2).all(|pair| pair[0].0 <= pair[1].0), "in order");
            prop_assert_eq!(puller.under_way(), 0);
            missed += puller.missed();
            begun.extend(lines);
        }
        prop_assert!(begun.iter().all(|line| line.0 >= line.3 && line.0 < 250 && line.1 < clients));
        let mut numbers: Vec<u64> = begun.iter().map(|line| line.2).collect();
        numbers.sort_unstable();
        prop_assert!(numbers.windows(2).all(|pair| pair[0] != pair[1]));
        if open {
            // of what was due in the ramp and never began nobody asks
            let due = Schedule::new(&whole).filter(|arrival| arrival.stage == Stage::Measure);
            let lost = due.filter(|arrival| numbers.binary_search(&arrival.number).is_err()).count() as u64;
            prop_assert_eq!(lost, missed);
        }
        begun.sort_by_key(|line| (line.1, line.0, line.2));
        let alone = |pair: &[Line]| pair[0].1 != pair[1].1 || pair[0].0 + times(pair[0].2) <= pair[1].0 + 1;
        prop_assert!(begun.windows(2).all(alone), "one thing at a time (instants are cut to ms)");
    }
}

#[test]
fn clients_of_a_steered_load_go_after_their_iteration_and_come_back_under_their_number() {
    let load = load(r#"{"kind": "closed", "clients": 1, "steered": 5, "for": 100000000}"#);
    let mut puller = Puller::new(&load, 0);
    let mut begun = Vec::new();
    let mut ends: BinaryHeap<Reverse<(i64, u32)>> = BinaryHeap::new();
    for now in 0..=100 {
        if let Some(level) = match now {
            20 => Some(3.0),
            40 => Some(1.0),
            60 => Some(2.4),
            _ => None,
        } {
            puller.set_level(level, now * MS, now * MS);
        }
        while ends.peek().is_some_and(|Reverse(end)| end.0 <= now) {
            let Reverse((_, client)) = ends.pop().unwrap();
            puller.finished(client, now * MS, true);
        }
        while let Step::Start(Begin { client, .. }) = puller.next(now * MS) {
            begun.push((now, client));
            ends.push(Reverse((now + 10, client)));
        }
    }
    let of = |client| begun.iter().filter(|line| line.1 == client).map(|line| line.0).collect::<Vec<_>>();
    assert_eq!(of(0), [0, 10, 20, 30, 40, 50, 60, 70, 80, 90]);
    assert_eq!(of(1), [20, 30, 60, 70, 80, 90]);
    assert_eq!(of(2), [20, 30]);
    assert_eq!((puller.clients(), of(3).len()), (2, 0));
}

#[test]
fn a_steered_load_at_level_zero_waits_for_the_next_word_and_ends_in_time() {
    let load = load(r#"{"kind": "open", "rate": 0, "steered": 100, "for": 100000000}"#);
    let mut puller = Puller::new(&load, 0);
    assert_eq!(puller.next(0), Step::Wait(100 * MS));
    puller.set_level(50.0, 10 * MS, 5 * MS);
    assert_eq!(puller.next(5 * MS), Step::Wait(10 * MS));
    assert!(matches!(puller.next(10 * MS), Step::Start(Begin { number: 0, .. })));
    assert_eq!(puller.next(10 * MS), Step::Wait(30 * MS));
    puller.set_level(0.0, 20 * MS, 20 * MS);
    puller.finished(0, 25 * MS, true);
    assert_eq!(puller.next(50 * MS), Step::Wait(100 * MS));
    assert_eq!(puller.next(100 * MS), Step::Done);
    assert_eq!(puller.missed(), 0);
}

#[test]
fn the_measured_time_is_as_planned_up_to_an_early_stop_and_open_where_no_time_ends_it() {
    let timed =
        r#"{"kind": "open", "rate": 100, "clients": 4, "ramp": 10000000, "warm_up": 20000000, "for": 100000000}"#;
    let mut puller = Puller::new(&load(timed), 7);
    assert_eq!(puller.measured(), (30 * MS + 7, 130 * MS + 7));
    puller.stop(60 * MS, &Ending::stopped());
    assert_eq!(puller.measured(), (30 * MS + 7, 60 * MS));
    let (_, done) = simulate(&load(timed), |_| 1, |_| true);
    assert_eq!(done.measured(), (30 * MS, 130 * MS), "it ended in order");
    let counted = r#"{"kind": "closed", "clients": 1, "times": 3, "for": 100000000}"#;
    assert_eq!(simulate(&load(counted), |_| 1, |_| true).1.measured(), (0, 0), "the last end of an iteration");
    assert_eq!(Puller::new(&load(r#"{"kind": "times", "times": 3}"#), 5).measured(), (5, 0));
    let stages = r#"{"kind": "closed", "segments": [{"level": 1, "ramp": 10000000, "warm_up": 0, "for": 20000000},
        {"level": 2, "ramp": 5000000, "warm_up": 5000000, "for": 20000000}]}"#;
    assert_eq!(load(stages).measured(), [(10_000_000, 30_000_000), (40_000_000, 60_000_000)]);
    assert_eq!(Puller::new(&load(stages), 0).measured(), (10 * MS, 60 * MS));
}

#[test]
fn what_was_due_a_moment_before_an_early_stop_is_not_missed_where_a_client_was_free() {
    let steady = r#"{"kind": "open", "rate": 100, "clients": 2, "for": 10000000000}"#;
    let begun = |puller: &mut Puller| matches!(puller.next(0), Step::Start(_));
    let mut free = Puller::new(&load(steady), 0);
    assert!(begun(&mut free));
    free.stop(25 * MS, &Ending::stopped());
    assert_eq!(free.missed(), 0);
    let mut busy = Puller::new(&load(r#"{"kind": "open", "rate": 100, "clients": 1, "for": 10000000000}"#), 0);
    assert!(begun(&mut busy));
    busy.stop(25 * MS, &Ending::stopped());
    assert_eq!(busy.missed(), 2);
}

/// A load of these starts (ms), and the file of them, to be removed.
fn replay(name: &str, starts: &[i64], changes: &str) -> (Load, std::path::PathBuf) {
    let path = std::env::temp_dir().join(format!("pileup-puller-{}-{name}", std::process::id()));
    std::fs::write(&path, starts.iter().flat_map(|start| (start * MS).to_le_bytes()).collect::<Vec<u8>>()).unwrap();
    let replay = format!(r#""replay": {{"file": "{}", "count": {}, "speed": 2}}"#, path.display(), starts.len());
    (load(&format!(r#"{{"kind": "open", "rate": 5, {replay}{changes}}}"#)), path)
}

#[test]
fn a_replay_begins_what_a_record_began_and_what_has_no_client_waits_and_keeps_its_intended_start() {
    let (load, path) = replay("whole", &[0, 20, 24, 24, 90], r#", "clients": 1"#);
    load.check().unwrap();
    let (lines, mut puller) = simulate(&load, |_| 4, |_| true);
    assert_eq!(lines, [(0, 0, 0, 0), (10, 0, 1, 10), (14, 0, 2, 12), (18, 0, 3, 12), (45, 0, 4, 45)]);
    assert_eq!((puller.missed(), puller.ending().early()), (0, false));
    let mut stopped = Puller::new(&load, 0);
    assert!(matches!(stopped.next(0), Step::Start(_)));
    stopped.stop(12 * MS, &Ending::stopped());
    assert_eq!(stopped.missed(), 3, "what was due by then and had not begun");
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_replay_whose_starts_cannot_be_read_on_says_so_and_ends() {
    let (load, path) = replay("broken", &[0, 20, 10, 30], "");
    load.check().unwrap();
    let (lines, puller) = simulate(&load, |_| 1, |_| true);
    assert_eq!(lines.len(), 0, "a block of starts out of order is not pressed at all");
    assert_eq!(puller.ending().kind, EndingKind::Unreadable);
    assert!(puller.ending().why.contains("start 2 in it is"), "{}", puller.ending().why);
    std::fs::remove_file(path).unwrap();
}
