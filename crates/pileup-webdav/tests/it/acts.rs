//! Every act is counted, and every wait of pileup's own is reported: repeats, held back bodies, bodies of answers that do not pass.

use std::io::Read;
use std::time::Duration;

use pileup_engine::client::{Client, EXPECT_WAIT, Failure, Kind};
use serde_json::json;

use crate::kit::{Peer, Script, act, client, run, step};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Answer one request, then be deaf to the next and close: it crosses the end of the connection, and nobody has read it.
fn crossing(end: impl Fn(usize, &mut Peer) + Send + 'static) -> Script {
    Script::new(move |number, peer| {
        if number > 0 {
            return end(number, peer);
        }
        peer.head();
        peer.say(OK);
        peer.deafen();
        std::thread::sleep(Duration::from_millis(60));
    })
}

#[test]
fn t8_what_crosses_the_end_of_its_connection_is_asked_again_and_counted() {
    run(async {
        let script = crossing(|_, peer| {
            peer.head();
            peer.say(OK);
        });
        let mut one = client(json!({"url": script.url}));
        assert_eq!(act(&mut one, &step(json!({})), "x").await.0, Ok(()));
        tokio::time::sleep(Duration::from_millis(20)).await; // it is deaf by now
        let (result, done) = act(&mut one, &step(json!({})), "x").await;
        assert_eq!((result, done.calls, done.repeats), (Ok(()), 2, 1));
        assert_eq!(script.heads.lock().unwrap().len(), 2, "the server has had two of the three requests");

        // what changes something is not asked again, though nobody has read it
        let script = crossing(|_, _| {});
        let mut other = client(json!({"url": script.url}));
        assert_eq!(act(&mut other, &step(json!({})), "x").await.0, Ok(()));
        tokio::time::sleep(Duration::from_millis(20)).await;
        let (result, done) = act(&mut other, &step(json!({"verb": "delete"})), "x").await;
        assert_eq!(result, Err(Failure::ambiguous("connection closed before the answer")));
        assert_eq!((done.calls, done.repeats, script.connections()), (1, 0, 1));
    });
}

#[test]
fn t8_a_repeat_that_cannot_connect_leaves_the_first_act_as_it_is() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let mut peer = Peer::of(listener.accept().unwrap().0);
        drop(listener); // nobody gets a second connection
        peer.head();
        peer.say(OK);
        peer.deafen();
        std::thread::sleep(Duration::from_millis(60));
    });
    run(async {
        let mut client = client(json!({"url": url}));
        assert_eq!(act(&mut client, &step(json!({})), "x").await.0, Ok(()));
        tokio::time::sleep(Duration::from_millis(20)).await;
        let (result, done) = act(&mut client, &step(json!({})), "x").await;
        assert_eq!(result, Err(Failure::ambiguous("connection closed before the answer")));
        assert_eq!((done.calls, done.repeats), (1, 0));
    });
    server.join().unwrap();
}

#[test]
fn t8_what_was_in_the_hands_of_the_server_is_ambiguous_for_every_method() {
    for changes in [
        json!({}),
        json!({"verb": "stat"}),
        json!({"verb": "list"}),
        json!({"verb": "delete", "missing_ok": true}),
        json!({"method": "POST"}),
    ] {
        // it has read the second request when its process ends; another one is there at once
        let script = Script::new(move |number, peer| {
            peer.head();
            peer.say(OK);
            if number == 0 {
                peer.head();
            }
        });
        run(async {
            let mut client = client(json!({"url": script.url}));
            assert_eq!(act(&mut client, &step(json!({})), "x").await.0, Ok(()));
            let (result, done) = act(&mut client, &step(changes.clone()), "x").await;
            assert_eq!(result, Err(Failure::ambiguous("connection closed before the answer")), "{changes}");
            assert_eq!((done.calls, done.repeats, script.connections()), (1, 0, 1), "{changes}");
        });
    }
}

