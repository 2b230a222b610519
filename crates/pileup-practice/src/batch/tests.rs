//! The batch system under virtual time: exact instants, nothing lost but what a crash may forget, the same again from the journal.

use super::job::{State, Wanted};
use super::journal::{Event, Journal};
use super::settings::Rules;
use super::system::System;

const BASE: i64 = 1_800_000_000_000_000_000;
const S: i64 = 1_000_000_000;

fn rules() -> Rules {
    Rules { slots: 2, cycle: 10 * S, seed: 3, ..Rules::default() }
}

fn wanted(names: &[&str], seconds: u64) -> Vec<Wanted> {
    let job = |name: &&str| Wanted {
        name: (*name).to_owned(),
        duration: seconds * 1_000_000_000,
        user: None,
        delegation: None,
    };
    names.iter().map(job).collect()
}

fn times(system: &System, id: u64) -> (State, i64, i64) {
    let job = system.job(id).unwrap();
    (job.state, job.started - BASE, job.ended - BASE)
}

#[test]
fn jobs_begin_at_cycles_in_order_and_end_on_time() {
    let mut system = System::new(rules(), BASE);
    assert_eq!(system.submit(BASE + 3 * S, &wanted(&["a", "b", "c"], 12)), (vec![1, 2, 3], None));
    system.advance(BASE + 9 * S);
    assert_eq!((system.count(State::Queued), system.free()), (3, 2));
    system.advance(BASE + 10 * S);
    assert_eq!((system.count(State::Queued), system.free()), (1, 0));
    system.advance(BASE + 1000 * S); // one late look finds everything at its own time
    assert_eq!(times(&system, 1), (State::Completed, 10 * S, 22 * S));
    assert_eq!(times(&system, 2), (State::Completed, 10 * S, 22 * S));
    assert_eq!(times(&system, 3), (State::Completed, 30 * S, 42 * S));
    let changes: Vec<_> = system.changes.since(0).collect();
    assert_eq!(changes, [(1, 1), (2, 2), (3, 1), (4, 2), (5, 3), (6, 3)]);
}

#[test]
fn without_a_cycle_jobs_follow_one_another_at_once() {
    let mut system = System::new(Rules { slots: 1, cycle: 0, ..rules() }, BASE);
    system.submit(BASE + S, &wanted(&["a", "b"], 4));
    system.advance(BASE + 100 * S);
    assert_eq!(times(&system, 1), (State::Completed, S, 5 * S));
    assert_eq!(times(&system, 2), (State::Completed, 5 * S, 9 * S));
}

#[test]
fn limits_refuse_and_say_why() {
    let mut system = System::new(Rules { limit: 3, ..rules() }, BASE);
    let (ids, why) = system.submit(BASE, &wanted(&["a", "b", "c", "d", "e"], 5));
    assert_eq!((ids, why.as_deref()), (vec![1, 2, 3], Some("limit of 3 jobs")));
    assert_eq!((system.totals.submitted, system.totals.refused), (3, 2));
    system.advance(BASE + 100 * S);
    assert_eq!(system.submit(BASE + 100 * S, &wanted(&["d"], 5)), (vec![4], None), "those that ended do not count");

    let mut system = System::new(Rules { user_limit: Some(2), ..rules() }, BASE);
    let (ids, why) = system.submit(BASE, &wanted(&["a", "b", "c"], 5));
    assert_eq!((ids, why.as_deref()), (vec![1, 2], Some("limit of 2 jobs of nobody that are not purged")));
    system.advance(BASE + 100 * S);
    assert_eq!(system.submit(BASE + 100 * S, &wanted(&["c"], 5)).0, Vec::<u64>::new(), "those that ended count, too");
    assert_eq!(system.purge(BASE + 100 * S, 1), Some(true));
    assert_eq!(system.submit(BASE + 100 * S, &wanted(&["c", "d"], 5)).0, vec![3], "one has gone");

    let mut system = System::new(Rules { rate: Some(2.0), ..rules() }, BASE);
    let mut taken = |time, count| system.submit(BASE + time, &wanted(&["a"; 9][..count], 5)).0.len();
    assert_eq!([taken(0, 9), taken(S / 4, 1), taken(S / 2, 9), taken(100 * S, 9)], [2, 0, 1, 2]);
}

