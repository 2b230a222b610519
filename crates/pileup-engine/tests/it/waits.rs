//! What is pileup's own: pauses after connections that could not be made, waits that are reported, names that stay with their client.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pileup_engine::client::{
    Act, Call, Client, EXPECT_WAIT, Factory, Failure, Incomplete, Kind, OwnWait, RECONNECT_PAUSE,
};
use pileup_pacer::clock::now;
use pileup_record::Outcome;

use pileup_testing::bench::{Bench, Line, count, finish, program};

/// A server that nobody reaches; counts the attempts.
struct Nobody {
    attempts: Arc<AtomicU64>,
    pause: u64,
}

impl Factory for Nobody {
    type Client = Attempting;
    const BLOCKING: bool = false;
    fn reconnect_pause(&self) -> u64 {
        self.pause
    }
    fn make(&self, _client: u32) -> Attempting {
        Attempting(Arc::clone(&self.attempts))
    }
}

struct Attempting(Arc<AtomicU64>);

impl Client for Attempting {
    async fn open(&mut self) -> Result<(), Failure> {
        Ok(())
    }
    async fn act(&mut self, _call: &Call<'_>, _act: &mut Act) -> Result<(), Failure> {
        self.0.fetch_add(1, Ordering::Relaxed);
        tokio::task::yield_now().await;
        Err(Failure::unreachable("connection refused"))
    }
    async fn close(&mut self) {}
}

/// Attempts and pauses of a load of this shape with these pauses.
fn attempts(name: &str, load: &str, pause: u64) -> (u64, Vec<Line>) {
    let bench = Bench::new(name);
    let press = bench.press(load);
    let attempts = Arc::new(AtomicU64::new(0));
    press.native(Nobody { attempts: Arc::clone(&attempts), pause }, program(&["{}"])).unwrap();
    let frames = finish(&press);
    let made = attempts.load(Ordering::Relaxed);
    assert_eq!(count(&frames, Outcome::Failed, true), made);
    let pauses: Vec<_> = bench.lines().into_iter().filter(|line| line.operation == RECONNECT_PAUSE).collect();
    assert_eq!(count(&frames, Outcome::Passed, false), pauses.len() as u64, "pauses are reported by frames too");
    (made, pauses)
}

#[test]
fn t23_clients_of_a_closed_load_pause_after_a_connection_that_could_not_be_made() {
    let load = r#"{"kind": "closed", "clients": 4, "for": 1500000000}"#;
    let (made, pauses) = attempts("pausing", load, 1_000_000_000);
    // 0.1 to 0.2 s, 0.2 to 0.4 s, 0.4 to 0.8 s, 0.5 to 1 s
    assert!((12..=20).contains(&made), "{made}");
    assert_eq!(pauses.len() as u64, made);
    for line in &pauses {
        assert!(line.parent != 0 && line.outcome == 0 && (line.bytes, line.calls) == (0, 0), "{line:?}");
    }
    let first = pauses.iter().map(|line| line.end - line.start).min().unwrap();
    assert!(first >= 100_000_000, "{first}");
    let (made, pauses) = attempts("not-pausing", load, 0);
    assert!(made > 1000 && pauses.is_empty(), "{made}");
}

#[test]
fn t23_an_open_load_has_those_that_do_not_pause_and_what_they_cannot_take_waits_or_is_missed() {
    let load = r#"{"kind": "open", "rate": 200, "clients": 10, "for": 1500000000}"#;
    let (made, pauses) = attempts("open-pausing", load, 1_000_000_000);
    assert!((30..=50).contains(&made), "{made}");
    assert!(pauses.len() as u64 >= made - 10);
    let (made, _) = attempts("open-not-pausing", load, 0);
    assert_eq!(made, 300);
    let many = r#"{"kind": "open", "rate": 200, "clients": 400, "for": 1500000000}"#;
    let (made, _) = attempts("open-many", many, 1_000_000_000);
    assert_eq!(made, 300, "as many as are due, as long as there are clients");
}

