//! What is in the record of a load, row by row.

use pileup_engine::noop::NoopFactory;

use pileup_posix::PosixFactory;
use pileup_testing::bench::{Bench, Line, finish, program};

const MS: i64 = 1_000_000;

fn keys(lines: &[Line]) -> Vec<&str> {
    lines.iter().map(|line| line.key.as_str()).collect()
}

#[test]
fn an_iteration_of_one_operation_is_one_row() {
    let bench = Bench::new("rows-single");
    let press = bench.press(r#"{"kind": "times", "times": 6}"#);
    press.native(NoopFactory, program(&[r#"{"cost_ns": 1000000}"#])).unwrap();
    finish(&press);
    let lines = bench.lines();
    assert_eq!(keys(&lines), ["f00", "f01", "f02", "f03", "f00", "f01"]);
    for (line, next) in lines.iter().zip(lines.iter().skip(1)) {
        assert_eq!((line.parent, line.operation.as_str(), line.error.as_str()), (0, "act", ""));
        assert_eq!((line.calls, line.bytes, line.outcome, line.phase, line.client), (1, 0, 0, 3, 0));
        assert_eq!(line.intended, line.start, "without a time of its own it is due when its client is there");
        assert!(line.end - line.start >= MS && line.end <= next.start);
    }
}

#[test]
fn operations_lie_within_their_iteration_which_has_their_sums() {
    let bench = Bench::new("rows-several");
    let root = format!(r#"{{"root": {:?}}}"#, bench.folder.join("data"));
    let content = r#""content": {"seed": 3, "size": 100000}, "repeat": 2"#;
    let write = format!(r#"{{"operation": "write", "verb": "write", {content}}}"#);
    let read = format!(r#"{{"operation": "read", "verb": "read", {content}}}"#);
    let press = bench.press(r#"{"kind": "times", "times": 2, "phase": 5}"#);
    press.native(PosixFactory::new(&root).unwrap(), program(&[&write, &read])).unwrap();
    finish(&press);
    let lines = bench.lines();
    assert!(lines.iter().all(|line| line.phase == 5), "the phase as given");
    let (parents, children): (Vec<Line>, Vec<Line>) = lines.into_iter().partition(|line| line.parent == 0);
    assert_eq!(parents.iter().map(|line| line.operation.as_str()).collect::<Vec<_>>(), ["iteration", "iteration"]);
    assert_eq!(keys(&children), ["f00", "f01", "f00", "f01", "f02", "f03", "f02", "f03"]);
    for parent in &parents {
        let own: Vec<&Line> = children.iter().filter(|line| line.parent == parent.id).collect();
        assert_eq!(
            own.iter().map(|line| line.operation.as_str()).collect::<Vec<_>>(),
            ["write", "write", "read", "read"]
        );
        assert_eq!(own.iter().map(|line| line.bytes).sum::<u64>(), parent.bytes);
        assert_eq!(own.iter().map(|line| line.calls).sum::<u32>(), parent.calls);
        assert!(own.windows(2).all(|pair| pair[0].end <= pair[1].start), "one after another");
        assert!(
            own.iter().all(|line| line.intended == line.start && line.start >= parent.start && line.end <= parent.end)
        );
        let reads = own.iter().filter(|line| line.operation == "read");
        assert!(
            reads.clone().count() == 2 && reads.clone().all(|line| (line.start..=line.end).contains(&line.first_byte))
        );
    }
}

#[test]
fn the_first_fault_ends_an_iteration_and_is_its_error() {
    let bench = Bench::new("rows-fault");
    let root = format!(r#"{{"root": {:?}}}"#, bench.folder.join("data"));
    let stat = r#"{"operation": "stat", "verb": "stat", "repeat": 3}"#;
    std::fs::write(bench.folder.join("data/f00"), "").unwrap();
    let press = bench.press("{}");
    press.native(PosixFactory::new(&root).unwrap(), program(&[r#"{"operation": "list", "verb": "list", "keys": {"prefix": "", "count": 1, "width": 0, "names": ["."], "order": "sequential"}}"#, stat])).unwrap();
    finish(&press);
    let found: Vec<(String, u8, String)> =
        bench.lines().into_iter().map(|line| (line.operation, line.outcome, line.error)).collect();
    let missing = "stat: No such file or directory (os error 2)";
    let line = |operation: &str, outcome: u8, error: &str| (operation.to_owned(), outcome, error.to_owned());
    let rest = [line("list", 0, ""), line("stat", 0, ""), line("stat", 1, missing)];
    assert_eq!(found, [&[line("iteration", 1, missing)], rest.as_slice()].concat());
}

#[test]
fn an_open_load_has_its_instants_and_phases_in_the_record_and_late_ones_count_from_when_they_were_due() {
    let bench = Bench::new("rows-open");
    let press = bench.press(
        r#"{"kind": "open", "rate": 100, "clients": 1, "ramp": 20000000, "warm_up": 20000000, "for": 60000000}"#,
    );
    press.native(NoopFactory, program(&[r#"{"cost_ns": 15000000}"#])).unwrap();
    let missed: u64 = finish(&press).iter().map(|frame| frame.missed).sum();
    let lines = bench.lines();
    let begin = lines[0].intended;
    // one in the ramp at 0, then one each 10 ms from 20 ms on
    let due: Vec<i64> = [0].into_iter().chain((0..8).map(|k| 20 + 10 * k)).collect();
    let found: Vec<i64> = lines.iter().map(|line| (line.intended - begin) / MS).collect();
    assert_eq!(found, due[..lines.len()]);
    assert_eq!(lines.len() as u64 + missed, 9);
    assert!(lines.len() < 9, "15 ms each, one at a time: not all can begin");
    for line in &lines {
        let at = line.intended - begin;
        assert_eq!(
            line.phase,
            if at < 20 * MS {
                1
            } else if at < 40 * MS {
                2
            } else {
                3
            }
        );
        assert!(line.start >= line.intended && line.end - line.start >= 15 * MS);
    }
    assert!(lines.windows(2).all(|pair| pair[0].end <= pair[1].start));
}

#[test]
fn random_objects_are_the_same_for_the_same_seed_and_spread_over_all() {
    let bench = Bench::new("rows-random");
    let random = r#"{"keys": {"prefix": "r", "count": 10, "width": 1, "names": [], "order": "random"}}"#;
    let run = |seed: u64| {
        let before = bench.lines().len();
        let press = bench.press(&format!(r#"{{"kind": "times", "times": 200, "seed": {seed}}}"#));
        press.native(NoopFactory, program(&[random])).unwrap();
        finish(&press);
        bench.lines().split_off(before).into_iter().map(|line| line.key).collect::<Vec<_>>()
    };
    let first = run(1);
    assert_eq!(first, run(1));
    assert_ne!(first, run(2));
    let different: std::collections::HashSet<&String> = first.iter().collect();
    assert_eq!(different.len(), 10);
}
