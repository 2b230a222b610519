//! A process whose clock is moved: in a program of its own, since it is moved for all its threads.
#![allow(clippy::unwrap_used)] // tests

use pileup_pacer::{Pacing, TimerFd, clock, sleep_until_blocking};

const HOUR: i64 = 3_600_000_000_000;

#[test]
fn times_and_timers_go_by_the_moved_clock() {
    let before = clock::now();
    clock::shift(HOUR);
    let after = clock::now();
    assert!((HOUR..HOUR + 60_000_000_000).contains(&(after - before)));
    let timer = TimerFd::new().unwrap();
    timer.arm(clock::now() + 1_000_000);
    assert!(timer.wait(5000), "not an hour later");
    let at = clock::now() + 1_000_000;
    sleep_until_blocking(at, Pacing::Normal);
    assert!((0..60_000_000_000).contains(&(clock::now() - at)));
    clock::shift(-2 * HOUR);
    assert!(clock::now() < before);
    timer.arm(before);
    assert!(!timer.wait(0), "what was the past is to come");
    clock::shift(HOUR);
    assert!((0..60_000_000_000).contains(&(clock::now() - before)));
}