#[test]
fn t23_a_load_of_a_number_of_iterations_does_not_pause() {
    let (made, pauses) = attempts("times-pausing", r#"{"kind": "times", "times": 50}"#, 1_000_000_000);
    assert_eq!((made, pauses.len()), (50, 0));
}

/// Waits by itself for 30 ms before it passes, or falls silent in its wait, or in an answer.
#[derive(Clone, Copy)]
enum Holding {
    Told,
    Cut,
    Incomplete,
}

impl Factory for Holding {
    type Client = Self;
    const BLOCKING: bool = false;
    fn make(&self, _client: u32) -> Self {
        *self
    }
}

impl Client for Holding {
    async fn open(&mut self) -> Result<(), Failure> {
        Ok(())
    }
    async fn act(&mut self, _call: &Call<'_>, act: &mut Act) -> Result<(), Failure> {
        (act.calls, act.sent) = (1, true);
        let begun = now();
        match self {
            Self::Told => tokio::time::sleep(Duration::from_millis(30)).await,
            Self::Cut => {
                act.holds = Some(begun);
                std::future::pending::<()>().await;
            }
            Self::Incomplete => {
                act.incomplete = Some(Incomplete { got: 0, stated: Some(50_000), kind: Kind::Failed });
                act.came(27_000);
                std::future::pending::<()>().await;
            }
        }
        act.own_waits.push(OwnWait { what: EXPECT_WAIT, begun, ended: now() });
        Ok(())
    }
    async fn close(&mut self) {}
}

#[test]
fn t7_a_wait_of_our_own_is_an_operation_and_no_service_of_the_system() {
    let bench = Bench::new("holding");
    for steps in [&["{}"][..], &["{}", r#"{"operation": "other"}"#]] {
        let press = bench.press(r#"{"kind": "times", "times": 3}"#);
        press.native(Holding::Told, program(steps)).unwrap();
        finish(&press);
    }
    let lines = bench.lines();
    let waits: Vec<_> = lines.iter().filter(|line| line.operation == EXPECT_WAIT).collect();
    assert_eq!(waits.len(), 3 + 6);
    assert!(waits.iter().all(|line| line.parent != 0 && line.end - line.start >= 30_000_000));
    for line in lines.iter().filter(|line| line.operation == "act" || line.operation == "other") {
        let (service, response) = (line.end - line.start, line.end - line.intended);
        assert!(service < 20_000_000 && response >= 30_000_000, "{line:?}");
    }
}

#[test]
fn t7_a_wait_that_outlasts_the_timeout_is_not_blamed_on_the_server() {
    let bench = Bench::new("held");
    let press = bench.press(r#"{"kind": "times", "times": 1, "timeout": 40000000}"#);
    press.native(Holding::Cut, program(&["{}"])).unwrap();
    assert_eq!(count(&finish(&press), Outcome::Ambiguous, true), 1);
    let lines = bench.lines();
    let act = lines.iter().find(|line| line.operation == "act").unwrap();
    assert_eq!(act.error, "the body was held back for 40 ms: no word on Expect came");
    assert!(lines.iter().any(|line| line.operation == EXPECT_WAIT));
}

#[test]
fn t22_an_answer_that_breaks_off_is_not_told_as_none() {
    let bench = Bench::new("incomplete");
    let press = bench.press(r#"{"kind": "times", "times": 1, "timeout": 40000000}"#);
    press.native(Holding::Incomplete, program(&["{}"])).unwrap();
    let frames = finish(&press);
    assert_eq!(count(&frames, Outcome::Failed, true), 1);
    assert_eq!(bench.lines()[0].error, "the answer was incomplete after 40 ms: 50 % of 50000 bytes had come");
    let timed_out: u64 = frames.iter().flat_map(|frame| &frame.rows).map(|row| row.timed_out).sum();
    assert_eq!(timed_out, 1, "it is slower than its timeout");
}

/// Writes and deletes at once, but for one delete that stalls; notes who acts on a name that somebody else has in use.
#[derive(Clone)]
struct Folder {
    used: Arc<Mutex<HashSet<u64>>>,
    clashes: Arc<AtomicU32>,
    deletes: Arc<AtomicU32>,
}

impl Factory for Folder {
    type Client = Self;
    const BLOCKING: bool = false;
    fn make(&self, _client: u32) -> Self {
        self.clone()
    }
}

impl Client for Folder {
    async fn open(&mut self) -> Result<(), Failure> {
        Ok(())
    }
    async fn act(&mut self, call: &Call<'_>, _act: &mut Act) -> Result<(), Failure> {
        if call.step.operation == "create" {
            self.clashes.fetch_add(u32::from(!self.used.lock().unwrap().insert(call.number)), Ordering::Relaxed);
            tokio::task::yield_now().await;
            return Ok(());
        }
        if self.deletes.fetch_add(1, Ordering::Relaxed) == 20 {
            tokio::time::sleep(Duration::from_millis(200)).await; // the others go round all names meanwhile
        }
        self.used.lock().unwrap().remove(&call.number);
        Ok(())
    }
    async fn close(&mut self) {}
}

#[test]
fn t15_a_name_stays_with_the_client_that_uses_it_however_long_that_takes() {
    let steps = |order: &str| {
        ["create", "delete"].map(|name| {
            let keys = format!(r#"{{"prefix": "f", "count": 50, "width": 2, "names": [], "order": "{order}"}}"#);
            format!(r#"{{"operation": "{name}", "keys": {keys}}}"#)
        })
    };
    for load in [
        r#"{"kind": "closed", "clients": 16, "times": 20000}"#,
        r#"{"kind": "closed", "clients": 16, "for": 400000000}"#,
        r#"{"kind": "open", "clients": 16, "rate": 5000, "for": 400000000}"#,
    ] {
        let clashes = |order: &str| {
            let bench = Bench::new("names");
            let folder = Folder { used: Arc::default(), clashes: Arc::default(), deletes: Arc::default() };
            let press = bench.press(load);
            let [create, delete] = steps(order);
            press.native(folder.clone(), program(&[&create, &delete])).unwrap();
            finish(&press);
            assert!(folder.deletes.load(Ordering::Relaxed) > 200);
            folder.clashes.load(Ordering::Relaxed)
        };
        assert_eq!(clashes("shared"), 0, "{load}");
        assert!(clashes("sequential") > 0, "the test must be able to fail: {load}");
    }
}
