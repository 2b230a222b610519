//! Several ranges in one answer, as servers give them and as they should not.

use pileup_engine::client::Failure;
use pileup_engine::content::{Maker, Object};
use serde_json::{Value, json};

use crate::kit::{Script, act, client, run, step};

const SIZE: u64 = 10_000;
const PIECE: u64 = 100;

/// Three pieces of 100 bytes in one request.
fn vector() -> Value {
    json!({"verb": "read", "content": {"seed": 1, "size": SIZE}, "length": PIECE, "span": SIZE, "pieces": 3})
}

fn data(begin: u64, end: u64) -> Vec<u8> {
    let mut bytes = vec![0; (end - begin) as usize];
    Maker::new(&Object { seed: 1, number: 0, size: SIZE, entropy: 1.0 }).fill(begin, &mut bytes);
    bytes
}

/// The ranges that a request asks for, the end not part of them.
fn asked(head: &str) -> Vec<(u64, u64)> {
    let value = head.lines().find_map(|line| line.strip_prefix("Range: bytes=")).unwrap();
    let range = |text: &str| {
        let (first, last) = text.split_once('-').unwrap();
        (first.parse().unwrap(), last.parse::<u64>().unwrap() + 1)
    };
    value.split(',').map(range).collect()
}

fn part(begin: u64, end: u64, bytes: &[u8]) -> Vec<u8> {
    let head = format!("\r\n--b\r\nContent-Type: x/y\r\nContent-Range: bytes {begin}-{}/{SIZE}\r\n\r\n", end - 1);
    [head.as_bytes(), bytes].concat()
}

