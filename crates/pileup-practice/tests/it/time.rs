//! Slots, queue, service times, bandwidth: known truth in numbers.

use std::time::Duration;

use pileup_pacer::clock::now;
use serde_json::json;

use crate::kit::Storage;

const MS: i64 = 1_000_000;

#[test]
fn first_come_first_served() {
    let storage = Storage::new(json!({"threads": 1, "service": {"fixed": 5 * MS}}));
    let mut connections: Vec<_> = (1..=10).map(|_| storage.connect()).collect();
    for (id, connection) in (1..).zip(&mut connections) {
        connection.send(id, "GET /", &[], b"");
        std::thread::sleep(Duration::from_millis(1));
    }
    for connection in &mut connections {
        assert_eq!(connection.answer(true).unwrap().status, 200);
    }
    let lines = storage.lines();
    assert_eq!(lines.len(), 10);
    for pair in lines.windows(2) {
        assert!(pair[0].arrived < pair[1].arrived, "sent one after another");
        assert!(pair[1].began >= pair[0].began + 5 * MS, "one slot: the next begins when the one before is done");
    }
}

#[test]
fn a_full_queue_says_503_at_once() {
    let storage = Storage::new(json!({"threads": 1, "queue": 2, "service": {"fixed": 60 * MS}}));
    let mut connections: Vec<_> = (1..=6).map(|_| storage.connect()).collect();
    for (id, connection) in (1..).zip(&mut connections) {
        connection.send(id, "GET /", &[], b"");
        std::thread::sleep(Duration::from_millis(2));
    }
    let statuses: Vec<_> = connections.iter_mut().map(|connection| connection.answer(true).unwrap().status).collect();
    assert_eq!(statuses, [200, 200, 200, 503, 503, 503]);
    let lines = storage.lines();
    for line in &lines[3..] {
        assert_eq!((line.status, line.began, line.service), (503, 0, 0));
        assert!(line.ended - line.arrived < 60 * MS);
    }
}

#[test]
fn service_times_are_drawn_and_kept() {
    let services = |seed: u64| {
        let settings = json!({"threads": 8, "seed": seed, "service": {"lognormal": [2 * MS, 0.5]}});
        let storage = Storage::new(settings);
        std::thread::scope(|scope| {
            for client in 0..8u64 {
                let mut connection = storage.connect();
                scope.spawn(move || {
                    for number in 0..25 {
                        connection.send(1 + client * 25 + number, "GET /", &[], b"");
                        assert_eq!(connection.answer(true).unwrap().status, 200);
                    }
                });
            }
        });
        let lines = storage.lines();
        assert_eq!(lines.iter().map(|line| line.id).collect::<Vec<_>>(), (1..=200).collect::<Vec<_>>());
        let mut late: Vec<_> = lines.iter().map(|line| line.first_byte - line.began - line.service).collect();
        late.sort_unstable();
        println!("held longer than drawn: p50 {} ns, p90 {} ns, max {} ns", late[100], late[180], late[199]);
        assert!(late[0] >= 0, "never shorter than drawn");
        assert!(late[100] < 20 * MS, "nor much longer");
        let mut drawn: Vec<_> = lines.iter().map(|line| line.service).collect();
        drawn.sort_unstable();
        drawn
    };
    let first = services(7);
    assert!((MS..4 * MS).contains(&first[100]), "the median is that of the law");
    assert_eq!(first, services(7), "the same seed draws the same");
    assert_ne!(first, services(8));
}

#[test]
fn the_bandwidth_is_that_of_the_whole_server() {
    const SIZE: usize = 200_000;
    let storage = Storage::new(json!({"bandwidth": 2e6}));
    let before = now();
    let stored = storage.connect().ask("PUT /a", &[], &vec![7; SIZE]);
    assert_eq!(stored.status, 201);
    let upload = now() - before;
    assert!(upload >= 98 * MS, "100 ms, 2 of them on credit: {upload}");
    let (mut one, mut other) = (storage.connect(), storage.connect());
    let before = now();
    one.send(1, "GET /a", &[], b"");
    other.send(2, "GET /a", &[], b"");
    assert_eq!(one.answer(true).unwrap().body.len(), SIZE);
    assert_eq!(other.answer(true).unwrap().body.len(), SIZE);
    let both = now() - before;
    assert!((198 * MS..400 * MS).contains(&both), "200 ms for both: {both}");
    let lines = storage.lines();
    let apart = (lines[1].ended - lines[2].ended).abs();
    assert!(apart < 50 * MS, "they take turns: {apart}");
    assert_eq!((lines[1].bytes_out, lines[0].bytes_in), (SIZE as u64, SIZE as u64));
}

#[test]
fn the_bandwidth_is_kept_at_high_rates_too() {
    const SIZE: usize = 20_000_000;
    let storage = Storage::new(json!({"bandwidth": 200e6}));
    let mut connection = storage.connect();
    connection.ask("PUT /a", &[], &vec![7; SIZE]);
    let before = now();
    assert_eq!(connection.ask("GET /a", &[], b"").body.len(), SIZE);
    let time = now() - before;
    println!("100 ms due, {time} ns taken");
    assert!((98 * MS..400 * MS).contains(&time), "{time}");
}

#[test]
fn while_it_is_frozen_nothing_is_served() {
    let before = now();
    let storage = Storage::new(json!({"faults": [{"kind": "stall", "at": 0, "for": 150 * MS}]}));
    let mut connection = storage.connect();
    connection.send(1, "GET /", &[], b"");
    assert_eq!(connection.answer(true).unwrap().status, 200);
    assert!(now() - before >= 150 * MS);
    connection.send(2, "GET /", &[], b"");
    assert_eq!(connection.answer(true).unwrap().status, 200);
    let lines = storage.lines();
    assert_eq!((lines[0].fault.as_str(), lines[1].fault.as_str()), ("stall", ""));
    assert!(lines[0].began - before >= 150 * MS && lines[1].ended - lines[1].arrived < 100 * MS);
}

#[test]
fn what_is_under_way_is_answered_when_it_stops() {
    let storage = Storage::new(json!({"service": {"fixed": 150 * MS}}));
    let (mut busy, mut idle) = (storage.connect(), storage.connect());
    busy.send(1, "GET /", &[], b"");
    std::thread::sleep(Duration::from_millis(30));
    let port = storage.server.port();
    let before = now();
    let lines = storage.lines();
    assert!(now() - before < 2000 * MS, "an idle connection does not hold it up");
    assert_eq!(busy.answer(true).unwrap().status, 200);
    assert!(idle.answer(true).is_none());
    assert_eq!((lines.len(), lines[0].status), (1, 200));
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err());
}
