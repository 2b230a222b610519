//! A named outcome for each thing that goes wrong.

use std::io::{Read, Write};

use pileup_engine::client::Kind::{self, Ambiguous, Failed, Refused};
use pileup_practice::Server;
use pileup_testing::peer::Listener;
use serde_json::{Value, json};

use crate::kit::{MIB, content, once, plane, server, settings, step};

const MINUTES_16: i64 = 16 * 60 * 1_000_000_000;

/// How a read of an object that is there ends.
fn read(server: &Server, changes: &Value) -> (Kind, String) {
    assert_eq!(once(server, &json!({}), &step("write", json!({"content": content(1000)})), "there").0, Ok(()));
    let failure = once(server, changes, &step("read", json!({"content": content(1000)})), "there").0.unwrap_err();
    (failure.kind, failure.message.clone())
}

#[test]
fn who_may_not_come_in_is_told_why() {
    let server = server(&json!({}));
    let with = |key: &str, secret: &str| json!({"credentials": {"access_key": key, "secret_key": secret}});
    for (changes, text) in [
        (with("other", "open-sesame"), "InvalidAccessKeyId (HTTP 403 Forbidden)"),
        (with("practice", "other"), "SignatureDoesNotMatch (HTTP 403 Forbidden)"),
        (json!({"credentials": null}), "AccessDenied (HTTP 403 Forbidden)"),
    ] {
        assert_eq!(read(&server, &changes), (Refused, text.to_owned()));
    }
    let other = read(&server, &json!({"region": "eu-west-1"}));
    assert_eq!(other, (Failed, "AuthorizationHeaderMalformed (HTTP 400 Bad Request)".to_owned()));
    let other = read(&server, &json!({"bucket": "other"}));
    assert_eq!(other, (Failed, "NoSuchBucket (HTTP 404 Not Found)".to_owned()));
}

#[test]
fn a_token_that_is_over_is_known_by_its_cause() {
    let server = server(&json!({"session_tokens": {"good": 3_600_000_000_000_i64, "over": 0}}));
    let with = |token: &str| json!({"credentials": {"access_key": "practice", "secret_key": "open-sesame", "session_token": token}});
    let write = step("write", json!({"content": content(10)}));
    assert_eq!(once(&server, &with("good"), &write, "a").0, Ok(()));
    let over = once(&server, &with("over"), &write, "a").0.unwrap_err();
    assert_eq!((over.kind, over.message.as_str()), (Refused, "ExpiredToken (HTTP 400 Bad Request)"));
    let other = once(&server, &with("other"), &write, "a").0.unwrap_err();
    assert_eq!((other.kind, other.message.as_str()), (Refused, "InvalidToken (HTTP 400 Bad Request)"));
    assert_ne!(over.cause, other.cause);
}

#[test]
fn clocks_that_are_apart() {
    for (ahead, way) in [(MINUTES_16, "behind"), (-MINUTES_16, "ahead of")] {
        let server = server(&json!({"clock_ahead": ahead}));
        let failure = once(&server, &json!({}), &step("write", json!({"content": content(10)})), "a").0.unwrap_err();
        let text = format!("RequestTimeTooSkewed (HTTP 403 Forbidden): the clock here is 16 min {way} the server's");
        assert_eq!((failure.kind, failure.message.clone()), (Refused, text));
    }
}

#[test]
fn a_server_that_has_too_much_to_do() {
    let faults = json!([{"kind": "refuse", "methods": ["GET"]}]);
    let server = server(&json!({"faults": faults}));
    assert_eq!(read(&server, &json!({})), (Refused, "SlowDown (HTTP 503 Service Unavailable)".to_owned()));
    let listed = once(&server, &json!({}), &step("list", json!({})), "").0.unwrap_err();
    assert_eq!(listed.message, "SlowDown (HTTP 503 Service Unavailable)");
}

