//! The client and the practice storage: what one says that it measured is what the other says that it did.

use std::collections::HashMap;
use std::path::PathBuf;

use pileup_engine::client::{Client, Failure, Kind};
use pileup_practice::Server;
use serde_json::{Value, json};

use crate::kit::{act, client, numbered, run, step};

/// A file that is gone with its owner.
struct Log(PathBuf);

impl Drop for Log {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A practice storage with a log.
pub struct Storage {
    pub server: Server,
    log: Log,
}

impl Storage {
    pub fn new(name: &str, mut settings: Value) -> Self {
        let log = std::env::temp_dir().join(format!("pileup-http-{name}-{}.csv", std::process::id()));
        settings["log"] = json!(log);
        Self { server: Server::start(&settings.to_string()).unwrap(), log: Log(log) }
    }

    pub fn url(&self, scheme: &str) -> String {
        format!("{scheme}://127.0.0.1:{}/", self.server.port())
    }

    /// Stop it and give the lines of its log.
    pub fn lines(self) -> Vec<HashMap<String, String>> {
        self.server.stop().unwrap();
        let text = std::fs::read_to_string(&self.log.0).unwrap();
        let mut lines = text.lines();
        let names: Vec<_> = lines.next().unwrap().split(',').map(str::to_owned).collect();
        lines.map(|line| names.iter().cloned().zip(line.split(',').map(str::to_owned)).collect()).collect()
    }
}

fn content(size: u64) -> Value {
    json!({"seed": 3, "size": size})
}

#[test]
fn reads_by_parts_of_the_buffer() {
    const SIZE: u64 = 300_000;
    let storage = Storage::new("parts", json!({}));
    run(async {
        let mut client = client(json!({"url": storage.url("http")}));
        client.open().await.unwrap();
        let write = step(json!({"verb": "write", "content": content(SIZE)}));
        assert_eq!(numbered(&mut client, &write, "a", 5).await.0, Ok(()));
        // What is not known ends where the answers say that it does.
        for (words, bytes, calls) in [
            (json!({"content": content(SIZE), "buffer": 100_000}), SIZE, 3),
            (json!({"content": content(SIZE), "buffer": 70_000}), SIZE, 5),
            (json!({"content": content(SIZE), "offset": 5000, "length": 200_000, "buffer": 100_000}), 200_000, 2),
            (json!({"buffer": 70_000}), SIZE, 5),
            (json!({"buffer": 100_000}), SIZE, 3),
            (json!({"content": content(SIZE), "offset": SIZE - 10, "length": 100}), 10, 1),
        ] {
            let mut read = json!({"verb": "read"});
            read.as_object_mut().unwrap().extend(words.as_object().unwrap().clone());
            let (result, done) = numbered(&mut client, &step(read), "a", 5).await;
            assert_eq!((result, done.bytes, done.calls), (Ok(()), bytes, calls));
        }
        client.close().await;
    });
}

#[test]
fn scattered_reads_are_parts_at_drawn_places() {
    const SIZE: u64 = 300_000;
    let storage = Storage::new("scattered", json!({}));
    run(async {
        let mut client = client(json!({"url": storage.url("http")}));
        let write = step(json!({"verb": "write", "content": content(SIZE)}));
        assert_eq!(numbered(&mut client, &write, "a", 5).await.0, Ok(()));
        let words = json!({"verb": "read", "content": content(SIZE), "length": 1000, "span": SIZE});
        for buffer in [json!(null), json!(400)] {
            let mut scattered = step(words.clone());
            scattered.buffer = buffer.as_u64();
            for _ in 0..20 {
                let (result, done) = numbered(&mut client, &scattered, "a", 5).await;
                assert_eq!((result, done.bytes, done.calls), (Ok(()), 1000, if buffer.is_null() { 1 } else { 3 }));
            }
        }
    });
}

#[test]
fn every_verb() {
    const SIZE: u64 = 300_000;
    let storage = Storage::new("verbs", json!({}));
    run(async {
        let mut client = client(json!({"url": storage.url("http")}));
        client.open().await.unwrap();
        let write = step(json!({"verb": "write", "content": content(SIZE), "checksum": "adler32"}));
        let mkdir = step(json!({"verb": "mkdir"}));
        assert_eq!(act(&mut client, &write, "f/a").await.0, Err(Failure::failed("HTTP 409 Conflict")));
        assert_eq!(act(&mut client, &mkdir, "f").await.0, Ok(()));
        assert_eq!(act(&mut client, &mkdir, "f").await.0, Err(Failure::failed("HTTP 405 Method Not Allowed")));
        assert_eq!(act(&mut client, &step(json!({"verb": "mkdir", "missing_ok": true})), "f").await.0, Ok(()));
        for (number, key) in [(5, "f/a"), (6, "f/b c&<ü"), (6, "f/b c&<ü")] {
            let (result, done) = numbered(&mut client, &write, key, number).await;
            assert_eq!((result, done.bytes, done.calls), (Ok(()), SIZE, 1));
        }
        let empty = step(json!({"verb": "write", "content": content(0)}));
        assert_eq!(act(&mut client, &empty, "f/empty").await.0, Ok(()));
        for entries in [3, 4] {
            let list = step(json!({"verb": "list", "expect": {"entries": entries}}));
            assert_eq!(act(&mut client, &list, "f").await.0.is_ok(), entries == 3);
        }
        let read = step(json!({"verb": "read", "content": content(SIZE), "checksum": "adler32"}));
        let (result, done) = numbered(&mut client, &read, "f/b c&<ü", 6).await;
        assert_eq!((result, done.bytes), (Ok(()), SIZE));
        assert!(done.first_byte > 0 && done.sent);
        let differs = Err(Failure::failed("wrong content at offset 0"));
        assert_eq!(numbered(&mut client, &read, "f/a", 6).await.0, differs, "that is object 5");
        assert_eq!(act(&mut client, &step(json!({"verb": "read", "content": content(0)})), "f/empty").await.0, Ok(()));
        for (offset, length, bytes) in
            [(5000, json!(70_000), 70_000), (299_990, json!(null), 10), (299_990, json!(99), 10)]
        {
            let part = step(json!({"verb": "read", "content": content(SIZE), "offset": offset, "length": length}));
            let (result, done) = numbered(&mut client, &part, "f/a", 5).await;
            assert_eq!((result, done.bytes), (Ok(()), bytes));
        }
        let beyond = step(json!({"verb": "read", "content": content(SIZE), "offset": 400_000}));
        assert_eq!(numbered(&mut client, &beyond, "f/a", 5).await.0, Ok(()));
        assert_eq!(act(&mut client, &step(json!({"verb": "stat", "content": content(SIZE)})), "f/a").await.0, Ok(()));
        let delete = step(json!({"verb": "delete"}));
        assert_eq!(act(&mut client, &delete, "f/a").await.0, Ok(()));
        assert_eq!(act(&mut client, &delete, "f/a").await.0, Err(Failure::failed("HTTP 404 Not Found")));
        assert_eq!(act(&mut client, &delete, "f/").await.0, Ok(()));
        assert_eq!(
            act(&mut client, &step(json!({"verb": "stat"})), "f/empty").await.0,
            Err(Failure::failed("HTTP 404 Not Found"))
        );
        let hello = step(json!({"method": "GET", "expect": {"contains": "practice storage"}}));
        assert_eq!(act(&mut client, &hello, "").await.0, Ok(()));
        client.close().await;
    });
    let lines = storage.lines();
    assert_eq!(lines.len(), 23);
    assert!(lines.iter().all(|line| line["id"] == "77" && line["fault"].is_empty()));
    let written: u64 =
        lines.iter().filter(|line| line["method"] == "PUT").map(|line| line["bytes_in"].parse::<u64>().unwrap()).sum();
    assert_eq!(written, 4 * SIZE, "the one into a missing folder counts too: it was drained");
}

#[test]
fn what_is_measured_is_what_was_done() {
    let storage = Storage::new("truth", json!({"service": {"uniform": [1_000_000, 5_000_000]}, "threads": 4}));
    let mut seen = HashMap::new();
    run(async {
        let mut client = client(json!({"url": storage.url("http")}));
        client.open().await.unwrap();
        let get = step(json!({}));
        for id in 1..=100 {
            let mut act = pileup_engine::client::Act::default();
            let call = pileup_engine::client::Call::new(id, &get, 0, "");
            let start = pileup_pacer::clock::now();
            client.act(&call, &mut act).await.unwrap();
            seen.insert(id.to_string(), (start, act.first_byte, pileup_pacer::clock::now()));
        }
    });
    let lines = storage.lines();
    assert_eq!(lines.len(), 100);
    let mut apart = Vec::new();
    for line in &lines {
        let time = |name: &str| line[name].parse::<i64>().unwrap();
        let (start, first_byte, end) = seen[&line["id"]];
        assert!(start < time("arrived") && time("arrived") <= time("began"));
        assert!(time("first_byte") - time("began") >= time("service") && time("first_byte") <= first_byte);
        assert!(time("first_byte") <= time("ended"));
        apart.push((end - start) - (time("ended") - time("arrived")));
    }
    apart.sort_unstable();
    println!("client minus server: p50 {} ns, p90 {} ns, max {} ns", apart[50], apart[90], apart[99]);
    assert!(apart[50] < 2_000_000, "the middle of what client and server see differs by {} ns", apart[50]);
}

#[test]
fn faults_have_their_outcomes() {
    let fault = |fault: Value| json!({"faults": [fault]});
    let cases = [
        (fault(json!({"kind": "error"})), Err(Failure::failed("HTTP 500 Internal Server Error")), "500"),
        (fault(json!({"kind": "error", "status": 507})), Err(Failure::refused("HTTP 507 Insufficient Storage")), "507"),
        (fault(json!({"kind": "refuse"})), Err(Failure::refused("HTTP 503 Service Unavailable")), "503"),
        (fault(json!({"kind": "truncate"})), Err(Failure::failed("truncated: 50000 of 100000 bytes")), "200"),
        (fault(json!({"kind": "wrong_byte"})), Err(Failure::failed("wrong content at offset ")), "200"),
        (fault(json!({"kind": "stall", "for": 30_000_000})), Ok(()), "200"),
    ];
    for (place, (mut settings, expected, status)) in cases.into_iter().enumerate() {
        settings["faults"][0]["methods"] = json!(["GET"]);
        let name = settings["faults"][0]["kind"].as_str().unwrap().to_owned();
        let storage = Storage::new(&format!("fault-{place}"), settings);
        run(async {
            let mut client = client(json!({"url": storage.url("http")}));
            let write = step(json!({"verb": "write", "content": content(100_000)}));
            assert_eq!(act(&mut client, &write, "a").await.0, Ok(()));
            let read = step(json!({"verb": "read", "content": content(100_000)}));
            let result = act(&mut client, &read, "a").await.0;
            let begin = "wrong content at offset ";
            let without_place =
                |failure: Failure| if failure.message.starts_with(begin) { Failure::failed(begin) } else { failure };
            assert_eq!(result.map_err(without_place), expected);
        });
        let lines = storage.lines();
        assert_eq!(lines.len(), 2);
        assert_eq!((lines[1]["fault"].as_str(), lines[1]["status"].as_str()), (name.as_str(), status));
        let sent = if name == "truncate" { "50000" } else { "100000" };
        assert!(status != "200" || lines[1]["bytes_out"] == sent);
    }
}

#[test]
fn a_stall_without_an_end_is_ambiguous_for_the_client_and_unanswered_in_the_log() {
    let storage = Storage::new("stall", json!({"faults": [{"kind": "stall", "for": 3_600_000_000_000i64}]}));
    run(async {
        let mut client = client(json!({"url": storage.url("http")}));
        let cut =
            tokio::time::timeout(std::time::Duration::from_millis(50), act(&mut client, &step(json!({})), "")).await;
        assert!(cut.is_err());
        client.close().await;
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    });
    let lines = storage.lines();
    assert_eq!(lines.len(), 1);
    assert_eq!(
        (lines[0]["status"].as_str(), lines[0]["fault"].as_str(), lines[0]["first_byte"].as_str()),
        ("0", "stall", "0")
    );
}

#[test]
fn tokens_and_full_disks_are_refused() {
    let storage = Storage::new("refused", json!({"token": "let-me-in", "capacity": 1000}));
    run(async {
        let get = step(json!({}));
        let mut nobody = client(json!({"url": storage.url("http")}));
        assert_eq!(act(&mut nobody, &get, "").await.0, Err(Failure::refused("HTTP 401 Unauthorized")));
        for (token, cause) in
            [("e30.eyJleHAiOjF9.c2ln", "TokenExpired"), ("e30.eyJleHAiOjk5OTk5OTk5OTk5fQ.c2ln", "None")]
        {
            let mut late = client(json!({"url": storage.url("http"), "token": token}));
            let failure = act(&mut late, &get, "").await.0.unwrap_err();
            assert_eq!((failure.kind, format!("{:?}", failure.cause).as_str()), (Kind::Refused, cause));
        }
        let mut known = client(json!({"url": storage.url("http"), "token": "let-me-in"}));
        assert_eq!(act(&mut known, &get, "").await.0, Ok(()));
        for size in [1001, 5_000_000] {
            let write = step(json!({"verb": "write", "content": content(size)}));
            let (result, _) = act(&mut known, &write, "a").await;
            assert_eq!(result.unwrap_err().kind, Kind::Refused);
        }
        assert_eq!(act(&mut known, &step(json!({"verb": "write", "content": content(1000)})), "a").await.0, Ok(()));
    });
    assert_eq!(storage.lines().len(), 7);
}
