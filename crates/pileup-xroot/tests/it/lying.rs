//! Servers that do what they should not: each has its outcome and its words.

use std::time::{Duration, Instant};

use pileup_engine::client::{Client, Failure, Kind};
use pileup_engine::content::{Maker, Object};
use serde_json::{Value, json};

use crate::kit::{Peer, Script, act, client, failed, run};

const OK: u16 = 0;
const SO_FAR: u16 = 4000;
const ATTENTION: u16 = 4001;
const ERROR: u16 = 4003;
const REDIRECT: u16 = 4004;
const WAIT: u16 = 4005;
const WAIT_ANSWER: u16 = 4006;
const CHECKED: u16 = 4007;
const STAT: &[u8] = b"1 10 48 99\0";

/// Do one operation against a server that answers with these frames.
fn outcome(answers: &'static [(u16, &'static [u8])], changes: Value) -> Result<(), Failure> {
    against(&Script::answering(answers), changes)
}

/// Do one operation against a server.
fn against(script: &Script, changes: Value) -> Result<(), Failure> {
    run(async { act(&mut client(json!({"url": script.url()})), changes, "x").await.0 })
}

fn stat(answers: &'static [(u16, &'static [u8])]) -> Result<(), Failure> {
    outcome(answers, json!({}))
}

fn garbage(what: &str) -> Result<(), Failure> {
    failed(&format!("the answer is not xroot: {what}"))
}

fn ten() -> Value {
    json!({"verb": "read", "content": {"seed": 5, "size": 10}})
}

/// The first ten bytes of object 0.
fn data() -> [u8; 10] {
    let mut data = [0; 10];
    Maker::new(&Object { seed: 5, number: 0, size: 10, entropy: 1.0 }).fill(0, &mut data);
    data
}

/// A server with a file of ten bytes that reads it as the script says: the stream of the read, and the peer.
fn reading(script: impl Fn(u16, &mut Peer) + Send + Sync + 'static) -> Script {
    Script::greeting(move |_, peer| {
        loop {
            let asked = peer.request();
            match asked.code {
                3010 => peer.say(asked.stream, OK, &[&[1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0], STAT].concat()),
                3003 => peer.say(asked.stream, OK, &[]),
                _ => script(asked.stream, peer),
            }
        }
    })
}

#[test]
fn what_is_right_passes() {
    assert_eq!(stat(&[(OK, STAT)]), Ok(()));
    assert_eq!(stat(&[(SO_FAR, b"1 10 "), (SO_FAR, b""), (OK, b"48 99")]), Ok(()));
    assert_eq!(against(&reading(|stream, peer| peer.say(stream, OK, &data())), ten()), Ok(()));
    let parts = reading(|stream, peer| {
        peer.say(stream, SO_FAR, &data()[..3]);
        peer.say(stream, SO_FAR, &[]);
        peer.say(stream, OK, &data()[3..]);
    });
    assert_eq!(against(&parts, ten()), Ok(()));
}

#[test]
fn a_server_of_another_protocol_is_named() {
    let (web, other) =
        ("the server speaks HTTP on this port, not xroot", "the server does not speak xroot on this port");
    for (greeting, text) in [(&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], web), (&[0; 16], other), (&[0xff; 32], other)] {
        let script = Script::new(move |_, peer| {
            peer.raw(greeting);
            peer.linger();
        });
        run(async { assert_eq!(client(json!({"url": script.url()})).open().await, failed(text)) });
    }
    let closing = Script::new(|_, _| {});
    let said = run(async { client(json!({"url": closing.url()})).open().await.unwrap_err() });
    assert!(said.kind == Kind::Failed && said.message.ends_with(" in the handshake"), "{said:?}");
}

#[test]
fn logins_that_want_more_are_refused() {
    let script = Script::new(|_, peer| peer.greet(b"&P=gsi,v:10400&P=sss\0"));
    let text = "login: the server asks for authentication (gsi, sss); expected one that takes a token over TLS (ztn) or a name (unix)";
    run(async { assert_eq!(client(json!({"url": script.url()})).open().await, Err(Failure::refused(text))) });
    let script = Script::new(|_, peer| peer.greet(&[b'x'; 100]));
    run(async {
        let said = client(json!({"url": script.url()})).open().await;
        assert_eq!(said, garbage("an answer to login that is not understood"));
    });
}

