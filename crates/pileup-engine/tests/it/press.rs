//! Loads pressed for real, for fractions of a second: what is counted, what is recorded, how they end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use pileup_engine::client::{Act, Call, Client, Factory, Failure};
use pileup_engine::ending::{Ending, EndingKind};
use pileup_engine::noop::NoopFactory;
use pileup_engine::press::{Ended, Next};
use pileup_record::{Histogram, Outcome, Phase};

use pileup_posix::PosixFactory;
use pileup_testing::bench::{Bench, count, finish, program};

#[test]
fn a_closed_load_of_noops_is_counted_and_recorded_once() {
    let bench = Bench::new("closed");
    for workers in [1, 2] {
        let before = bench.recorder.rows();
        let press =
            bench.press(&format!(r#"{{"kind": "closed", "clients": 10, "times": 5000, "workers": {workers}}}"#));
        press.native(NoopFactory, program(&["{}"])).unwrap();
        let frames = finish(&press);
        assert_eq!(count(&frames, Outcome::Passed, true), 5000);
        assert_eq!(frames.iter().map(|frame| frame.started).sum::<u64>(), 5000);
        bench.recorder.flush().unwrap();
        assert_eq!(bench.recorder.rows() - before, 5000);
    }
}

#[test]
fn an_open_load_keeps_its_rate_and_waiting_takes_the_time_it_takes() {
    let bench = Bench::new("open");
    let press = bench.press(r#"{"kind": "open", "rate": 500, "for": 400000000}"#);
    press.native(NoopFactory, program(&[r#"{"cost_ns": 20000000}"#])).unwrap();
    let frames = finish(&press);
    assert_eq!(count(&frames, Outcome::Passed, true), 200);
    let mut service = Histogram::new();
    frames.iter().flat_map(|frame| &frame.rows).for_each(|row| service.merge(&row.service).unwrap());
    assert!(service.min() >= 19_900_000, "{}", service.min());
    assert_eq!(frames.iter().map(|frame| frame.missed).sum::<u64>(), 0);
    assert!(frames.iter().map(|frame| frame.clients).max().unwrap() >= 10, "20 ms at 500 /s keep ten clients busy");
}

#[test]
fn steps_inside_an_iteration_are_operations_with_a_parent() {
    let bench = Bench::new("steps");
    let root = format!(r#"{{"root": {:?}}}"#, bench.folder.join("data"));
    let write = r#"{"operation": "write", "verb": "write", "repeat": 4, "content": {"seed": 3, "size": 100000}}"#;
    let read = r#"{"operation": "read", "verb": "read", "repeat": 4, "content": {"seed": 3, "size": 100000}}"#;
    let press = bench.press("{}");
    press.native(PosixFactory::new(&root).unwrap(), program(&[write, read])).unwrap();
    let frames = finish(&press);
    assert_eq!((count(&frames, Outcome::Passed, true), count(&frames, Outcome::Passed, false)), (1, 8));
    let iterations = frames.iter().flat_map(|frame| &frame.rows).filter(|row| row.iteration);
    assert_eq!(iterations.map(|row| row.bytes).sum::<u64>(), 800_000, "a slow iteration is in two frames");
    std::fs::write(bench.folder.join("data/f02"), "something else").unwrap();
    let press = bench.press("{}");
    press.native(PosixFactory::new(&root).unwrap(), program(&[read])).unwrap();
    let frames = finish(&press);
    assert_eq!(count(&frames, Outcome::Failed, true), 1);
    assert_eq!(
        (count(&frames, Outcome::Passed, false), count(&frames, Outcome::Failed, false)),
        (2, 1),
        "the first failure ends it"
    );
}

/// Never answers; says before whether its request had left, and whether the server had asked it to wait.
struct Silent(bool, bool);
impl Factory for Silent {
    type Client = Self;
    const BLOCKING: bool = false;
    fn make(&self, _client: u32) -> Self {
        Self(self.0, self.1)
    }
}
impl Client for Silent {
    async fn open(&mut self) -> Result<(), Failure> {
        Ok(())
    }
    async fn act(&mut self, _call: &Call<'_>, act: &mut Act) -> Result<(), Failure> {
        (act.sent, act.waits) = (self.0, self.1);
        std::future::pending().await
    }
    async fn close(&mut self) {}
}

#[test]
fn no_answer_is_ambiguous_when_a_request_had_left_failed_when_not_and_refused_when_told_to_wait() {
    let bench = Bench::new("silent");
    for (sent, waits, outcome) in
        [(true, false, Outcome::Ambiguous), (false, false, Outcome::Failed), (false, true, Outcome::Refused)]
    {
        let press = bench.press(r#"{"kind": "times", "times": 3, "timeout": 20000000}"#);
        press.native(Silent(sent, waits), program(&["{}"])).unwrap();
        assert_eq!(count(&finish(&press), outcome, true), 3);
    }
}

#[test]
fn stopped_at_once_what_is_under_way_is_unfinished_and_nothing_hangs() {
    let bench = Bench::new("stop");
    let press = bench.press(r#"{"kind": "closed", "clients": 5, "for": 60000000000}"#);
    press.native(Silent(true, false), program(&["{}"])).unwrap();
    assert!(!press.wait(Duration::from_millis(100)));
    press.stop(true);
    let frames = finish(&press);
    assert_eq!(count(&frames, Outcome::Unfinished, true), 5);
    assert_eq!(press.ending(), Ending::stopped());
}

#[test]
fn errors_in_a_row_end_the_load() {
    let bench = Bench::new("row");
    let root = format!(r#"{{"root": {:?}}}"#, bench.folder.join("data"));
    let press = bench.press(r#"{"kind": "closed", "clients": 1, "for": 60000000000, "errors_in_a_row": 7}"#);
    press.native(PosixFactory::new(&root).unwrap(), program(&[r#"{"verb": "stat"}"#])).unwrap();
    assert_eq!(count(&finish(&press), Outcome::Failed, true), 7);
    assert_eq!(press.ending(), Ending::new(EndingKind::Limit, "7 errors in a row"));
}

#[test]
fn threads_share_a_turnstile_and_each_gets_its_own_starts() {
    let bench = Bench::new("threads");
    let press = bench.press(r#"{"kind": "open", "rate": 2000, "for": 300000000, "clients": 8}"#);
    let mut threads = Vec::new();
    while let Some(client) = press.spawn() {
        let press = Arc::clone(&press);
        threads.push(std::thread::spawn(move || {
            let mut done = 0;
            while let Some(start) = press.next(client) {
                assert_eq!(start.client, client);
                std::thread::sleep(Duration::from_micros(300));
                press.finish(&start, &Ended { end: pileup_pacer::clock::now(), ..Ended::default() });
                done += 1;
            }
            done
        }));
    }
    let done: u64 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    let frames = finish(&press);
    let missed: u64 = frames.iter().map(|frame| frame.missed).sum();
    assert_eq!(done + missed, 600);
    assert_eq!(count(&frames, Outcome::Passed, true), done);
}

#[test]
fn a_thread_that_hangs_is_given_up_after_the_timeout_and_its_late_end_is_ignored() {
    let bench = Bench::new("hangs");
    let press = bench.press(r#"{"timeout": 100000000}"#);
    let client = press.spawn().unwrap();
    let Next::Start(start) = press.try_next(client) else { panic!("nothing to do") };
    assert_eq!(press.spawn(), None);
    let frames = finish(&press);
    assert_eq!(count(&frames, Outcome::Unfinished, true), 1);
    press.finish(&start, &Ended { end: pileup_pacer::clock::now(), ..Ended::default() });
    assert!(press.frame().rows.is_empty());
}

#[test]
fn an_event_loop_is_told_by_its_descriptor() {
    let bench = Bench::new("loop");
    let press = bench.press(r#"{"kind": "open", "rate": 200, "for": 200000000}"#);
    let mut done = 0;
    while !press.over() {
        let mut poll = libc::pollfd { fd: press.fileno(), events: libc::POLLIN, revents: 0 };
        for start in press.ready() {
            assert_eq!(start.phase, Phase::Measure);
            press.finish(&start, &Ended { end: pileup_pacer::clock::now(), ..Ended::default() });
            done += 1;
        }
        // SAFETY: one valid pollfd.
        assert!(press.over() || unsafe { libc::poll(&mut poll, 1, 2000) } > 0, "nothing came for two seconds");
    }
    assert_eq!(done, 40);
}

#[test]
fn the_timeout_is_of_an_operation_and_the_iteration_may_take_as_many() {
    let bench = Bench::new("each");
    let press = bench.press(r#"{"timeout": 80000000}"#);
    press.native(NoopFactory, program(&[r#"{"repeat": 5, "cost_ns": 30000000}"#])).unwrap();
    assert_eq!(count(&finish(&press), Outcome::Passed, true), 1, "150 ms in all, 30 ms each");
}

#[test]
fn workers_share_what_there_is_and_end_together() {
    let bench = Bench::new("workers");
    for (shape, passed) in [
        (r#"{"workers": 3}"#, 1),
        (r#"{"workers": 3, "kind": "times", "times": 7}"#, 7),
        (r#"{"workers": 3, "kind": "closed", "clients": 2, "times": 50}"#, 50),
        (r#"{"workers": 2, "kind": "open", "rate": 1000, "clients": 1, "for": 50000000}"#, 50),
    ] {
        let press = bench.press(shape);
        press.native(NoopFactory, program(&["{}"])).unwrap();
        let frames = finish(&press);
        let missed: u64 = frames.iter().map(|frame| frame.missed).sum();
        assert_eq!(count(&frames, Outcome::Passed, true) + missed, passed, "{shape}");
        assert_eq!(press.ending(), Ending::default());
    }
}

#[test]
fn errors_in_a_row_are_counted_over_all_workers_and_end_all() {
    let bench = Bench::new("all");
    for workers in [1, 2, 4] {
        let shape = format!(
            r#"{{"kind": "closed", "clients": 4, "for": 60000000000, "workers": {workers}, "errors_in_a_row": 50}}"#
        );
        let press = bench.press(&shape);
        press.native(Odd(u32::MAX), program(&[r#"{"cost_ns": 1000000}"#])).unwrap();
        let frames = finish(&press);
        assert_eq!(press.ending(), Ending::new(EndingKind::Limit, "50 errors in a row"));
        let failed = count(&frames, Outcome::Failed, true);
        assert!((50..50 + 4 * 50).contains(&failed), "{workers} workers: {failed}");
    }
}

#[test]
fn what_passes_at_one_worker_ends_a_row_of_errors_at_another() {
    let bench = Bench::new("between");
    for workers in [1, 2] {
        let shape = format!(
            r#"{{"kind": "closed", "clients": 2, "for": 300000000, "workers": {workers}, "errors_in_a_row": 50}}"#
        );
        let press = bench.press(&shape);
        press.native(Odd(1), program(&[r#"{"cost_ns": 1000000}"#])).unwrap();
        let frames = finish(&press);
        assert_eq!(press.ending(), Ending::default(), "{workers} workers");
        assert!(count(&frames, Outcome::Failed, true) > 50);
    }
}

/// Clients from that number on fail, all of them where it is `u32::MAX`.
struct Odd(u32);
struct OddClient(bool, pileup_engine::noop::NoopClient);
impl Factory for Odd {
    type Client = OddClient;
    const BLOCKING: bool = false;
    fn make(&self, client: u32) -> OddClient {
        OddClient(client >= self.0 || self.0 == u32::MAX, NoopFactory.make(client))
    }
}
impl Client for OddClient {
    async fn open(&mut self) -> Result<(), Failure> {
        Ok(())
    }
    async fn act(&mut self, call: &Call<'_>, act: &mut Act) -> Result<(), Failure> {
        self.1.act(call, act).await?;
        if self.0 { Err(Failure::failed("odd")) } else { Ok(()) }
    }
    async fn close(&mut self) {}
}

#[test]
fn a_loop_whose_iterations_hang_is_given_up_though_nobody_asks() {
    let bench = Bench::new("silent-loop");
    let press = bench.press(r#"{"kind": "closed", "clients": 2, "for": 50000000, "timeout": 50000000}"#);
    press.fileno();
    assert_eq!(press.ready().len(), 2);
    assert_eq!(count(&finish(&press), Outcome::Unfinished, true), 2);
}

#[test]
fn a_client_that_is_ready_earlier_than_the_one_who_keeps_the_time_is_on_time() {
    let bench = Bench::new("earlier");
    // client 1 is born after 0.9 s and is what the first sleeper waits for; client 0 thinks for 10 ms meanwhile
    let press = bench
        .press(r#"{"kind": "closed", "clients": 2, "ramp": 1800000000, "times": 20, "think": {"fixed": 10000000}}"#);
    let begin = Instant::now();
    std::thread::scope(|scope| {
        while let Some(client) = press.spawn() {
            let press = &press;
            scope.spawn(move || {
                while let Some(start) = press.next(client) {
                    let start = press.picked(start);
                    press.finish(&start, &Ended { end: pileup_pacer::clock::now(), ..Ended::default() });
                }
            });
        }
    });
    assert!(begin.elapsed() < Duration::from_millis(800), "20 times 10 ms: {:?}", begin.elapsed());
    assert_eq!(count(&finish(&press), Outcome::Passed, true), 20);
}

#[test]
fn who_waits_before_anything_has_begun_hears_of_the_end_at_once() {
    let bench = Bench::new("hears");
    let begin = Instant::now();
    for _ in 0..20 {
        let press = bench.press(r#"{"kind": "once"}"#);
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| press.wait(Duration::from_secs(10)));
            std::thread::sleep(Duration::from_millis(2)); // the waiter sleeps by now
            assert_eq!(press.spawn(), Some(0));
            let start = press.next(0).unwrap();
            press.finish(&start, &Ended { end: pileup_pacer::clock::now(), ..Ended::default() });
            assert!(waiter.join().unwrap());
        });
    }
    assert!(begin.elapsed() < Duration::from_millis(600), "not at the next look each time: {:?}", begin.elapsed());
}

/// Counts what it does, 5 ms each, on a thread of its own.
struct Slow(Arc<AtomicU32>);
impl Factory for Slow {
    type Client = Self;
    const BLOCKING: bool = true;
    fn make(&self, _client: u32) -> Self {
        Self(Arc::clone(&self.0))
    }
}
impl Client for Slow {
    async fn open(&mut self) -> Result<(), Failure> {
        Ok(())
    }
    async fn act(&mut self, _call: &Call<'_>, _act: &mut Act) -> Result<(), Failure> {
        self.0.fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(5));
        Ok(())
    }
    async fn close(&mut self) {}
}

#[test]
fn stopped_at_once_a_blocking_client_does_not_go_on_with_its_iteration() {
    let bench = Bench::new("stop-steps");
    let (press, acts) = (bench.press("{}"), Arc::new(AtomicU32::new(0)));
    press.native(Slow(Arc::clone(&acts)), program(&[r#"{"repeat": 100000}"#])).unwrap();
    assert!(!press.wait(Duration::from_millis(60)));
    press.stop(true);
    assert_eq!(count(&finish(&press), Outcome::Unfinished, true), 1);
    std::thread::sleep(Duration::from_millis(50)); // the one under way ends
    let done = acts.load(Ordering::SeqCst);
    assert!(done > 0);
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(acts.load(Ordering::SeqCst), done);
}

/// Cannot be opened, in no time.
struct Unreachable;
impl Factory for Unreachable {
    type Client = Self;
    const BLOCKING: bool = false;
    fn make(&self, _client: u32) -> Self {
        Self
    }
}
impl Client for Unreachable {
    async fn open(&mut self) -> Result<(), Failure> {
        std::future::pending().await
    }
    async fn act(&mut self, _call: &Call<'_>, _act: &mut Act) -> Result<(), Failure> {
        Err(Failure::failed("unreachable"))
    }
    async fn close(&mut self) {}
}

#[test]
fn stopping_does_not_wait_for_clients_that_are_being_opened() {
    let bench = Bench::new("opening");
    let begin = Instant::now();
    let press = bench.press(r#"{"kind": "closed", "clients": 500, "for": 60000000000, "workers": 2}"#);
    press.native(Unreachable, program(&["{}"])).unwrap();
    assert!(!press.wait(Duration::from_millis(50)));
    press.stop(true);
    finish(&press);
    assert!(begin.elapsed() < Duration::from_secs(3), "{:?}", begin.elapsed());
}

#[test]
fn what_cannot_be_opened_fails_at_its_operation() {
    let bench = Bench::new("unopened");
    let press = bench.press(r#"{"kind": "closed", "clients": 500, "times": 1000, "timeout": 100000000}"#);
    press.native(Unreachable, program(&["{}"])).unwrap();
    assert_eq!(count(&finish(&press), Outcome::Failed, true), 1000);
}
