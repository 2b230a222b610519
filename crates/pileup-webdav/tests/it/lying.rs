//! Servers that do what they should not: each has its outcome and its words.

use std::time::Duration;

use pileup_engine::client::{Client, Failure, Kind};
use serde_json::json;

use crate::kit::{Peer, Script, act, client, run, step};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Do a GET (or what the changes make of it) against a server that answers with these bytes.
fn outcome(answer: &'static [u8], changes: serde_json::Value) -> Result<(), Failure> {
    let script = Script::answering(answer);
    run(async {
        let mut client = client(json!({"url": script.url}));
        act(&mut client, &step(changes), "x").await.0
    })
}

fn failed(text: &str) -> Result<(), Failure> {
    Err(Failure::failed(text))
}

#[test]
fn refused_connection() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    run(async {
        let mut client = client(json!({"url": format!("http://127.0.0.1:{free}/")}));
        let refused = || Err(Failure::unreachable("connection refused"));
        assert_eq!(client.open().await, refused());
        let (result, done) = act(&mut client, &step(json!({})), "x").await;
        assert_eq!(result, refused());
        assert!(!done.sent && done.calls == 0);
    });
}

#[test]
fn unknown_name() {
    run(async {
        let mut client = client(json!({"url": "http://no-such-host.invalid/"}));
        assert_eq!(client.open().await, Err(Failure::unreachable("name not found")));
    });
}

