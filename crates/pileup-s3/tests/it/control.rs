//! The session for whoever prepares, looks and clears up.

use std::time::Duration;

use pileup_engine::control::{Control, Found};
use pileup_testing::peer::Listener;
use pileup_testing::within;
use serde_json::json;
use tokio::time::timeout;

use crate::kit::{content, once, plane, server, step};

#[test]
fn files_and_prefixes() {
    let server = server(&json!({"page": 2}));
    let mut plane = plane(&server, &json!({"checksum": "crc32c"}));
    plane.connect().unwrap();
    assert!(plane.query(1, "").unwrap().starts_with(b"pileup-practice/"));
    plane.mkdir("a/b", true).unwrap();
    assert_eq!(plane.stat("a/b").unwrap_err().found, Found::Nothing, "a prefix is there when something is in it");
    for name in ["a/b/1", "a/b/2", "a/b/3", "a/c"] {
        plane.write(name, name.as_bytes(), true, true).unwrap();
    }
    assert_eq!(plane.write("a/c", b"x", false, true).unwrap_err().found, Found::Something);
    plane.write("a/c", b"other", false, false).unwrap();
    assert_eq!(plane.read("a/c", 0, None).unwrap(), b"other");
    assert_eq!(plane.read("a/c", 1, Some(3)).unwrap(), b"the");
    assert_eq!(plane.read("a/d", 0, None).unwrap_err().found, Found::Nothing);
    let listed = |plane: &mut pileup_s3::plane::Plane, key: &str| -> Vec<(String, u64, u32)> {
        let found = plane.list(key).unwrap().into_iter();
        found.map(|(name, of)| (String::from_utf8(name).unwrap(), of.size, of.flags)).collect()
    };
    assert_eq!(listed(&mut plane, "a"), [("b".to_owned(), 0, 2), ("c".to_owned(), 5, 0)]);
    assert_eq!(listed(&mut plane, "a/b").len(), 3);
    assert_eq!((plane.stat("a").unwrap().flags, plane.stat("a/c").unwrap().size), (2, 5));
    assert_eq!(plane.stat("").unwrap().flags, 2, "the target's own is always there");
    assert_eq!(plane.checksum("a/c").unwrap(), ("crc32c".to_owned(), "uTja5A==".to_owned()));
    plane.delete("a/c").unwrap();
    assert_eq!(plane.stat("a/c").unwrap_err().found, Found::Nothing);
    assert!(plane.rename("a", "b").unwrap_err().failure.message.contains("no object another name"));
    plane.close();
    assert_eq!(listed(&mut plane, "a").len(), 1, "the next call begins a new session");
}

#[test]
fn uploads_that_were_broken_off_are_ended() {
    // parts are not answered, and the client is dropped, as at its timeout
    let server = server(&json!({"faults": [{"kind": "stall", "for": 60_000_000_000_i64, "methods": ["PUT"]}]}));
    let with = json!({"part_size": 5 << 20});
    for key in ["mine/a", "mine/b", "others/c"] {
        let write = step("write", json!({"content": content(6 << 20)}));
        let cut = within(Duration::from_secs(20), async {
            let mut client = crate::kit::client(&server, &with);
            timeout(Duration::from_millis(300), crate::kit::act(&mut client, &write, key)).await.is_err()
        });
        assert!(cut);
    }
    let mut plane = plane(&server, &with);
    assert_eq!(plane.query(2, "mine").unwrap(), b"2");
    assert_eq!(plane.query(2, "mine").unwrap(), b"0");
    assert_eq!(plane.query(2, "").unwrap(), b"1");
}

#[test]
fn a_server_that_says_nothing_is_waited_for_no_longer_than_was_said() {
    let server = server(&json!({}));
    let listener = Listener::new(|_, stream| {
        std::thread::sleep(Duration::from_millis(1500));
        drop(stream);
    });
    let http = json!({"http": {"url": format!("http://127.0.0.1:{}", listener.port)}});
    let text = crate::kit::settings(&server, &http);
    let mut plane = pileup_s3::plane::Plane::new(&text, Duration::from_millis(300)).unwrap();
    assert_eq!(plane.stat("a").unwrap_err().failure.message, "no answer within 0.3 s");
    assert_eq!(once(&server, &json!({}), &step("list", json!({})), "").0, Ok(()));
}
