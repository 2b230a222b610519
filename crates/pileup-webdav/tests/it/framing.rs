//! Where an answer begins and ends, however it comes, and whether its connection can be used again.

use std::io::{Read, Write};
use std::time::Duration;

use pileup_engine::client::{Client, Failure};
use serde_json::json;

use crate::kit::{Peer, Script, act, client, run, step};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Two requests on a client, the first answered with these bytes in pieces of so many; what came of both, and how many connections that took.
fn twice(
    answer: &'static [u8],
    changes: serde_json::Value,
    pieces: usize,
) -> (Result<(), Failure>, Result<(), Failure>, usize) {
    let script = Script::new(move |number, peer| {
        peer.head();
        if number == 0 {
            for piece in answer.chunks(pieces) {
                peer.say(piece);
                if pieces < answer.len() {
                    std::thread::sleep(Duration::from_micros(300));
                }
            }
            // should the client come back on this connection, it is answered
            peer.stream.set_read_timeout(Some(Duration::from_millis(30))).unwrap();
            let mut byte = [0];
            if !peer.stream.read(&mut byte).is_ok_and(|read| read == 1) {
                return;
            }
            peer.head();
        }
        peer.say(OK);
    });
    let (first, second) = run(async {
        let mut client = client(json!({"url": script.url}));
        let first = act(&mut client, &step(changes), "x").await.0;
        (first, act(&mut client, &step(json!({})), "x").await.0)
    });
    (first, second, script.connections())
}

/// The connections that two requests take; both must pass.
fn connections(answer: &'static [u8]) -> usize {
    let (first, second, connections) = twice(answer, json!({}), 1 << 20);
    assert_eq!((first, second), (Ok(()), Ok(())), "{}", String::from_utf8_lossy(answer));
    connections
}

#[test]
fn answers_that_end_by_themselves_keep_their_connection() {
    for answer in [
        OK,
        b"HTTP/1.1 204 x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 2, 2\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\nok\r\n0\r\nX: y\r\n\r\n",
        b"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    ] {
        assert_eq!(connections(answer), 1, "{}", String::from_utf8_lossy(answer));
    }
}

#[test]
fn answers_that_end_with_their_connection_do_not() {
    for answer in [
        &b"HTTP/1.1 200 OK\r\n\r\nok"[..],
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nok",
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok",
    ] {
        assert_eq!(connections(answer), 2, "{}", String::from_utf8_lossy(answer));
    }
}

#[test]
fn what_comes_unasked_is_not_taken_for_the_next_answer() {
    let two = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 500 x\r\nContent-Length: 0\r\n\r\n";
    for answer in [&two[..], b"HTTP/1.1 204 x\r\nContent-Length: 2\r\n\r\nok"] {
        let surplus = Err(Failure::failed("the server sent more than its answer"));
        assert_eq!(twice(answer, json!({}), 1 << 20), (surplus, Ok(()), 2));
    }
}

#[test]
fn an_answer_that_comes_byte_by_byte_is_the_same() {
    let sized = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nhel\r\n2\r\nlo\r\n0\r\nA: b\r\n\r\n";
    for answer in [&sized[..], chunked] {
        for pieces in [1, 3, 17] {
            let (first, second, connections) = twice(answer, json!({"expect": {"contains": "hello"}}), pieces);
            assert_eq!((first, second, connections), (Ok(()), Ok(()), 1));
        }
    }
}

#[test]
fn a_head_request_has_an_answer_without_a_body() {
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
    let stat = json!({"verb": "stat", "content": {"seed": 1, "size": 5}});
    assert_eq!(twice(answer, stat, 1 << 20), (Ok(()), Ok(()), 1));
}

#[test]
fn lengths_that_contradict_are_no_http() {
    for answer in [
        &b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok"[..],
        b"HTTP/1.1 200 OK\r\nContent-Length: 2, 3\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nok",
        b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    ] {
        let (first, second, connections) = twice(answer, json!({}), 1 << 20);
        assert_eq!(first, Err(Failure::failed("the answer is not HTTP/1")), "{}", String::from_utf8_lossy(answer));
        assert_eq!((second, connections), (Ok(()), 2));
    }
}

#[test]
fn a_switch_of_protocols_is_no_answer_to_go_on_with() {
    let answer = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n";
    let (first, second, connections) = twice(answer, json!({}), 1 << 20);
    assert_eq!(first, Err(Failure::failed("HTTP 101 Switching Protocols")));
    assert_eq!((second, connections), (Ok(()), 2));
}

/// Say the same over and over while somebody listens; false when nobody does any more.
fn say_on(peer: &mut Peer, text: &[u8], times: usize) -> bool {
    (0..times).all(|_| peer.stream.write_all(text).is_ok())
}

#[test]
fn heads_without_an_end_are_cut_off() {
    for line in
        [&b"HTTP/1.1 100 Continue\r\n\r\n"[..], b"x-y: zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz\r\n", b"zzzzzzzz"]
    {
        let script = Script::new(|_, peer| {
            peer.head();
            if line[0] != b'H' {
                peer.say(b"HTTP/1.1 200 OK\r\nx: ");
            }
            while say_on(peer, line, 1000) {}
        });
        run(async {
            let mut client = client(json!({"url": script.url}));
            let result = act(&mut client, &step(json!({})), "x").await.0;
            assert_eq!(result, Err(Failure::failed("the head of the answer is larger than 64 KiB")));
        });
    }
}

#[test]
fn an_answer_before_the_end_of_an_upload_counts_and_the_rest_is_not_sent_into_the_next_request() {
    let script = Script::new(|number, peer| {
        peer.head();
        if number == 0 {
            peer.say(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
            let mut rest = vec![0; 1 << 16];
            while peer.stream.read(&mut rest).is_ok_and(|read| read > 0) {}
        } else {
            peer.say(OK);
        }
    });
    run(async {
        let mut client = client(json!({"url": script.url}));
        client.open().await.unwrap();
        let upload = step(json!({"verb": "write", "content": {"seed": 1, "size": 64 << 20}}));
        assert_eq!(act(&mut client, &upload, "x").await.0, Ok(()));
        assert_eq!(act(&mut client, &step(json!({})), "x").await.0, Ok(()));
        assert_eq!(script.connections(), 2);
    });
}

#[test]
fn a_large_answer_is_read_whole_and_its_connection_kept() {
    let script = Script::new(|_, peer| {
        peer.head();
        peer.say(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        for _ in 0..64 {
            peer.say(b"10000\r\n");
            peer.say(&[b'x'; 0x10000]);
            peer.say(b"\r\n");
        }
        peer.say(b"0\r\n\r\n");
        peer.head();
        peer.say(OK);
    });
    run(async {
        let mut client = client(json!({"url": script.url}));
        let (result, done) = act(&mut client, &step(json!({})), "x").await;
        assert_eq!((result, done.bytes), (Ok(()), 4 << 20));
        assert_eq!(act(&mut client, &step(json!({})), "x").await.0, Ok(()));
        assert_eq!(script.connections(), 1);
    });
}