#[test]
fn statuses() {
    let of = |answer| outcome(answer, json!({}));
    assert_eq!(of(OK), Ok(()));
    assert_eq!(of(b"HTTP/1.1 204 No Content\r\n\r\n"), Ok(()));
    assert_eq!(of(b"HTTP/1.1 404 Gone fishing\r\nContent-Length: 0\r\n\r\n"), failed("HTTP 404 Not Found"));
    assert_eq!(of(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n"), failed("HTTP 302 Found"));
    for (answer, text) in [
        (&b"HTTP/1.1 503 x\r\nContent-Length: 4\r\n\r\nbusy"[..], "HTTP 503 Service Unavailable"),
        (b"HTTP/1.1 403 x\r\nContent-Length: 0\r\n\r\n", "HTTP 403 Forbidden"),
        (b"HTTP/1.1 401 x\r\nContent-Length: 0\r\n\r\n", "HTTP 401 Unauthorized"),
        (b"HTTP/1.1 429 x\r\nContent-Length: 0\r\n\r\n", "HTTP 429 Too Many Requests"),
        (b"HTTP/1.1 507 x\r\nContent-Length: 0\r\n\r\n", "HTTP 507 Insufficient Storage"),
    ] {
        assert_eq!(of(answer), Err(Failure::refused(text)));
    }
    let teapot = json!({"expect": {"statuses": [418, 503]}});
    assert_eq!(outcome(b"HTTP/1.1 418 x\r\nContent-Length: 0\r\n\r\n", teapot.clone()), Ok(()));
    assert_eq!(outcome(b"HTTP/1.1 503 x\r\nContent-Length: 0\r\n\r\n", teapot.clone()), Ok(()));
    assert_eq!(outcome(OK, teapot), failed("HTTP 200 OK"));
}

#[test]
fn text_in_the_answer() {
    let expects = |text: &str| json!({"expect": {"contains": text}});
    assert_eq!(outcome(OK, expects("ok")), Ok(()));
    assert_eq!(outcome(OK, expects("no")), failed("answer does not contain \"no\""));
    assert_eq!(outcome(b"HTTP/1.1 204 x\r\n\r\n", expects("no")), failed("answer does not contain \"no\""));
}

#[test]
fn early_ends_are_ambiguous() {
    let get = json!({});
    let kind = |result: Result<(), Failure>| result.unwrap_err();
    assert_eq!(kind(outcome(b"", get.clone())), Failure::ambiguous("connection closed before the answer"));
    let part = outcome(b"HTTP/1.1 200 OK\r\nContent-", get);
    assert_eq!(kind(part), Failure::ambiguous("connection closed in the head of the answer"));
    let script = Script::new(|_, peer| {
        peer.head();
        peer.reset();
    });
    run(async {
        let mut client = client(json!({"url": script.url}));
        let (result, done) = act(&mut client, &step(json!({"method": "POST"})), "x").await;
        assert_eq!(result, Err(Failure::ambiguous("connection reset before the answer")));
        assert!(done.sent && done.first_byte == 0 && done.calls == 1);
    });
}

#[test]
fn short_bodies_are_truncated() {
    let short = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n0123456789";
    assert_eq!(outcome(short, json!({})), failed("truncated: 10 of 1000 bytes"));
    assert_eq!(outcome(short, json!({"verb": "read"})), failed("truncated: 10 of 1000 bytes"));
    assert_eq!(outcome(short, json!({"verb": "delete"})), failed("truncated: 10 of 1000 bytes"));
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n8\r\nab";
    assert_eq!(outcome(chunked, json!({})), failed("truncated: the answer ended after 6 bytes"));
    let garbage = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzzz\r\nabcd";
    assert_eq!(outcome(garbage, json!({})), failed("the body of the answer is not HTTP/1"));
}

#[test]
fn sizes_are_checked_before_and_while_reading() {
    let read = |size: u64| json!({"verb": "read", "content": {"seed": 1, "size": size}});
    assert_eq!(outcome(OK, read(3)), failed("size 2, expected 3"));
    let to_the_end = b"HTTP/1.1 200 OK\r\n\r\nabcd";
    assert_eq!(outcome(to_the_end, read(3)), failed("size: more than the 3 bytes expected"));
    assert_eq!(outcome(to_the_end, read(9)), failed("size 4, expected 9"));
    assert_eq!(outcome(to_the_end, read(4)), failed("wrong content at offset 0"));
    let stat = |size: u64| json!({"verb": "stat", "content": {"seed": 1, "size": size}});
    assert_eq!(outcome(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n", stat(7)), Ok(()));
    assert_eq!(outcome(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n", stat(8)), failed("size 7, expected 8"));
    assert_eq!(outcome(b"HTTP/1.1 200 OK\r\n\r\n", stat(8)), failed("the answer states no size"));
    assert_eq!(outcome(b"HTTP/1.1 200 OK\r\n\r\n", stat(0)), Ok(()), "A6: Apache leaves the size of nothing out");
    assert_eq!(outcome(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n", stat(0)), failed("size 1, expected 0"));
}

#[test]
fn heads_that_are_none() {
    let begins = |text: &str| failed(&format!("the answer is not HTTP/1: it begins with \"{text}\""));
    assert_eq!(outcome(b"SSH-2.0-OpenSSH_9.2\r\n\r\n", json!({})), begins("SSH-2.0-OpenSSH_"));
    assert_eq!(outcome(b"\x15\x03\x03\0\x02\x02\x50", json!({})), begins(r"\x15\x03\x03\x00\x02\x02P"), "a TLS alert");
    assert_eq!(outcome(b"HTTP/1.1\x00200 OK\r\n\r\n", json!({})), failed("the answer is not HTTP/1"));
    assert_eq!(outcome(b"HTTP/1.1 2x0 OK\r\n\r\n", json!({})), failed("the answer is not HTTP/1"));
    let huge = Script::new(|_, peer| {
        peer.head();
        peer.say(b"HTTP/1.1 200 OK\r\n");
        for number in 0..2000 {
            peer.say(format!("x-{number}: {}\r\n", "y".repeat(1000)).as_bytes());
        }
    });
    run(async {
        let mut client = client(json!({"url": huge.url}));
        let (result, _) = act(&mut client, &step(json!({})), "x").await;
        assert_eq!(result, failed("the head of the answer is larger than 64 KiB"));
    });
}

#[test]
fn ranges_are_checked() {
    let part = json!({"verb": "read", "offset": 2, "length": 2});
    let right = b"HTTP/1.1 206 x\r\nContent-Length: 2\r\nContent-Range: bytes 2-3/9\r\n\r\nab";
    assert_eq!(outcome(right, part.clone()), Ok(()));
    let other = b"HTTP/1.1 206 x\r\nContent-Length: 2\r\nContent-Range: bytes 0-1/9\r\n\r\nab";
    assert_eq!(outcome(other, part.clone()), failed("another range than the one asked for"));
    assert_eq!(
        outcome(b"HTTP/1.1 206 x\r\nContent-Length: 2\r\n\r\nab", part.clone()),
        failed("another range than the one asked for")
    );
    assert_eq!(outcome(OK, part), failed("HTTP 200 OK, though only a part was asked for"));
}

#[test]
fn listings() {
    let list = |entries: u64| json!({"verb": "list", "expect": {"entries": entries}});
    let good = b"HTTP/1.1 207 x\r\n\r\n<multistatus xmlns='DAV:'><response><href>/x/</href></response><response><href>/x/a</href></response></multistatus>";
    assert_eq!(outcome(good, list(1)), Ok(()));
    assert_eq!(outcome(good, list(2)), failed("1 entries, expected 2"));
    let cut = b"HTTP/1.1 207 x\r\n\r\n<multistatus>";
    assert_eq!(outcome(cut, list(0)), failed("the answer is not a WebDAV listing: it ends too early"));
    assert_eq!(outcome(OK, list(0)), failed("HTTP 200 OK"));
}

#[test]
fn digests_are_compared() {
    let read = json!({"verb": "read", "checksum": "adler32"});
    let right = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nDigest: md5=x, adler32=11e60398\r\n\r\nWikipedia";
    assert_eq!(outcome(right, read.clone()), Ok(()));
    let wrong = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nDigest: adler32=11e60399\r\n\r\nWikipedia";
    assert_eq!(outcome(wrong, read), failed("checksum: the adler32 of what was read is not the one stated"));
}

#[test]
fn partial_deletes_and_missing_objects() {
    assert_eq!(
        outcome(b"HTTP/1.1 207 x\r\nContent-Length: 0\r\n\r\n", json!({"verb": "delete"})),
        failed("HTTP 207 Multi-Status")
    );
    let gone = b"HTTP/1.1 404 x\r\nContent-Length: 0\r\n\r\n";
    assert_eq!(outcome(gone, json!({"verb": "delete"})), failed("HTTP 404 Not Found"));
    assert_eq!(outcome(gone, json!({"verb": "delete", "missing_ok": true})), Ok(()));
    let there = b"HTTP/1.1 405 x\r\nContent-Length: 0\r\n\r\n";
    assert_eq!(outcome(there, json!({"verb": "mkdir"})), failed("HTTP 405 Method Not Allowed"));
    assert_eq!(outcome(there, json!({"verb": "mkdir", "missing_ok": true})), Ok(()));
}

#[test]
fn an_early_no_to_an_upload_is_heard() {
    let script = Script::answering(b"HTTP/1.1 507 x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    run(async {
        let mut client = client(json!({"url": script.url}));
        let upload = step(json!({"verb": "write", "content": {"seed": 1, "size": 64 << 20}}));
        let (result, done) = act(&mut client, &upload, "x").await;
        assert_eq!(result, Err(Failure::refused("HTTP 507 Insufficient Storage")));
        assert!(done.bytes < 64 << 20 && done.first_byte > 0);
    });
}

#[test]
fn a_stall_leaves_what_was_noted() {
    let script = Script::new(|_, peer| {
        peer.head();
        std::thread::sleep(Duration::from_millis(300));
        peer.say(OK);
        peer.head();
        peer.say(OK);
    });
    run(async {
        let mut client = client(json!({"url": script.url}));
        let get = step(json!({}));
        let call = pileup_engine::client::Call::new(1, &get, 0, "x");
        let mut noted = pileup_engine::client::Act::default();
        let cut = tokio::time::timeout(Duration::from_millis(50), client.act(&call, &mut noted)).await;
        assert!(cut.is_err() && noted.sent && noted.calls == 1 && noted.first_byte == 0);
        drop(script);
    });
}

#[test]
fn after_a_cut_off_operation_the_next_has_a_connection_of_its_own() {
    let script = Script::new(|number, peer| {
        peer.head();
        if number == 0 {
            std::thread::sleep(Duration::from_millis(100));
        }
        peer.say(if number == 0 { b"HTTP/1.1 500 x\r\nContent-Length: 0\r\n\r\n" } else { OK });
    });
    run(async {
        let mut client = client(json!({"url": script.url}));
        let get = step(json!({}));
        let cut = tokio::time::timeout(Duration::from_millis(20), act(&mut client, &get, "x")).await;
        assert!(cut.is_err());
        assert_eq!(act(&mut client, &get, "x").await.0, Ok(()), "not the late answer to the request before");
        assert_eq!(script.connections(), 2);
    });
}

/// Answer `good` requests on a connection, then do `end`.
fn keeps(good: usize, end: impl Fn(&mut Peer) + Send + 'static) -> Script {
    Script::new(move |number, peer| {
        let first = number == 0;
        for _ in 0..if first { good } else { 1 } {
            peer.head();
            peer.say(OK);
        }
        if first {
            end(peer)
        }
    })
}

#[test]
fn a_connection_is_kept_and_a_closed_one_replaced_without_a_word() {
    let script = keeps(3, |_| {});
    run(async {
        let mut client = client(json!({"url": script.url}));
        client.open().await.unwrap();
        let post = step(json!({"method": "POST"}));
        for _ in 0..3 {
            assert_eq!(act(&mut client, &post, "x").await.0, Ok(()));
        }
        assert_eq!(script.connections(), 1);
        tokio::time::sleep(Duration::from_millis(30)).await;
        let (result, done) = act(&mut client, &post, "x").await;
        assert_eq!((result, done.calls), (Ok(()), 1), "its end had been seen before the request left");
        assert_eq!(script.connections(), 2);
    });
}

#[test]
fn a_new_connection_for_each_request_when_asked_for() {
    let script = Script::answering(OK);
    run(async {
        let mut client = client(json!({"url": script.url, "keep_alive": false}));
        client.open().await.unwrap();
        assert_eq!(script.connections(), 0);
        for _ in 0..3 {
            assert_eq!(act(&mut client, &step(json!({})), "x").await.0, Ok(()));
        }
        assert_eq!(script.connections(), 3);
        assert!(script.heads.lock().unwrap().iter().all(|head| head.contains("Connection: close")));
    });
}

#[test]
fn a_refused_request_keeps_its_connection() {
    let script = Script::new(|_, peer| {
        peer.head();
        peer.say(b"HTTP/1.1 503 x\r\nContent-Length: 40000\r\n\r\n");
        peer.say(&[b'x'; 40_000]);
        peer.head();
        peer.say(OK);
    });
    run(async {
        let mut client = client(json!({"url": script.url}));
        assert_eq!(act(&mut client, &step(json!({})), "x").await.0.unwrap_err().kind, Kind::Refused);
        assert_eq!(act(&mut client, &step(json!({})), "x").await.0, Ok(()));
        assert_eq!(script.connections(), 1);
    });
}

#[test]
fn the_request_is_what_was_asked_for() {
    let script = Script::answering(OK);
    run(async {
        let settings = json!({"url": format!("{}base?authz=t", script.url), "user": "me", "password": "pw", "headers": [["X-Site", "here"]]});
        let mut client = client(settings);
        let asks = step(json!({"method": "OPTIONS", "headers": [["Accept", "text/plain"], ["X-Site", "there"]]}));
        assert_eq!(act(&mut client, &asks, "a b?c=1").await.0, Ok(()));
        let head = script.heads.lock().unwrap()[0].clone();
        let mut lines: Vec<_> = head.trim_end().lines().collect();
        assert_eq!(lines.remove(0), "OPTIONS /base/a%20b?c=1&authz=t HTTP/1.1");
        lines.sort_unstable();
        let host = script.url.trim_start_matches("http://").trim_end_matches('/');
        assert_eq!(lines[0], "Accept: text/plain");
        assert_eq!(lines[1], "Authorization: Basic bWU6cHc=");
        assert_eq!(lines[2], format!("Host: {host}"));
        assert!(lines[3].starts_with("User-Agent: pileup/"));
        assert_eq!(lines[4..], ["X-Pileup-Id: 77", "X-Site: there"]);
        let smuggled = step(json!({"headers": [["Content-Length", "5"]]}));
        let (result, done) = act(&mut client, &smuggled, "").await;
        assert!(result.unwrap_err().message.starts_with("header content-length is given; expected"));
        assert_eq!((done.calls, done.sent), (0, false));
        let (result, done) = act(&mut client, &step(json!({"verb": "delete"})), "a/../../b").await;
        assert_eq!(result, failed("the path leaves the target's folder; expected one without .."));
        assert_eq!(done.calls, 0);
    });
}

#[test]
fn lengths_beyond_everything_take_no_memory_and_have_an_end() {
    let read = json!({"verb": "read"});
    for (answer, text) in [
        (
            &b"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\nab"[..],
            "truncated: 2 of 18446744073709551615 bytes",
        ),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nab",
            "truncated: the answer ended after 2 bytes",
        ),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000000\r\nab",
            "the body of the answer is not HTTP/1",
        ),
    ] {
        assert_eq!(outcome(answer, read.clone()), failed(text));
    }
    let known = json!({"verb": "read", "content": {"seed": 1, "size": 1000}});
    let huge = b"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\nab";
    assert_eq!(outcome(huge, known.clone()), failed("size 18446744073709551615, expected 1000"));
    let endless = Script::new(|_, peer| {
        peer.head();
        peer.say(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        while std::io::Write::write_all(&mut peer.stream, b"1\r\nx\r\n").is_ok() {}
    });
    run(async {
        let mut client = client(json!({"url": endless.url}));
        let (result, done) = act(&mut client, &step(known), "x").await;
        assert_eq!(result, failed("size: more than the 1000 bytes expected"));
        assert!(done.bytes <= 1001 + 16 * 1024);
    });
}

#[test]
fn a_wrong_byte_is_found_where_it_is() {
    use pileup_engine::content::{Maker, Object};
    let object = Object { seed: 1, number: 0, size: 300_000, entropy: 1.0 };
    let script = Script::new(move |_, peer| {
        let mut body = vec![0; 300_000];
        Maker::new(&object).fill(0, &mut body);
        body[222_222] ^= 1;
        peer.head();
        peer.say(b"HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n");
        peer.say(&body);
    });
    run(async {
        let read = step(json!({"verb": "read", "content": {"seed": 1, "size": 300_000}}));
        let (result, done) = act(&mut client(json!({"url": script.url})), &read, "x").await;
        assert_eq!((result, done.bytes), (failed("wrong content at offset 222222"), 300_000));
    });
}
