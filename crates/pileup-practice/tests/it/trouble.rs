//! Faults made on purpose, clients that leave, settings that cannot be.

use std::io::Read;

use pileup_practice::{Error, Server};
use serde_json::json;

use crate::kit::Storage;

#[test]
fn each_request_has_exactly_one_line_whatever_becomes_of_it() {
    let settings = json!({"threads": 2, "service": {"fixed": 1_000_000}, "faults": [
        {"kind": "refuse", "share": 0.1}, {"kind": "error", "share": 0.1}, {"kind": "truncate", "share": 0.1},
        {"kind": "stall", "share": 0.05, "for": 2_000_000},
    ]});
    let storage = Storage::new(settings);
    std::thread::scope(|scope| {
        for client in 0..6u64 {
            let storage = &storage;
            scope.spawn(move || {
                let mut connection = storage.connect();
                for number in 0..50 {
                    connection.send(1 + client * 50 + number, "GET /", &[], b"");
                    let leaves = (client + number) % 7 == 0;
                    if leaves || connection.answer(true).is_none() {
                        connection = storage.connect();
                    }
                }
            });
        }
    });
    // Connections are accepted in order: after this answer all that were made before have been seen.
    let mut last = storage.connect();
    last.send(0, "GET /", &[], b"");
    last.answer(true);
    let mut lines = storage.lines();
    lines.retain(|line| line.id > 0);
    let mut ids: Vec<_> = lines.iter().map(|line| line.id).collect();
    let count = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), count, "no request twice");
    assert_eq!(count, 300, "every request, also of those who left");
    for line in &lines {
        assert!(line.ended >= line.arrived && (line.began == 0 || line.began >= line.arrived));
        assert_eq!(line.status == 0, line.first_byte == 0);
        let expected = match line.fault.as_str() {
            "refuse" => [503, 0],
            "error" => [500, 0],
            "" | "truncate" | "stall" => [200, 0],
            other => panic!("unknown fault {other}"),
        };
        assert!(expected.contains(&line.status), "{line:?}");
    }
    for fault in ["refuse", "error", "truncate", "stall"] {
        assert!(lines.iter().any(|line| line.fault == fault), "{fault}");
    }
}

#[test]
fn a_truncated_body_has_its_first_half() {
    let storage = Storage::new(json!({"faults": [{"kind": "truncate", "methods": ["GET"]}]}));
    let mut connection = storage.connect();
    let data: Vec<u8> = (0..100_001u32).map(|number| number as u8).collect();
    assert_eq!(connection.ask("PUT /a", &[], &data).status, 201);
    connection.send(1, "GET /a", &[], b"");
    assert!(connection.head().unwrap().contains("content-length: 100001"));
    let mut rest = Vec::new();
    connection.0.read_to_end(&mut rest).unwrap();
    assert_eq!(rest, data[..50_000], "an end, not a reset");
    let line = storage.lines().pop().unwrap();
    assert_eq!((line.status, line.bytes_out, line.fault.as_str()), (200, 50_000, "truncate"));
}

#[test]
fn exactly_one_byte_is_wrong() {
    let storage = Storage::new(json!({"faults": [{"kind": "wrong_byte", "methods": ["GET"]}], "bandwidth": 1e8}));
    let mut connection = storage.connect();
    connection.ask("PUT /a", &[], &[7; 300_000]);
    let mut places = Vec::new();
    for _ in 0..5 {
        let body = connection.ask("GET /a", &[], b"").body;
        let wrong: Vec<_> = (0..body.len()).filter(|at| body[*at] != 7).collect();
        assert_eq!((body.len(), wrong.len()), (300_000, 1));
        places.extend(wrong);
    }
    places.dedup();
    assert!(places.len() > 1, "not always the same");
    assert_eq!(connection.ask("GET /", &[], b"").status, 200);
}

#[test]
fn a_ghost_does_what_was_asked_and_says_nothing() {
    let storage = Storage::new(json!({"faults": [
        {"kind": "ghost", "methods": ["PUT"], "paths": ["/late"], "for": 100_000_000},
        {"kind": "ghost", "methods": ["PUT"]},
    ]}));
    let mut connection = storage.connect();
    let before = pileup_pacer::clock::now();
    connection.send(1, "PUT /late", &[], b"abc");
    assert_eq!(connection.answer(true).unwrap().status, 201);
    assert!(pileup_pacer::clock::now() - before >= 100_000_000);
    connection.send(2, "PUT /never", &[], b"abc");
    let mut other = storage.connect();
    for _ in 0..500 {
        if other.ask("GET /never", &[], b"").status == 200 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!(other.ask("GET /never", &[], b"").body, b"abc", "it was done");
    let lines = storage.lines();
    assert!(connection.answer(true).is_none(), "and never answered");
    let told: Vec<_> = lines.iter().filter(|line| line.id > 0).map(|line| (line.status, line.fault.as_str())).collect();
    assert_eq!(told, [(201, "ghost"), (0, "ghost")]);
}

#[test]
fn a_port_that_is_taken_is_named() {
    let first = Server::start("{}").unwrap();
    let text = match Server::start(&json!({"port": first.port()}).to_string()) {
        Err(Error::System(text)) => text,
        _ => panic!("both have the port"),
    };
    let port = first.port();
    assert_eq!(text, format!("port {port} of 127.0.0.1 is taken; expected a free one (choose another, or 0 for any)"));
    first.stop().unwrap();
    first.stop().unwrap();
    Server::start(&json!({"port": port}).to_string()).unwrap();
}

#[test]
fn files_that_cannot_be_are_named() {
    let text = Server::start(r#"{"log": "/no/such/folder/log.csv"}"#).err().unwrap().to_string();
    assert!(
        text.starts_with("the log /no/such/folder/log.csv cannot be made: ") && text.contains("; expected "),
        "{text}"
    );
    let text = Server::start(r#"{"tls": {"certificate": "/no/c", "key": "/no/k"}}"#).err().unwrap();
    assert!(matches!(&text, Error::Settings(text) if text.contains("/no/k") && text.contains("; expected ")), "{text}");
    let text = Server::start(r#"{"host": "no-such-host.invalid"}"#).err().unwrap().to_string();
    assert!(text.starts_with("cannot listen on no-such-host.invalid: "), "{text}");
}