#[test]
fn t8_a_reset_is_for_what_nobody_has_read_and_a_repeat_of_it_is_counted() {
    for (changes, expected) in [
        (json!({}), (Ok(()), 2, 1, 2)),
        (json!({"verb": "delete", "missing_ok": true}), (Ok(()), 2, 1, 2)),
        (json!({"method": "POST"}), (Err(Failure::ambiguous("connection reset before the answer")), 1, 0, 1)),
    ] {
        // it closes with the second request unread, and on a kept connection only
        let script = Script::new(|number, peer| {
            peer.head();
            peer.say(OK);
            if number == 0 {
                std::thread::sleep(Duration::from_millis(60));
            }
        });
        run(async {
            let mut client = client(json!({"url": script.url}));
            assert_eq!(act(&mut client, &step(json!({})), "x").await.0, Ok(()));
            let (result, done) = act(&mut client, &step(changes.clone()), "x").await;
            assert_eq!((result, done.calls, done.repeats, script.connections()), expected, "{changes}");
        });
    }
}

#[test]
fn t8_every_request_that_a_server_reads_is_one_that_was_counted() {
    // it closes after each answer and does not say so
    let script = Script::new(|_, peer| {
        peer.head();
        peer.say(OK);
    });
    run(async {
        let mut client = client(json!({"url": script.url}));
        let (mut calls, mut repeats, mut passed) = (0, 0, 0);
        for _ in 0..500 {
            let (result, done) = act(&mut client, &step(json!({})), "x").await;
            (calls, repeats) = (calls + done.calls, repeats + done.repeats);
            passed += usize::from(result == Ok(()));
        }
        let read = script.heads.lock().unwrap().iter().filter(|head| !head.is_empty()).count();
        assert_eq!((passed, read), (500, 500), "it has answered all that it has read");
        assert_eq!(calls, 500 + repeats);
    });
}

/// Says nothing to Expect, and takes `size` bytes.
fn ignoring(size: usize) -> Script {
    Script::new(move |_, peer| {
        peer.head();
        peer.stream.read_exact(&mut vec![0; size]).unwrap();
        peer.say(OK);
    })
}

#[test]
fn t7_a_wait_for_a_word_that_does_not_come_is_told_as_our_own() {
    let size = 3 << 20;
    let write = step(json!({"verb": "write", "content": {"seed": 1, "size": size}}));
    run(async {
        let script = ignoring(size);
        let (result, done) = act(&mut client(json!({"url": script.url})), &write, "a").await;
        assert_eq!((result, done.bytes, done.holds), (Ok(()), size as u64, None));
        let [wait] = done.own_waits[..] else { panic!("{:?}", done.own_waits) };
        assert_eq!(wait.what, EXPECT_WAIT);
        assert!((990_000_000..1_500_000_000).contains(&(wait.ended - wait.begun)), "{wait:?}");
        assert!(done.first_byte >= wait.ended);

        let script = ignoring(size);
        let (result, done) = act(&mut client(json!({"url": script.url, "expect": "never"})), &write, "a").await;
        assert_eq!((result, done.own_waits.len()), (Ok(()), 0));
        assert!(!script.heads.lock().unwrap()[0].contains("Expect:"));
    });
}

#[test]
fn t7_a_word_that_comes_is_the_servers_time() {
    let size = 3 << 20;
    let script = Script::new(move |_, peer| {
        peer.head();
        std::thread::sleep(Duration::from_millis(50));
        peer.say(b"HTTP/1.1 100 Continue\r\n\r\n");
        peer.stream.read_exact(&mut vec![0; size]).unwrap();
        peer.say(OK);
    });
    let write = step(json!({"verb": "write", "content": {"seed": 1, "size": size}}));
    run(async {
        let (result, done) = act(&mut client(json!({"url": script.url})), &write, "a").await;
        assert_eq!((result, done.own_waits.len(), done.holds), (Ok(()), 0, None));
    });
}

#[test]
fn t22_bodies_of_answers_that_do_not_pass_are_counted() {
    run(async {
        for keep_alive in [true, false] {
            let script = Script::answering(b"HTTP/1.1 503 x\r\nContent-Length: 14\r\n\r\ncome back later");
            let mut client = client(json!({"url": script.url, "keep_alive": keep_alive}));
            let (result, done) = act(&mut client, &step(json!({})), "x").await;
            assert_eq!((result.unwrap_err().kind, done.bytes), (Kind::Refused, 14), "{keep_alive}");
        }
    });
}