#[test]
fn tls_that_is_wanted_and_not_there_is_named() {
    let script = Script::new(|_, peer| peer.greet(&[]));
    run(async {
        let ca = std::env::temp_dir().join(format!("pileup-xroot-lying-{}.pem", std::process::id()));
        let key = rcgen::KeyPair::generate().unwrap();
        std::fs::write(&ca, rcgen::CertificateParams::default().self_signed(&key).unwrap().pem()).unwrap();
        let url = script.url().replace("root:", "roots:");
        let said = client(json!({"url": url, "ca": ca})).open().await;
        assert_eq!(said, failed("the server has no TLS, but the url asks for it"));
        std::fs::remove_file(ca).unwrap();
    });
}

#[test]
fn garbage_frames_are_named() {
    assert_eq!(stat(&[(77, b"")]), garbage("an unknown status"));
    assert_eq!(stat(&[(OK, b"zzz")]), garbage("invalid attributes"));
    assert_eq!(stat(&[(OK, b"")]), garbage("invalid attributes"));
    assert_eq!(stat(&[(CHECKED, b"zzz")]), garbage("an answer of another kind than the one asked for"));
    assert_eq!(stat(&[(4002, b"zzz")]), garbage("an answer of another kind than the one asked for"));
    assert_eq!(stat(&[(ERROR, b"z")]), garbage("an error without a number"));
    assert_eq!(stat(&[(WAIT, b"z")]), garbage("a wait without a time"));
    assert_eq!(stat(&[(WAIT, &[0xff, 0, 0, 0])]), garbage("a wait of a negative time"));
    assert_eq!(stat(&[(REDIRECT, b"zzz")]), garbage("a redirect that leads nowhere"));
    assert_eq!(stat(&[(ERROR, b"\0\0\x0b\xc3x; no such file")]), failed("xroot 3011 NotFound: no such file"));
    let wrong = "an answer within a message that does not fit it";
    let message = [&[0, 0, 0x13, 0x90, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 99][..], STAT].concat();
    let script = Script::greeting(move |_, peer| {
        peer.request();
        peer.say(0, ATTENTION, &message);
        peer.linger();
    });
    assert_eq!(against(&script, json!({})), garbage(wrong));
    let list = json!({"verb": "list"});
    assert_eq!(outcome(&[(OK, b".\nzzz\nname\nzzz\0")], list), garbage("invalid attributes"));
    assert_eq!(outcome(&[(OK, b"zzz")], json!({"verb": "checksum"})), garbage("an invalid checksum"));
}

#[test]
fn an_answer_to_nothing_is_named() {
    let wrong = Script::greeting(|_, peer| {
        let asked = peer.request();
        peer.say(asked.stream + 1, OK, STAT);
        peer.linger();
    });
    assert_eq!(against(&wrong, json!({})), garbage("an answer to nothing that was asked"));
    let wrong = reading(|stream, peer| peer.say(stream + 9, OK, &data()));
    assert_eq!(against(&wrong, ten()), garbage("an answer to nothing that was asked"));
}

