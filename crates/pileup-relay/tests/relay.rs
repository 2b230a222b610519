//! What goes through a relay: the same bytes, later; and what is reported of it.
#![allow(clippy::unwrap_used, missing_docs)] // helpers of tests, outside of the functions that clippy.toml exempts

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use pileup_relay::Relay;
use serde_json::{Value, json};

/// A server that gives back what it gets, in threads of its own.
fn echo() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || {
                let mut stream = stream;
                stream.set_nodelay(true).unwrap();
                let mut buffer = vec![0; 1 << 16];
                while let Ok(size @ 1..) = stream.read(&mut buffer) {
                    if stream.write_all(&buffer[..size]).is_err() {
                        return;
                    }
                }
            });
        }
    });
    port
}

fn relay(port: u16, path: Value) -> Relay {
    Relay::start(&json!({"to": ["127.0.0.1", port], "path": path, "seed": 7, "trace": true}).to_string()).unwrap()
}

fn connect(relay: &Relay) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", relay.port())).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

fn ask(stream: &mut TcpStream, text: &[u8]) -> Duration {
    let begin = Instant::now();
    stream.write_all(text).unwrap();
    let mut back = vec![0; text.len()];
    stream.read_exact(&mut back).unwrap();
    assert_eq!(back, text);
    begin.elapsed()
}

/// Never early; how late, benchmarks/relay.py says: the machine does other things, too.
fn near(found: Duration, wanted: u64) -> bool {
    let found = found.as_secs_f64() * 1e3;
    found >= wanted as f64 && found < wanted as f64 + 500.0
}

#[test]
fn bytes_come_through_unchanged_and_are_counted() {
    for path in [json!({}), json!({"latency": [1_000_000, 2_000_000], "jitter": {"uniform": [0, 1_000_000]}})] {
        let relay = relay(echo(), path);
        let mut stream = connect(&relay);
        let sent: Vec<u8> = (0..3_000_000u32).map(|at| (at.wrapping_mul(7919) >> 5) as u8).collect();
        let (copy, mut writer) = (sent.clone(), stream.try_clone().unwrap());
        let writing = thread::spawn(move || {
            writer.write_all(&copy).unwrap();
            writer.shutdown(Shutdown::Write).unwrap();
        });
        let mut back = Vec::new();
        stream.read_to_end(&mut back).unwrap();
        writing.join().unwrap();
        assert!(back == sent, "{} bytes of {}", back.len(), sent.len());
        let counts = relay.counts();
        assert_eq!((counts.connections, counts.bytes), (1, [3_000_000; 2]));
    }
}