#[test]
fn what_is_cancelled_frees_its_slot_and_what_is_purged_is_gone() {
    let mut system = System::new(rules(), BASE);
    system.submit(BASE, &wanted(&["a", "b", "c", "d"], 1000));
    system.advance(BASE + S);
    assert!(system.cancel(BASE + S, 1) && system.cancel(BASE + S, 4) && !system.cancel(BASE + S, 4));
    system.advance(BASE + 10 * S);
    assert_eq!(times(&system, 1), (State::Cancelled, 0, S));
    assert_eq!(times(&system, 3).0, State::Running, "in the place of the first");
    assert_eq!([system.purge(BASE, 1), system.purge(BASE, 2), system.purge(BASE, 9)], [Some(true), Some(false), None]);
    assert_eq!(system.purge_oldest(BASE, 10), 1, "the other that was cancelled");
    assert!(system.job(1).is_none() && system.named("a").next().is_none());
    assert_eq!(system.history.named("a").count(), 1, "the accounting still knows it");
}

#[test]
fn what_has_ended_is_kept_as_long_as_it_should() {
    let mut system = System::new(Rules { keep: Some(5 * S), cycle: 0, ..rules() }, BASE);
    system.submit(BASE, &wanted(&["a"], 1));
    system.advance(BASE + 6 * S - 1);
    assert!(system.job(1).is_some());
    system.advance(BASE + 6 * S);
    assert!(system.job(1).is_none());
    assert_eq!(system.totals.purged, 1);
}

#[test]
fn a_share_of_the_jobs_fails() {
    let mut system = System::new(Rules { failing: 0.25, slots: 1000, cycle: 0, ..rules() }, BASE);
    system.submit(BASE, &wanted(&["a"; 1000], 1));
    system.advance(BASE + S);
    assert!((200..300).contains(&system.count(State::Failed)), "{}", system.count(State::Failed));
    assert_eq!(system.count(State::Completed) + system.count(State::Failed), 1000);
}

#[test]
fn a_crash_forgets_what_was_not_made_safe_and_may_give_its_ids_again() {
    for reuse_ids in [false, true] {
        let mut system = System::new(Rules { reuse_ids, slots: 1, cycle: 0, ..rules() }, BASE);
        system.submit(BASE, &wanted(&["a", "b"], 100));
        system.checkpoint(BASE + S);
        system.submit(BASE + 2 * S, &wanted(&["c", "d"], 100));
        assert_eq!(system.crash(BASE + 3 * S, 60 * S), 2);
        assert!(system.named("c").next().is_none() && system.named("a").next().is_some());
        assert!(system.away_since(BASE + 2 * S, BASE + 100 * S), "asked before, still unanswered");
        assert!(system.away_since(BASE + 4 * S, BASE + 5 * S) && !system.away_since(BASE + 64 * S, BASE + 64 * S));
        system.advance(BASE + 150 * S);
        assert_eq!(times(&system, 1), (State::Completed, 0, 100 * S), "it ran on");
        assert_eq!(times(&system, 2), (State::Running, 100 * S, -BASE));
        let (ids, _) = system.submit(BASE + 200 * S, &wanted(&["e"], 1));
        assert_eq!(ids, [if reuse_ids { 3 } else { 5 }]);
    }
}

#[test]
fn nobody_is_scheduled_while_it_is_away() {
    let mut system = System::new(Rules { checkpoint: 0, ..rules() }, BASE);
    system.submit(BASE + S, &wanted(&["a"], 5));
    assert_eq!(system.crash(BASE + 2 * S, 15 * S), 0, "everything was made safe at once");
    system.advance(BASE + 100 * S);
    assert_eq!(times(&system, 1), (State::Completed, 20 * S, 25 * S));
}