#[test]
fn huge_and_negative_lengths_cost_nothing() {
    for (status, length, what) in [
        (OK, i32::MAX, "more than was asked for"),
        (SO_FAR, 0x1000_0000, "more than was asked for"),
        (OK, -1, "a negative length"),
        (ERROR, i32::MAX, "a text of more than 64 KiB"),
        (REDIRECT, 0x0100_0000, "a text of more than 64 KiB"),
        (WAIT, 0x0100_0000, "a text of more than 64 KiB"),
        (ATTENTION, i32::MAX, "a text of more than 64 KiB"),
    ] {
        let script = Script::greeting(move |_, peer| {
            let asked = peer.request();
            peer.head(asked.stream, status, length);
            peer.raw(&[0; 16]);
            peer.linger();
        });
        assert_eq!(against(&script, json!({})), garbage(what));
    }
    let script = reading(|stream, peer| peer.head(stream, OK, i32::MAX));
    assert_eq!(against(&script, ten()), garbage("more data than was asked for"));
    let script = reading(|stream, peer| peer.say(stream, OK, &[0; 11]));
    assert_eq!(against(&script, ten()), garbage("more data than was asked for"));
    // a stated size is believed by nobody before that much has come
    let huge = json!({"verb": "read", "content": {"seed": 5, "size": 1u64 << 40}});
    let vast = Script::greeting(|_, peer| {
        let asked = peer.request();
        peer.say(asked.stream, OK, b"\x01\x02\x03\x04\0\0\0\0\0\0\0\0 1 1099511627776 48 99\0");
        peer.request();
        let _ = peer.stream.shutdown(std::net::Shutdown::Both);
    });
    assert_eq!(against(&vast, huge).unwrap_err().kind, Kind::Ambiguous);
    let largest = crate::LARGEST.load(std::sync::atomic::Ordering::Relaxed);
    assert!(largest < 24 << 20, "{largest} bytes were asked for at once");
}

#[test]
fn answers_without_end_end() {
    let script = Script::greeting(|_, peer| {
        let asked = peer.request();
        for _ in 0..2000 {
            peer.say(asked.stream, SO_FAR, &[b'x'; 16 * 1024]);
        }
    });
    assert_eq!(against(&script, json!({})), garbage("more than was asked for"));
    let script = Script::greeting(|_, peer| {
        let asked = peer.request();
        for _ in 0..5000 {
            peer.say(asked.stream, SO_FAR, &b"name\n".repeat(3276));
        }
    });
    assert_eq!(against(&script, json!({"verb": "list"})), garbage("more than was asked for"));
}

#[test]
fn wrong_bytes_and_wrong_lengths_are_named() {
    let wrong = reading(|stream, peer| {
        let mut data = data();
        data[7] ^= 1;
        peer.say(stream, OK, &data);
    });
    assert_eq!(against(&wrong, ten()), failed("wrong content at offset 7"));
    let short = reading(|stream, peer| peer.say(stream, OK, &data()[..4]));
    assert_eq!(against(&short, ten()), failed("truncated: 4 of 10 bytes"));
    let nothing = reading(|stream, peer| peer.say(stream, OK, &[]));
    assert_eq!(against(&nothing, ten()), failed("truncated: 0 of 10 bytes"));
    let size = reading(|stream, peer| peer.say(stream, OK, &data()));
    let eleven = json!({"verb": "read", "content": {"seed": 5, "size": 11}});
    assert_eq!(against(&size, eleven), failed("size 10, expected 11"));
    assert_eq!(outcome(&[(OK, STAT)], json!({"content": {"seed": 5, "size": 11}})), failed("size 10, expected 11"));
}

#[test]
fn early_ends_are_ambiguous() {
    let closing = Script::greeting(|_, peer| {
        peer.request();
    });
    assert_eq!(
        against(&closing, json!({"verb": "mkdir"})),
        Err(Failure::ambiguous("connection closed before the answer"))
    );
    let halfway = Script::greeting(|_, peer| {
        let asked = peer.request();
        peer.head(asked.stream, OK, 11);
        peer.raw(&STAT[..5]);
    });
    assert_eq!(against(&halfway, json!({})), Err(Failure::ambiguous("connection closed in the answer")));
    let read = reading(|stream, peer| {
        peer.head(stream, OK, 10);
        peer.raw(&data()[..5]);
        let _ = peer.stream.shutdown(std::net::Shutdown::Both);
    });
    assert_eq!(against(&read, ten()), Err(Failure::ambiguous("connection closed in the answer")));
}