/// Without latency, and where nobody looks at the bytes, they take another way through the relay.
#[test]
fn a_stream_is_whole_when_its_reader_is_slow_and_the_path_changes() {
    let settings = json!({"to": ["127.0.0.1", echo()], "seed": 7});
    let relay = Relay::start(&settings.to_string()).unwrap();
    let mut stream = connect(&relay);
    let sent: Vec<u8> = (0..12_000_000u32).map(|at| (at.wrapping_mul(7919) >> 5) as u8).collect();
    let (copy, mut writer) = (sent.clone(), stream.try_clone().unwrap());
    let writing = thread::spawn(move || {
        writer.write_all(&copy).unwrap();
        writer.shutdown(Shutdown::Write).unwrap();
    });
    let (mut back, mut buffer) = (Vec::new(), vec![0; 1 << 20]);
    for turn in 0.. {
        let size = stream.read(&mut buffer).unwrap();
        back.extend_from_slice(&buffer[..size]);
        match turn {
            _ if size == 0 => break,
            3 => relay.change(r#"{"latency": [1000000, 1000000]}"#).unwrap(),
            9 => relay.change("{}").unwrap(),
            _ if turn < 20 => thread::sleep(Duration::from_millis(3)),
            _ => {}
        }
    }
    writing.join().unwrap();
    assert!(back == sent, "{} bytes of {}", back.len(), sent.len());
    assert_eq!((relay.counts().bytes, relay.counts().open), ([12_000_000; 2], 0));
}

#[test]
fn a_connect_costs_a_round_trip_and_an_answer_another() {
    let relay = relay(echo(), json!({"latency": [20_000_000, 40_000_000]}));
    let mut stream = connect(&relay);
    let first = ask(&mut stream, b"one");
    assert!(near(first, 120), "connect and answer: {first:?}");
    let second = ask(&mut stream, b"two");
    assert!(near(second, 60), "{second:?}");
    let idle = connect(&relay);
    thread::sleep(Duration::from_millis(100));
    let late = ask(&mut { idle }, b"three");
    assert!(near(late, 60), "the round trip of the connect is over: {late:?}");
}

#[test]
fn what_the_relay_itself_adds_is_part_of_what_clients_see() {
    let path = json!({"latency": [5_000_000, 5_000_000]});
    let relay = relay(echo(), path.clone());
    let mut stream = connect(&relay);
    ask(&mut stream, b"connected");
    relay.change(&path.to_string()).unwrap();
    assert_eq!(relay.counts().late.answers, 0, "with a path it begins again");
    let longest = (0..20).map(|_| ask(&mut stream, b"x")).max().unwrap();
    let late = relay.counts().late;
    assert_eq!(late.answers, 20);
    assert!(0 < late.p50 && late.p50 <= late.p99 && late.p99 <= late.most, "{late:?}");
    let seen = longest.as_nanos() as u64 - 10_000_000;
    assert!(late.most <= seen + seen / 500, "3 digits: {late:?}, {seen} ns over the path");
}

#[test]
fn a_path_changes_under_open_connections() {
    let relay = relay(echo(), json!({}));
    let mut stream = connect(&relay);
    assert!(near(ask(&mut stream, b"near"), 0));
    relay.change(r#"{"latency": [25000000, 25000000]}"#).unwrap();
    assert!(near(ask(&mut stream, b"far"), 50));
    relay.change("{}").unwrap();
    assert!(near(ask(&mut stream, b"near again"), 0));
    assert!(relay.change(r#"{"bandwidth": 0}"#).unwrap_err().to_string().contains("bandwidth 0"));
}

#[test]
fn bandwidth_is_shared_by_all_connections() {
    let relay = relay(echo(), json!({"bandwidth": 4e6}));
    let begin = Instant::now();
    let talks: Vec<_> = (0..4)
        .map(|_| {
            let mut stream = connect(&relay);
            thread::spawn(move || ask(&mut stream, &vec![5; 200_000]))
        })
        .collect();
    let times: Vec<f64> = talks.into_iter().map(|talk| talk.join().unwrap().as_secs_f64()).collect();
    let all = begin.elapsed().as_secs_f64();
    assert!((0.195..1.0).contains(&all), "800 kB at 4 MB/s: {all}");
    assert!(times.iter().all(|time| *time > 0.045), "none has more than the whole line: {times:?}");
}

#[test]
fn a_target_that_takes_no_connection_is_counted_as_such() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let relay = relay(free, json!({}));
    let mut stream = connect(&relay);
    assert!(stream.read(&mut [0; 8]).map_or(true, |size| size == 0));
    drop(stream);
    thread::sleep(Duration::from_millis(20));
    assert_eq!((relay.counts().refused, relay.counts().open), (1, 0));
    assert!(relay.trace(false)[0].refused);
}

#[test]
fn resets_silence_and_slow_ends_are_made() {
    let server = echo();
    let resets = relay(server, json!({"resets": 1.0, "after": 4}));
    let mut stream = connect(&resets);
    stream.write_all(b"eight by").unwrap();
    let mut begin = [0; 4];
    stream.read_exact(&mut begin).unwrap();
    assert_eq!(&begin, b"eigh");
    assert_eq!(stream.read(&mut begin).unwrap_err().kind(), ErrorKind::ConnectionReset);
    assert_eq!(resets.counts().resets, 1);

    let silent = relay(server, json!({"half_open": 1.0}));
    let mut stream = connect(&silent);
    stream.write_all(b"anybody?").unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    assert!(matches!(stream.read(&mut begin).unwrap_err().kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut));
    assert_eq!((silent.counts().half_open, silent.counts().open), (1, 1));
    drop(stream);
    thread::sleep(Duration::from_millis(50));
    assert_eq!(silent.counts().open, 0);

    let slow = relay(server, json!({"slow_close": 60_000_000}));
    let mut stream = connect(&slow);
    ask(&mut stream, b"hello");
    let begin = Instant::now();
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(stream.read(&mut [0; 8]).unwrap(), 0);
    assert!(near(begin.elapsed(), 120), "{:?}", begin.elapsed());
}

#[test]
fn a_server_that_resets_is_passed_on() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.read_exact(&mut [0; 1]).unwrap();
        drop(stream); // with bytes unread: the kernel resets
    });
    let relay = relay(port, json!({}));
    let mut stream = connect(&relay);
    stream.write_all(b"two bytes and more").unwrap();
    assert_eq!(stream.read(&mut [0; 8]).unwrap_err().kind(), ErrorKind::ConnectionReset);
}

#[test]
fn messages_are_written_down_with_both_ends_times() {
    let relay = relay(echo(), json!({"latency": [10_000_000, 5_000_000]}));
    let mut stream = connect(&relay);
    for text in [&b"one"[..], b"three"] {
        ask(&mut stream, text);
    }
    assert_eq!(relay.trace(false).len(), 0);
    drop(stream);
    thread::sleep(Duration::from_millis(80));
    let taken = relay.trace(false);
    let of = &taken[0];
    assert_eq!(of.sent - of.accepted, 15_000_000);
    assert!(of.asked >= of.sent + 10_000_000 && of.reached >= of.asked && of.closed > of.reached);
    let ways: Vec<_> = of.messages.iter().map(|each| (each.way, each.bytes)).collect();
    assert_eq!(ways, [(0, 3), (1, 3), (0, 5), (1, 5)]);
    for each in &of.messages {
        assert_eq!(each.due[0] - each.came[0], [10_000_000, 5_000_000][each.way]);
    }
    assert_eq!(of.messages[0].came[0], of.sent, "sent while the connect was still under way");
    let counts = relay.counts();
    assert_eq!((counts.messages, counts.turns), ([2, 2], 2));
}

#[test]
fn thousands_of_connections_at_once() {
    let most = 1000;
    let relay = relay(echo(), json!({"latency": [1_000_000, 1_000_000]}));
    let mut streams: Vec<TcpStream> = (0..most).map(|_| connect(&relay)).collect();
    for stream in &mut streams {
        stream.write_all(b"x").unwrap();
    }
    for stream in &mut streams {
        stream.read_exact(&mut [0]).unwrap();
    }
    assert_eq!((relay.counts().open, relay.counts().turns), (most, most));
    drop(relay);
    assert!(streams[0].read(&mut [0]).map_or(true, |size| size == 0), "what was open is ended with the relay");
}

#[test]
fn what_cannot_start_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    for (settings, what) in [
        (json!({"to": ["127.0.0.1", 9], "port": port}), "is taken"),
        (json!({"to": ["no-such-host.invalid", 9]}), "is not found"),
        (json!({"to": ["127.0.0.1", 9], "host": "192.0.2.1"}), "cannot listen"),
    ] {
        let text = Relay::start(&settings.to_string()).err().unwrap().to_string();
        assert!(text.contains(what) && text.contains("; expected "), "{text}");
    }
}