#[test]
fn t22_more_than_the_answer_does_not_pass_without_a_word() {
    let twice = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    let longer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokay";
    let bodied = b"HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok";
    for answer in [&twice[..], longer, bodied] {
        for keep_alive in [true, false] {
            let script = Script::answering(answer);
            run(async {
                let mut client = client(json!({"url": script.url, "keep_alive": keep_alive}));
                let (result, _) = act(&mut client, &step(json!({})), "x").await;
                assert_eq!(result, Err(Failure::failed("the server sent more than its answer")));
            });
        }
    }
}

/// Answer, and say something more while the connection is at rest.
fn unasked(more: &'static [u8]) -> Script {
    Script::new(move |number, peer| {
        peer.head();
        peer.say(OK);
        if number == 0 {
            std::thread::sleep(Duration::from_millis(20));
            peer.say(more);
            std::thread::sleep(Duration::from_millis(60)); // open still when the client comes back
        }
    })
}

#[test]
fn t22_what_comes_at_rest_is_told_by_the_next_operation() {
    for (more, expected) in [
        (OK, Err(Failure::failed("the server sent more than its answer to the request before"))),
        (b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", Ok(())),
    ] {
        let script = unasked(more);
        run(async {
            let mut client = client(json!({"url": script.url}));
            client.open().await.unwrap();
            assert_eq!(act(&mut client, &step(json!({})), "x").await.0, Ok(()));
            tokio::time::sleep(Duration::from_millis(50)).await;
            let (result, done) = act(&mut client, &step(json!({})), "x").await;
            assert_eq!((result, done.calls), (expected, 1));
            assert_eq!(act(&mut client, &step(json!({})), "x").await.0, Ok(()), "reported once");
        });
    }
}

#[test]
fn t22_chunks_that_contradict_the_length_have_failed() {
    let of = |answer: &'static [u8]| {
        let script = Script::answering(answer);
        run(async { act(&mut client(json!({"url": script.url})), &step(json!({})), "x").await.0 })
    };
    let wrong = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 7\r\n\r\n2\r\nok\r\n0\r\n\r\n";
    assert_eq!(of(wrong), Err(Failure::failed("the answer states another length than its chunks have")));
    let right = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n";
    assert_eq!(of(right), Ok(()));
}

#[test]
fn t22_how_far_an_answer_had_come_is_noted() {
    let script = Script::new(|_, peer| {
        peer.head();
        peer.say(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n0123456789");
        std::thread::sleep(Duration::from_millis(200));
    });
    run(async {
        let mut client = client(json!({"url": script.url}));
        let get = step(json!({"verb": "read"}));
        let call = pileup_engine::client::Call::new(1, &get, 0, "x");
        let mut noted = pileup_engine::client::Act::default();
        let cut = tokio::time::timeout(Duration::from_millis(60), client.act(&call, &mut noted)).await;
        let incomplete = noted.incomplete.unwrap();
        assert!(cut.is_err());
        assert_eq!((incomplete.got, incomplete.stated, incomplete.kind), (10, Some(1000), Kind::Failed));
    });
}

#[test]
fn an_answer_that_came_as_a_whole_has_ended_when_it_came() {
    let whole = Script::answering(OK);
    let halves = Script::new(|_, peer| {
        peer.head();
        let (one, other) = OK.split_at(OK.len() - 1);
        peer.say(one);
        std::thread::sleep(Duration::from_millis(20));
        peer.say(other);
    });
    run(async {
        let (result, done) = act(&mut client(json!({"url": whole.url})), &step(json!({})), "x").await;
        assert_eq!((result, done.bytes, done.ended), (Ok(()), 2, done.first_byte));
        assert!(done.ended > 0);
        let (result, done) = act(&mut client(json!({"url": halves.url})), &step(json!({})), "x").await;
        assert_eq!((result, done.bytes, done.ended), (Ok(()), 2, 0), "its end is when its client is ready");
    });
}