#[test]
fn pages_are_checked() {
    let of = |script: Script| {
        run(async { act(&mut client(json!({"url": script.url(), "page_checksums": true})), ten(), "x").await.0 })
    };
    /// A frame of pages: stream, whether more come, place, data with its checksum before it.
    fn pages(peer: &mut Peer, stream: u16, more: u8, offset: u64, data: &[u8], sum: u32) {
        let bytes = [&sum.to_be_bytes()[..], data].concat();
        let mut body = [0; 24];
        body[4..6].copy_from_slice(&stream.to_be_bytes());
        (body[6], body[7]) = (30, more);
        body[12..16].copy_from_slice(&(bytes.len() as u32).to_be_bytes());
        body[16..].copy_from_slice(&offset.to_be_bytes());
        let own = crc32c::crc32c(&body[4..]);
        body[..4].copy_from_slice(&own.to_be_bytes());
        peer.say(stream, CHECKED, &body);
        peer.raw(&bytes);
    }
    let good = |data: &[u8]| crc32c::crc32c(data);
    let whole = reading(move |stream, peer| pages(peer, stream, 0, 0, &data(), good(&data())));
    assert_eq!(of(whole), Ok(()));
    let parts = reading(move |stream, peer| {
        pages(peer, stream, 1, 0, &data()[..6], good(&data()[..6]));
        pages(peer, stream, 0, 6, &data()[6..], good(&data()[6..]));
    });
    assert_eq!(of(parts), Ok(()));
    let torn = reading(move |stream, peer| pages(peer, stream, 0, 0, &data(), 1));
    assert_eq!(of(torn), failed("the checksum of the page at offset 10 is wrong"));
    let place = reading(move |stream, peer| pages(peer, stream, 0, 4096, &data(), good(&data())));
    assert_eq!(of(place), garbage("pages from another place than asked for"));
    let more = reading(move |stream, peer| pages(peer, stream, 0, 0, &[0; 30], 0));
    assert_eq!(of(more), garbage("more data than was asked for"));
    let short = reading(move |stream, peer| pages(peer, stream, 0, 0, &data()[..3], good(&data()[..3])));
    assert_eq!(of(short), failed("truncated: 3 of 10 bytes"));
    let plain = reading(|stream, peer| peer.say(stream, OK, &data()));
    assert_eq!(of(plain), garbage("an answer of another kind than the one asked for"));
    let length = reading(|stream, peer| peer.say(stream, CHECKED, &[0; 23]));
    assert_eq!(of(length), garbage("pages with a head of another length"));
}

#[test]
fn redirects_are_followed_with_what_they_say() {
    let home = Script::greeting(|_, peer| {
        let asked = peer.request();
        peer.say(asked.stream, OK, STAT);
        peer.linger();
    });
    let port = home.port();
    let away = Script::greeting(move |_, peer| {
        let asked = peer.request();
        peer.say(asked.stream, REDIRECT, &[&u32::from(port).to_be_bytes()[..], b"127.0.0.1?a=b&c=d"].concat());
        peer.linger();
    });
    run(async {
        let mut client = client(json!({"url": format!("{}?own=1", away.url()), "token": "t.o.k"}));
        let (result, done) = act(&mut client, json!({}), "x").await;
        assert_eq!((result, done.calls), (Ok(()), 2));
    });
    let asked = home.asked.lock().unwrap().last().cloned().unwrap();
    assert_eq!(asked, (3017, b"/base/x?own=1&authz=Bearer%20t.o.k&a=b&c=d".to_vec()));
}

#[test]
fn redirects_without_end_end() {
    let script = Script::greeting(|_, peer| {
        let port = u32::from(peer.stream.local_addr().unwrap().port());
        loop {
            let asked = peer.request();
            peer.say(asked.stream, REDIRECT, &[&port.to_be_bytes()[..], b"127.0.0.1"].concat());
        }
    });
    assert_eq!(against(&script, json!({})), failed("redirected more than 16 times"));
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let gone = Script::greeting(move |_, peer| {
        let asked = peer.request();
        peer.say(asked.stream, REDIRECT, &[&u32::from(free).to_be_bytes()[..], b"127.0.0.1"].concat());
        peer.linger();
    });
    assert_eq!(against(&gone, json!({})), Err(Failure::unreachable("connection refused")));
    let middle = reading(|stream, peer| peer.say(stream, REDIRECT, b"\0\0\x04\x46elsewhere"));
    assert_eq!(against(&middle, ten()), failed("the server sends elsewhere in the middle of a file"));
}

