//! Each verb, on a server that checks signatures.

use pileup_engine::client::{Failure, NOT_OURS};
use serde_json::{Value, json};

use crate::kit::{MIB, content, once, server, step};

const NAMES: [&str; 4] = ["plain", "folder/a b+c!", "folder/e\u{301}\u{1f980}&<", "folder/sub/~x=%41"];

#[test]
fn what_is_written_is_read_back_under_any_name() {
    let server = server(&json!({}));
    for payload in ["signed", "unsigned"] {
        let with = json!({"payload": payload});
        for key in NAMES {
            let of = |verb: &str, more: Value| {
                let mut words = json!({"content": content(300_000)});
                pileup_testing::merge(&mut words, &more);
                once(&server, &with, &step(verb, words), key)
            };
            let (done, acted) = of("write", json!({}));
            assert_eq!((done, acted.bytes, acted.calls), (Ok(()), 300_000, 1), "{key}");
            let (done, acted) = of("read", json!({}));
            assert_eq!((done, acted.bytes, acted.calls), (Ok(()), 300_000, 1), "{key}");
            let (done, acted) = of("read", json!({"offset": 7000, "length": 5000}));
            assert_eq!((done, acted.bytes), (Ok(()), 5000), "{key}");
            let (done, acted) = of("read", json!({"buffer": 100_000}));
            assert_eq!((done, acted.bytes, acted.calls), (Ok(()), 300_000, 3), "{key}");
            assert_eq!(of("stat", json!({})).0, Ok(()), "{key}");
            let (done, _) = of("stat", json!({"content": content(300_001)}));
            assert_eq!(done, Err(Failure::failed("size 300000, expected 300001")));
            assert_eq!(of("delete", json!({})).0, Ok(()), "{key}");
            assert_eq!(of("read", json!({})).0.unwrap_err().message, "NoSuchKey (HTTP 404 Not Found)");
        }
    }
}

#[test]
fn a_bucket_may_be_named_by_the_host() {
    let server = server(&json!({}));
    let via = format!("127.0.0.1:{}", server.port());
    let http = json!({"url": format!("http://localhost:{}", server.port()), "via": via});
    let named = json!({"http": http, "addressing": "virtual"});
    assert_eq!(once(&server, &named, &step("write", json!({"content": content(1000)})), "a").0, Ok(()));
    assert_eq!(once(&server, &json!({}), &step("read", json!({"content": content(1000)})), "a").0, Ok(()));
    let listed = once(&server, &named, &step("list", json!({"expect": {"entries": 1}})), "");
    assert_eq!(listed.0, Ok(()));
}

#[test]
fn what_is_new_replaces_nothing() {
    let server = server(&json!({}));
    let parts = json!({"part_size": 5 * MIB});
    for (with, size) in [(json!({}), 1000), (parts, 6 * MIB)] {
        let write = step("write", json!({"content": content(size), "new": true}));
        let key = format!("new-{size}");
        assert_eq!(once(&server, &with, &write, &key).0, Ok(()));
        assert_eq!(once(&server, &with, &write, &key).0, Err(Failure::failed(NOT_OURS)));
    }
}

#[test]
fn large_objects_go_in_parts_each_with_its_sum() {
    let server = server(&json!({}));
    for checksum in ["crc32", "crc32c", "sha256"] {
        let with = json!({"part_size": 5 * MIB, "checksum": checksum});
        let write = step("write", json!({"content": content(11 * MIB + 1)}));
        let (done, acted) = once(&server, &with, &write, checksum);
        assert_eq!((done, acted.calls, acted.bytes), (Ok(()), 5, 11 * MIB + 1), "begin, three parts, end");
        for (verb, size, expected) in [
            ("read", 11 * MIB + 1, Ok(())),
            ("checksum", 11 * MIB + 1, Ok(())),
            ("checksum", 11 * MIB, Err("checksum: what the server states is not the sum of what was written")),
        ] {
            let (done, _) = once(&server, &with, &step(verb, json!({"content": content(size)})), checksum);
            assert_eq!(done.map_err(|failure| failure.message.clone()), expected.map_err(str::to_owned), "{verb}");
        }
        let small = step("write", json!({"content": content(5 * MIB)}));
        assert_eq!(once(&server, &with, &small, "small").1.calls, 1, "what is not larger than a part is sent at once");
        assert_eq!(once(&server, &with, &step("checksum", json!({"content": content(5 * MIB)})), "small").0, Ok(()));
    }
    // whichever the server states, a target without one has it compared
    assert_eq!(once(&server, &json!({}), &step("checksum", json!({"content": content(5 * MIB)})), "small").0, Ok(()));
    assert_eq!(once(&server, &json!({}), &step("write", json!({"content": content(100)})), "bare").0, Ok(()));
    let sum = |words: Value| once(&server, &json!({}), &step("checksum", words), "bare");
    let (done, _) = sum(json!({"content": content(100), "checksum": "adler32"}));
    assert_eq!(done, Err(Failure::failed("checksum: the server states none that can be compared")));
    let (done, acted) = sum(json!({"content": content(100), "checksum": "if stated"}));
    assert_eq!((done, acted.not_stated), (Ok(()), true));
    let (done, acted) = sum(json!({"content": null, "checksum": "if stated"}));
    assert_eq!((done, acted.not_stated), (Ok(()), true));
    assert!(sum(json!({"content": null})).0.unwrap_err().message.contains("pileup has not written"));
}

#[test]
fn listings_go_on_page_by_page() {
    let server = server(&json!({"page": 3}));
    for number in 0..7 {
        let write = step("write", json!({"content": content(10)}));
        assert_eq!(once(&server, &json!({}), &write, &format!("list/f{number}")).0, Ok(()));
        assert_eq!(once(&server, &json!({}), &write, &format!("list/d{}/x", number / 3)).0, Ok(()));
    }
    let (done, acted) = once(&server, &json!({}), &step("list", json!({"expect": {"entries": 10}})), "list");
    assert_eq!((done, acted.calls), (Ok(()), 4), "three folders and seven objects");
    let (done, _) = once(&server, &json!({}), &step("list", json!({"expect": {"entries": 9}})), "list/");
    assert_eq!(done, Err(Failure::failed("10 entries, expected 9")));
    assert_eq!(once(&server, &json!({}), &step("list", json!({"expect": {"entries": 0}})), "nothing").0, Ok(()));
}

#[test]
fn what_s3_cannot_do_is_said() {
    let server = server(&json!({}));
    for (verb, words, why) in [
        ("rename", json!({"to": ".b"}), "this protocol has no rename"),
        ("request", json!({}), "this protocol has no request"),
        ("mkdir", json!({}), "S3 has no folders to make"),
        ("read", json!({"span": 100, "length": 10, "pieces": 4}), "one range in a request"),
        ("read", json!({"length": 0}), "a part of 0 bytes"),
        ("read", json!({"read_ahead": 7}), "expected no read_ahead"),
        ("write", json!({"content": content(9), "checksum": "adler32"}), "S3 has no Adler-32"),
    ] {
        let (done, acted) = once(&server, &json!({}), &step(verb, words), "a");
        let told = done.unwrap_err().message.clone();
        assert!(told.contains(why) && acted.calls == 0, "{verb}: {told}");
    }
    assert_eq!(once(&server, &json!({}), &step("mkdir", json!({"missing_ok": true})), "a/b").0, Ok(()));
    let (done, _) = once(&server, &json!({}), &step("stat", json!({})), "a/../b");
    assert!(done.unwrap_err().message.contains("leaves the target's prefix"));
}