fn multipart(parts: &[Vec<u8>]) -> Vec<u8> {
    let body = [parts.concat().as_slice(), b"\r\n--b--\r\n"].concat();
    let head = format!(
        "HTTP/1.1 206 x\r\nContent-Type: multipart/byteranges; boundary=b\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), &body].concat()
}

/// Do a vector read against a server that makes its answer of the ranges asked for; what came of it, and how many bytes.
fn outcome(answer: impl Fn(&[(u64, u64)]) -> Vec<u8> + Send + 'static) -> (Result<(), Failure>, u64) {
    let script = Script::new(move |_, peer| {
        let head = peer.head();
        peer.say(&answer(&asked(&head)));
    });
    run(async {
        let (result, done) = act(&mut client(json!({"url": script.url})), &step(vector()), "x").await;
        assert_eq!(done.calls, 1);
        (result, done.bytes)
    })
}

fn failed(text: &str) -> Result<(), Failure> {
    Err(Failure::failed(text))
}

#[test]
fn pieces_come_in_any_order_or_as_one() {
    let right = |ranges: &[(u64, u64)]| ranges.iter().map(|(a, b)| part(*a, *b, &data(*a, *b))).collect::<Vec<_>>();
    assert_eq!(outcome(move |ranges| multipart(&right(ranges))), (Ok(()), 300));
    assert_eq!(outcome(move |ranges| multipart(&right(ranges).into_iter().rev().collect::<Vec<_>>())), (Ok(()), 300));
    let (result, bytes) = outcome(|ranges| {
        let (begin, end) = (ranges[0].0, ranges[2].1);
        multipart(&[part(begin, end, &data(begin, end))])
    });
    assert!(result.is_ok() && bytes >= 300);
    let (result, bytes) = outcome(|ranges| {
        let (begin, end) = (ranges[0].0, ranges[2].1);
        let head = format!("HTTP/1.1 206 x\r\nContent-Range: bytes {begin}-{}/{SIZE}\r\n\r\n", end - 1);
        [head.as_bytes(), &data(begin, end)].concat()
    });
    assert!(result.is_ok() && bytes >= 300, "{result:?}");
}

#[test]
fn what_is_missing_wrong_or_unasked_is_named() {
    let right = |ranges: &[(u64, u64)], k: usize| part(ranges[k].0, ranges[k].1, &data(ranges[k].0, ranges[k].1));
    assert_eq!(
        outcome(move |ranges| multipart(&[right(ranges, 0), right(ranges, 2)])).0,
        failed("1 of 3 ranges have not come")
    );
    assert_eq!(
        outcome(move |ranges| multipart(&[right(ranges, 0), right(ranges, 0)])).0,
        failed("another range than those asked for")
    );
    let lie = |begin: u64, end: u64| move |_: &[(u64, u64)]| multipart(&[part(begin, end, &data(begin, end))]);
    assert_eq!(outcome(lie(0, SIZE)).0, failed("another range than those asked for"), "all of it");
    let (result, _) = outcome(|ranges| {
        let (begin, end) = ranges[1];
        let mut bytes = data(begin, end);
        bytes[50] ^= 1;
        multipart(&[part(begin, end, &bytes)])
    });
    assert!(result.unwrap_err().message.starts_with("wrong content at offset "));
    let short = |ranges: &[(u64, u64)]| {
        let whole = multipart(&[part(ranges[0].0, ranges[0].1, &data(ranges[0].0, ranges[0].1))]);
        whole[..whole.len() - 50].to_vec()
    };
    assert!(outcome(short).0.unwrap_err().message.starts_with("truncated: "));
    let cut =
        |_: &[(u64, u64)]| b"HTTP/1.1 206 x\r\nContent-Type: multipart/byteranges; boundary=b\r\n\r\n--b\r\n".to_vec();
    assert_eq!(outcome(cut).0, failed("the answer is not a multipart: it ends too early"));
    let none = |_: &[(u64, u64)]| b"HTTP/1.1 206 x\r\nContent-Length: 2\r\n\r\nab".to_vec();
    assert_eq!(outcome(none).0, failed("another range than those asked for"));
    let whole = |_: &[(u64, u64)]| b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab".to_vec();
    assert_eq!(outcome(whole).0, failed("HTTP 200 OK, though only a part was asked for"));
    let other_size = |ranges: &[(u64, u64)]| {
        let head = format!("\r\n--b\r\nContent-Range: bytes {}-{}/9999999\r\n\r\n", ranges[0].0, ranges[0].1 - 1);
        multipart(&[[head.as_bytes(), &data(ranges[0].0, ranges[0].1)].concat()])
    };
    assert_eq!(outcome(other_size).0, failed("size 9999999, expected 10000"));
}

#[test]
fn a_head_of_a_part_without_an_end_is_cut_off() {
    let (result, _) = outcome(|_| {
        let head = b"HTTP/1.1 206 x\r\nContent-Type: multipart/byteranges; boundary=b\r\n\r\n--b\r\n".to_vec();
        [head, b"X: y\r\n".repeat(100_000)].concat()
    });
    assert_eq!(result, failed("the answer is not a multipart: its heads are too long"));
}

#[test]
fn a_sparse_read_is_many_requests() {
    let script = Script::new(|_, peer| {
        loop {
            let head = peer.head();
            if head.is_empty() {
                return;
            }
            let ranges = asked(&head);
            let (begin, end) = ranges[0];
            let one = format!(
                "HTTP/1.1 206 x\r\nContent-Range: bytes {begin}-{}/{SIZE}\r\nContent-Length: 100\r\n\r\n",
                end - 1
            );
            let parts: Vec<_> = ranges.iter().map(|(a, b)| part(*a, *b, &data(*a, *b))).collect();
            peer.say(&if ranges.len() == 1 { [one.as_bytes(), &data(begin, end)].concat() } else { multipart(&parts) });
        }
    });
    run(async {
        let mut client = client(json!({"url": script.url}));
        for (pieces, calls) in [(0, 25), (10, 3)] {
            let mut sparse = vector();
            (sparse["pieces"], sparse["fraction"]) = (json!(pieces), json!(0.25));
            let (result, done) = act(&mut client, &step(sparse), "x").await;
            assert_eq!((result, done.calls, done.bytes), (Ok(()), calls, 2500));
        }
        let mut many = vector();
        many["pieces"] = json!(5000);
        let (result, done) = act(&mut client, &step(many), "x").await;
        let text = "5000 pieces in a request; expected at most 4096 over HTTP";
        assert_eq!((result, done.calls), (failed(text), 0));
    });
}