#[test]
fn waits_are_waited_for_and_noted() {
    let once = Script::greeting(|_, peer| {
        let asked = peer.request();
        peer.say(asked.stream, WAIT, &[0, 0, 0, 0, b'x']);
        let asked = peer.request();
        peer.say(asked.stream, OK, STAT);
        peer.linger();
    });
    assert_eq!(against(&once, json!({})), Ok(()));
    let forever = Script::greeting(|_, peer| {
        loop {
            let asked = peer.request();
            peer.say(asked.stream, WAIT, &[0, 0, 0xff, 0xff]);
        }
    });
    run(async {
        let mut client = client(json!({"url": forever.url()}));
        let mut done = pileup_engine::client::Act::default();
        let step = crate::kit::step(json!({}));
        let call = pileup_engine::client::Call::new(1, &step, 0, "x");
        let begun = Instant::now();
        let cut = tokio::time::timeout(Duration::from_millis(200), client.act(&call, &mut done)).await;
        assert!(cut.is_err() && begun.elapsed() < Duration::from_secs(5));
        assert!(done.waits && !done.sent, "nothing has happened, and the server said so");
    });
    let middle = reading(|stream, peer| {
        peer.say(stream, WAIT, &[0, 0, 0, 0]);
        let asked = peer.request();
        assert_eq!(asked.code, 3013);
        peer.say(asked.stream, OK, &data());
    });
    assert_eq!(against(&middle, ten()), Ok(()));
}

#[test]
fn announced_answers_come_within_messages() {
    let later = Script::greeting(|_, peer| {
        let asked = peer.request();
        peer.say(asked.stream, WAIT_ANSWER, &[0, 0, 0, 9]);
        peer.say(0, ATTENTION, &[&[0, 0, 0x13, 0x8a][..], b"a message to the user"].concat());
        peer.say(0, ATTENTION, &[0, 0, 0x13, 0x8a]);
        let [high, low] = asked.stream.to_be_bytes();
        let inner = [0, 0, 0x13, 0x90, 0, 0, 0, 0, high, low, 0, 0, 0, 0, 0, STAT.len() as u8];
        peer.say(0, ATTENTION, &[&inner[..], STAT].concat());
        peer.linger();
    });
    assert_eq!(against(&later, json!({})), Ok(()));
    let refused = Script::greeting(|_, peer| {
        let asked = peer.request();
        peer.say(asked.stream, WAIT_ANSWER, &[0, 0, 0, 9]);
        let [high, low] = asked.stream.to_be_bytes();
        let inner = [0, 0, 0x13, 0x90, 0, 0, 0, 0, high, low, 0x0f, 0xa3, 0, 0, 0, 4, 0, 0, 0x0b, 0xd0];
        peer.say(0, ATTENTION, &inner);
        peer.linger();
    });
    assert_eq!(against(&refused, json!({})), Err(Failure::refused("xroot 3024 Overloaded")));
}

/// A server whose first session answers once, and is deaf to the next question before it ends.
fn crossing() -> Script {
    Script::greeting(|number, peer| {
        let asked = peer.request();
        peer.say(asked.stream, OK, STAT);
        if number == 0 {
            peer.deafen();
            std::thread::sleep(Duration::from_millis(60));
            return;
        }
        peer.linger();
    })
}

#[test]
fn t8_what_crosses_the_end_of_its_session_is_asked_again_and_counted() {
    run(async {
        let script = crossing();
        let mut one = client(json!({"url": script.url()}));
        assert_eq!(act(&mut one, json!({}), "x").await.0, Ok(()));
        tokio::time::sleep(Duration::from_millis(20)).await; // it is deaf by now
        let (result, done) = act(&mut one, json!({}), "x").await;
        assert_eq!((result, done.calls, done.repeats), (Ok(()), 2, 1));
        assert_eq!(script.connections(), 2);
        let script = crossing();
        let mut other = client(json!({"url": script.url()}));
        assert_eq!(act(&mut other, json!({}), "x").await.0, Ok(()));
        tokio::time::sleep(Duration::from_millis(20)).await;
        let (result, done) = act(&mut other, json!({"verb": "delete"}), "x").await;
        assert_eq!((result.unwrap_err().kind, done.calls, done.repeats), (Kind::Ambiguous, 1, 0));
        assert_eq!(script.connections(), 1);
    });
}