#[test]
fn an_error_in_an_answer_of_200_is_an_error_and_nothing_stays() {
    let server = server(&json!({"faults": [{"kind": "error_in_200"}]}));
    let with = json!({"part_size": 5 * MIB});
    let write = step("write", json!({"content": content(6 * MIB)}));
    let (done, acted) = once(&server, &with, &write, "a");
    let failure = done.unwrap_err();
    assert_eq!((failure.kind, failure.message.as_str()), (Failed, "InternalError (in an answer of HTTP 200 OK)"));
    assert_eq!(acted.calls, 5, "begin, two parts, end, and the end of what has failed");
    let missing = once(&server, &with, &step("stat", json!({})), "a").0.unwrap_err();
    assert_eq!(missing.message, "HTTP 404 Not Found");
    let mut plane = plane(&server, &with);
    assert_eq!(pileup_engine::control::Control::query(&mut plane, 2, "").unwrap(), b"0", "no upload was left");
}

#[test]
fn xml_that_is_cut_is_not_taken_for_an_answer() {
    let server = server(&json!({"faults": [{"kind": "broken_xml", "methods": ["GET"]}]}));
    let failure = once(&server, &json!({}), &step("list", json!({})), "").0.unwrap_err();
    assert_eq!(
        (failure.kind, failure.message.as_str()),
        (Failed, "the answer is not a listing of S3: it ends too early")
    );
    let server = crate::kit::server(&json!({"faults": [{"kind": "broken_xml", "methods": ["POST"]}]}));
    let with = json!({"part_size": 5 * MIB});
    let failure = once(&server, &with, &step("write", json!({"content": content(6 * MIB)})), "a").0.unwrap_err();
    let text = "the answer is not the begin of an upload of S3: it ends too early";
    assert_eq!((failure.kind, failure.message.as_str()), (Failed, text));
}

/// A server that answers the requests of a connection with these, whatever they are.
fn saying(answers: &'static [&'static [u8]]) -> Listener {
    Listener::new(move |_, mut stream| {
        for answer in answers {
            let (mut head, mut byte) = (Vec::new(), [0]);
            while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|read| read == 1) {
                head.push(byte[0]);
            }
            let head = String::from_utf8_lossy(&head).into_owned();
            let size = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")?.parse::<usize>().ok());
            let mut body = vec![0; size.unwrap_or(0)];
            if stream.read_exact(&mut body).is_err() || stream.write_all(answer).is_err() {
                return;
            }
        }
    })
}

/// How an upload of two parts ends on a server that says this.
fn upload(answers: &'static [&'static [u8]]) -> (Kind, String) {
    let real = server(&json!({}));
    let listener = saying(answers);
    let url = format!("http://127.0.0.1:{}", listener.port);
    let with = json!({"part_size": 5 * MIB, "http": {"url": url, "expect": "never"}});
    assert!(settings(&real, &with).contains(&url));
    let failure = once(&real, &with, &step("write", json!({"content": content(6 * MIB)})), "a").0.unwrap_err();
    (failure.kind, failure.message.clone())
}

const BEGUN: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 88\r\n\r\n\
    <InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>   ";
const PART: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nETag: \"e\"\r\n\r\n";
const GONE: &[u8] = b"HTTP/1.1 204 No Content\r\n\r\n";

#[test]
fn an_upload_whose_end_cannot_be_understood_may_be_there() {
    let told = upload(&[
        BEGUN,
        PART,
        PART,
        b"HTTP/1.1 200 OK\r\nContent-Length: 39\r\n\r\n<CompleteMultipartUploadResult><ETag>\"e\"",
        GONE,
    ]);
    assert_eq!(told, (Ambiguous, "the answer is not the end of an upload of S3: it ends too early".to_owned()));
    let told = upload(&[
        BEGUN,
        PART,
        PART,
        b"HTTP/1.1 200 OK\r\nContent-Length: 43\r\n\r\n\n\n<Error><Code>InternalError</Code></Error>",
        GONE,
    ]);
    assert_eq!(told, (Failed, "InternalError (in an answer of HTTP 200 OK)".to_owned()));
}

#[test]
fn a_part_without_a_tag_and_a_begin_without_an_id() {
    let told = upload(&[BEGUN, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", GONE]);
    assert_eq!(told, (Failed, "the answer to a part has no ETag".to_owned()));
    let told = upload(&[
        b"HTTP/1.1 200 OK\r\nContent-Length: 63\r\n\r\n<InitiateMultipartUploadResult></InitiateMultipartUploadResult>",
    ]);
    assert_eq!(told.1, "the answer is not the begin of an upload of S3: it has no UploadId");
}