#[test]
fn a_loss_of_some_keeps_the_others() {
    let mut system = System::new(Rules { loss: 0.5, reuse_ids: true, ..rules() }, BASE);
    system.submit(BASE, &wanted(&["a"; 200], 5));
    let lost = system.crash(BASE + S, 0);
    assert!((60..140).contains(&lost), "{lost}");
    let (ids, _) = system.submit(BASE + S, &wanted(&["b"; 200], 5));
    assert_eq!(system.named("a").count(), 200 - lost);
    assert_eq!(system.named("b").count(), 200);
    assert_eq!(ids.len(), 200, "ids of those that were kept are not given again");
}

/// What can be reported about a system from outside.
fn seen(system: &System) -> (Vec<super::job::Job>, Vec<(u64, u64)>, usize, u64) {
    let jobs = system.ids_after(0).into_iter().filter_map(|id| system.job(id).cloned()).collect();
    let last = |(number, id): &(u64, u64)| system.job(*id).is_some_and(|job| job.changed == *number);
    (jobs, system.changes.since(0).filter(last).collect(), system.free(), system.history.end())
}

#[test]
fn the_journal_brings_everything_back() {
    let path = std::env::temp_dir().join(format!("pileup-practice-replay-{}.csv", std::process::id()));
    let again = |now: i64| {
        let mut system = System::new(Rules { reuse_ids: true, ..rules() }, now);
        let mut last = None;
        system.journal = Journal::open(Some(&path), |time, event| {
            system.replay(time, event);
            last = Some(event.clone());
        })
        .unwrap();
        system.begin(now, 1, last.as_ref());
        system.journal.flush();
        system
    };
    let mut first = again(BASE);
    first.submit(BASE, &wanted(&["a", "b", "c", "d"], 12));
    first.advance(BASE + 25 * S);
    first.cancel(BASE + 25 * S, 4);
    first.purge(BASE + 25 * S, 1);
    first.tick(BASE + 26 * S);
    first.submit(BASE + 27 * S, &wanted(&["e", "f"], 12));
    first.crash(BASE + 28 * S, 0);
    first.submit(BASE + 29 * S, &wanted(&["g"], 12));
    first.stop(BASE + 29 * S);
    first.journal.close().unwrap();
    let mut second = again(BASE + 29 * S);
    assert_eq!(seen(&second), seen(&first), "ended in order: all of it");
    second.submit(BASE + 29 * S, &wanted(&["h", "i"], 12));
    second.journal.flush();
    let killed = again(BASE + 29 * S); // as after a kill: the one before said nothing
    assert_eq!(killed.ids_after(0), [2, 3, 4, 5], "what came after the checkpoint is forgotten");
    assert_eq!((killed.totals.lost, killed.totals.crashes), (4, 2));
    let mut events = Vec::new();
    Journal::open(Some(&path), |_, event| events.push(event.clone())).unwrap();
    std::fs::remove_file(&path).unwrap();
    let count = |wanted: fn(&Event) -> bool| events.iter().filter(|event| wanted(event)).count();
    assert_eq!(count(|event| matches!(event, Event::Submitted(..))), 9);
    assert_eq!(count(|event| matches!(event, Event::Lost(_))), 4);
    assert_eq!(count(|event| matches!(event, Event::Start(_))), 3);
}

#[test]
fn a_hundred_thousand_jobs_are_little_work() {
    let mut system = System::new(Rules { slots: 1000, cycle: S, ..rules() }, BASE);
    let names: Vec<String> = (0..100_000).map(|number| format!("job-{number}")).collect();
    let jobs: Vec<_> = names.iter().map(|name| wanted(&[name], 1).remove(0)).collect();
    for part in jobs.chunks(1000) {
        assert_eq!(system.submit(BASE, part).0.len(), 1000);
    }
    system.advance(BASE + 10_000 * S);
    assert_eq!(system.count(State::Completed), 100_000);
    assert_eq!(times(&system, 100_000), (State::Completed, 99 * S, 100 * S), "a thousand a cycle");
    system.tick(BASE + 10_000 * S);
    assert_eq!(system.purge_oldest(BASE + 10_000 * S, usize::MAX), 100_000);
    assert_eq!(system.changes.since(0).filter(|(_, id)| system.job(*id).is_some()).count(), 0);
}