#[test]
fn t8_what_was_in_the_hands_of_the_server_is_ambiguous_for_every_question() {
    for changes in [json!({}), json!({"verb": "list"}), json!({"verb": "delete"})] {
        let script = Script::greeting(|_, peer| {
            let asked = peer.request();
            peer.say(asked.stream, OK, STAT);
            peer.request(); // read when its process ends
        });
        run(async {
            let mut client = client(json!({"url": script.url()}));
            assert_eq!(act(&mut client, json!({}), "x").await.0, Ok(()));
            let (result, done) = act(&mut client, changes.clone(), "x").await;
            assert_eq!((result.unwrap_err().kind, done.calls, done.repeats), (Kind::Ambiguous, 1, 0), "{changes}");
            assert_eq!(script.connections(), 1);
        });
    }
}

#[test]
fn t22_a_second_answer_is_told_by_the_next_operation() {
    let script = Script::greeting(|_, peer| {
        let asked = peer.request();
        peer.say(asked.stream, OK, STAT);
        std::thread::sleep(Duration::from_millis(10));
        peer.say(asked.stream, OK, STAT);
        peer.linger();
    });
    run(async {
        let mut client = client(json!({"url": script.url()}));
        assert_eq!(act(&mut client, json!({}), "x").await.0, Ok(()));
        tokio::time::sleep(Duration::from_millis(50)).await;
        let said = act(&mut client, json!({}), "x").await.0;
        assert_eq!(said, failed("the server sent more than its answer to the request before"));
    });
}

#[test]
fn a_session_cut_in_the_middle_is_not_used_again() {
    let script = Script::greeting(|number, peer| {
        let asked = peer.request();
        if number > 0 {
            peer.say(asked.stream, OK, STAT);
        }
        peer.linger();
    });
    run(async {
        let mut client = client(json!({"url": script.url()}));
        let cut = tokio::time::timeout(Duration::from_millis(100), act(&mut client, json!({}), "x")).await;
        assert!(cut.is_err());
        assert_eq!(act(&mut client, json!({}), "x").await.0, Ok(()));
        assert_eq!(script.connections(), 2);
    });
}

#[test]
fn a_write_that_is_broken_off_says_why() {
    let writing = |script: fn(&mut Peer, u16)| {
        Script::greeting(move |_, peer| {
            let asked = peer.request();
            peer.say(asked.stream, OK, &[0; 12]);
            let asked = peer.request();
            script(peer, asked.stream);
            let asked = peer.request();
            assert_eq!(asked.code, 3003);
            peer.say(asked.stream, OK, &[]);
        })
    };
    let write = || json!({"verb": "write", "content": {"seed": 5, "size": 100_000}, "buffer": 20_000});
    let full = writing(|peer, stream| peer.say(stream, ERROR, b"\0\0\x0b\xc1x; no space left on device"));
    assert_eq!(against(&full, write()), Err(Failure::refused("xroot 3009 NoSpace: no space left on device")));
    let busy = writing(|peer, stream| peer.say(stream, WAIT, &[0, 0, 0, 1]));
    assert_eq!(against(&busy, write()), failed("the server asks to wait in the middle of a write"));
    let gone = writing(|peer, _| drop(peer.stream.shutdown(std::net::Shutdown::Both)));
    assert_eq!(against(&gone, write()).unwrap_err().kind, Kind::Ambiguous);
    let odd = writing(|peer, stream| peer.say(stream, OK, b"data"));
    assert_eq!(against(&odd, write()), garbage("an answer of another kind than the one asked for"));
}

#[test]
fn a_file_kept_open_goes_with_its_session() {
    let script = Script::greeting(|number, peer| {
        loop {
            let asked = peer.request();
            match asked.code {
                3010 => peer.say(asked.stream, OK, &[&[1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0], STAT].concat()),
                3013 if number == 0 => return peer.say(asked.stream, OK, &data()), // the session ends here
                3013 => peer.say(asked.stream, OK, &data()),
                _ => peer.say(asked.stream, OK, STAT),
            }
        }
    });
    run(async {
        let mut client = client(json!({"url": script.url()}));
        let read = json!({"verb": "read", "content": {"seed": 5, "size": 10}, "keep": true});
        assert_eq!(act(&mut client, read.clone(), "x").await.0, Ok(()));
        tokio::time::sleep(Duration::from_millis(30)).await;
        assert_eq!(act(&mut client, json!({}), "x").await.0, Ok(()));
        assert_eq!(act(&mut client, read, "x").await.0, Ok(()));
    });
    let asked: Vec<u16> =
        script.asked.lock().unwrap().iter().map(|(code, _)| *code).filter(|code| *code > 3007).collect();
    assert_eq!(asked, [3010, 3013, 3017, 3010, 3013]);
}

#[test]
fn large_answers_may_come_slowly_or_break_off() {
    const SIZE: usize = 3 << 20;
    let served = |whole: bool| {
        Script::greeting(move |_, peer| {
            let mut data = vec![0; SIZE];
            Maker::new(&Object { seed: 5, number: 0, size: SIZE as u64, entropy: 1.0 }).fill(0, &mut data);
            loop {
                let asked = peer.request();
                let attributes = format!("1 {SIZE} 48 99");
                match asked.code {
                    3010 => peer.say(asked.stream, OK, &[&[0; 12], attributes.as_bytes()].concat()),
                    3013 if whole => {
                        peer.head(asked.stream, OK, SIZE as i32);
                        // less than the client asks to be woken for, then more, then the rest
                        for piece in
                            [&data[..1000], &data[1000..700_000], &data[700_000..SIZE - 10], &data[SIZE - 10..]]
                        {
                            peer.raw(piece);
                            std::thread::sleep(Duration::from_millis(20));
                        }
                    }
                    3013 => {
                        peer.head(asked.stream, OK, SIZE as i32);
                        peer.raw(&data[..1000]);
                        return;
                    }
                    _ => peer.say(asked.stream, OK, &[]),
                }
            }
        })
    };
    let read = json!({"verb": "read", "content": {"seed": 5, "size": SIZE}});
    assert_eq!(against(&served(true), read.clone()), Ok(()));
    let begun = Instant::now();
    assert_eq!(against(&served(false), read), Err(Failure::ambiguous("connection closed in the answer")));
    assert!(begun.elapsed() < Duration::from_secs(5), "an end wakes, however little has come");
}

#[test]
fn messages_without_end_hold_nobody_past_the_timeout() {
    let script = Script::greeting(|_, peer| {
        peer.request();
        let many = [&[0, 0, 0x0f, 0xa1, 0, 0, 0, 20, 0, 0, 0x13, 0x8a][..], &[b'x'; 16]].concat().repeat(1000);
        while std::io::Write::write_all(&mut peer.stream, &many).is_ok() {}
    });
    run(async {
        let mut client = client(json!({"url": script.url()}));
        let begun = Instant::now();
        let cut = tokio::time::timeout(Duration::from_millis(200), act(&mut client, json!({}), "x")).await;
        assert!(cut.is_err() && begun.elapsed() < Duration::from_secs(5));
    });
}

#[test]
fn a_no_to_a_token_that_is_over_has_its_cause() {
    let script = Script::answering(&[(ERROR, b"\0\0\x0b\xc2x; not for you")]);
    for (token, cause) in
        [("e30.eyJleHAiOjF9.c2ln", "TokenExpired"), ("e30.eyJleHAiOjk5OTk5OTk5OTk5fQ.c2ln", "None"), ("opaque", "None")]
    {
        let settings = json!({"url": script.url(), "token": token});
        let failure = run(async { act(&mut client(settings), json!({}), "x").await.0 }).unwrap_err();
        assert_eq!((failure.kind, format!("{:?}", failure.cause).as_str()), (Kind::Refused, cause), "{token}");
    }
}
