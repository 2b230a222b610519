//! Copies from one server to the other: what the active one is asked, what its report means, and what is at the destination afterwards.

use pileup_engine::client::{Act, Factory, Failure, Kind};
use pileup_engine::program::Step;
use pileup_practice::Server;
use pileup_webdav::{WebdavClient, WebdavFactory};
use serde_json::{Value, json};

use crate::kit::{Script, act, numbered, run, step};

const SIZE: u64 = 300_000;
const MARKER: &str = "Perf Marker\nStripe Index: 0\nStripe Bytes Transferred: 250000\nEnd\n";

fn between(here: Value, there: Value) -> WebdavClient {
    WebdavFactory::new(&here.to_string(), [("far", there.to_string().as_str())]).unwrap().make(0)
}

/// A copy, or another verb with a second target, to number `n` of `c/0`, `c/1`, ...
fn to(verb: &str, pull: bool, mut changes: Value) -> Step {
    let keys = json!({"prefix": "c/", "count": 9, "width": 0, "order": "sequential", "names": []});
    changes["verb"] = json!(verb);
    changes["destination"] = json!({"target": "far", "keys": keys, "pull": pull});
    step(changes)
}

fn known() -> Value {
    json!({"content": {"seed": 3, "size": SIZE}})
}

fn storage(settings: Value) -> (Server, String) {
    let server = Server::start(&settings.to_string()).unwrap();
    let url = format!("http://127.0.0.1:{}/", server.port());
    (server, url)
}

/// A client of one storage with another as its second target: an object 5 is at `a` of the first, the second has a folder `c`.
async fn prepared(here: Value, there: Value, credentials: [Value; 2]) -> (Server, Server, WebdavClient) {
    let ((near, url), (far, far_url)) = (storage(here), storage(there));
    let [mut own, mut other] = credentials;
    (own["url"], other["url"]) = (json!(url), json!(far_url));
    let mut there = between(other.clone(), own.clone());
    assert_eq!(act(&mut there, &step(json!({"verb": "mkdir"})), "c").await.0, Ok(()));
    let mut client = between(own, other);
    let mut write = known();
    write["verb"] = json!("write");
    assert_eq!(numbered(&mut client, &step(write), "a", 5).await.0, Ok(()));
    (near, far, client)
}

fn broken_off() -> Result<(), Failure> {
    Err(Failure::ambiguous("the report on the copy broke off"))
}

#[test]
fn an_object_goes_either_way_and_is_verified() {
    let tokens = [json!({"token": "near"}), json!({"token": "far"})];
    run(async {
        let (near, far) = (json!({"token": "near"}), json!({"token": "far", "markers": 1_000_000}));
        let (_near, _far, mut client) = prepared(near, far, tokens).await;
        for pull in [true, false] {
            let (result, done) = numbered(&mut client, &to("copy", pull, known()), "a", 5).await;
            assert_eq!((result, done.bytes, done.calls), (Ok(()), SIZE, 1), "pull: {pull}");
            assert_eq!(done.parts.iter().map(|part| part.bytes).sum::<u64>(), SIZE);
            assert!(done.parts.iter().all(|part| part.what == "marker" && part.begun <= part.ended));
            let sums = to("checksum", pull, known());
            assert_eq!(numbered(&mut client, &sums, "a", 5).await.0, Ok(()));
            let other = "checksum: the adler32 that the server states is not that of what was written";
            assert_eq!(numbered(&mut client, &sums, "a", 6).await.0, Err(Failure::failed("HTTP 404 Not Found")));
            let content = json!({"content": {"seed": 4, "size": SIZE}});
            assert_eq!(
                numbered(&mut client, &to("checksum", pull, content), "a", 5).await.0,
                Err(Failure::failed(other))
            );
            let mut once = known();
            once["new"] = json!(true);
            let taken = numbered(&mut client, &to("copy", pull, once), "a", 5).await.0.unwrap_err();
            assert!(taken.message.contains("exists already") || taken.message.contains("412"), "{taken:?}");
        }
    });
}

#[test]
fn of_an_unknown_object_the_source_says_how_large_it_is_and_which_sum_it_has() {
    run(async {
        let (_near, _far, mut client) = prepared(json!({}), json!({}), [json!({}), json!({})]).await;
        let (result, done) = numbered(&mut client, &to("copy", true, json!({})), "a", 5).await;
        assert_eq!((result, done.bytes, done.calls), (Ok(()), SIZE, 2));
        assert_eq!(numbered(&mut client, &to("checksum", true, json!({})), "a", 5).await.0, Ok(()));
        let missing = numbered(&mut client, &to("copy", true, json!({})), "nothing", 5).await;
        assert_eq!((missing.0, missing.1.calls), (Err(Failure::failed("HTTP 404 Not Found")), 1));
    });
}

#[test]
fn what_went_wrong_on_the_way_has_its_outcome_and_the_destination_says_the_same() {
    let fault = |kind: &str| json!({"faults": [{"kind": kind, "methods": ["COPY"]}]});
    let failed = |text: &str| Err(Failure::failed(text));
    let differs = failed("checksum: the adler32 that the server states is not that of what was written");
    let missing = failed("HTTP 404 Not Found");
    for pull in [true, false] {
        for (kind, copied, found) in [
            ("error_in_202", failed("the copy failed: an error on purpose"), missing.clone()),
            ("truncate", broken_off(), missing.clone()),
            ("wrong_byte", Ok(()), differs.clone()),
            ("refuse", Err(Failure::refused("HTTP 503 Service Unavailable")), missing.clone()),
        ] {
            run(async {
                let (near, far) = if pull { (json!({}), fault(kind)) } else { (fault(kind), json!({})) };
                let (_near, _far, mut client) = prepared(near, far, [json!({}), json!({})]).await;
                let (result, _) = numbered(&mut client, &to("copy", pull, known()), "a", 5).await;
                match (pull, kind) {
                    (false, "error_in_202") => assert!(result.unwrap_err().message.starts_with("the copy failed: ")),
                    _ => assert_eq!(result, copied, "{kind}, pull: {pull}"),
                }
                assert_eq!(numbered(&mut client, &to("checksum", pull, known()), "a", 5).await.0, found, "{kind}");
            });
        }
    }
}

#[test]
fn tokens_of_both_ends_are_needed_and_each_is_for_its_own() {
    let settings = || (json!({"token": "near"}), json!({"token": "far"}));
    run(async {
        let (near, far) = settings();
        let right = [json!({"token": "near"}), json!({"token": "far"})];
        let (near, far, _) = prepared(near, far, right).await;
        let url = |server: &Server| format!("http://127.0.0.1:{}/", server.port());
        for (own, other, pull, expected) in [
            ("near", "wrong", true, Err(Failure::refused("HTTP 401 Unauthorized"))),
            ("wrong", "far", true, Err(Failure::failed("the copy failed: the other server answers 401"))),
            ("wrong", "far", false, Err(Failure::refused("HTTP 401 Unauthorized"))),
            ("near", "wrong", false, Err(Failure::failed("the copy failed: the other server answers 401"))),
        ] {
            let mut client =
                between(json!({"url": url(&near), "token": own}), json!({"url": url(&far), "token": other}));
            let copy = to("copy", pull, known());
            assert_eq!(numbered(&mut client, &copy, "a", 5).await.0, expected, "{own}, {other}, pull: {pull}");
        }
    });
}

#[test]
fn a_report_says_how_the_copy_has_ended_whatever_the_status() {
    let ambiguous = |text: &str| Err(Failure::ambiguous(text));
    let failed = |text: &str| Err(Failure::failed(text));
    let chunked = |status: &str, body: &str| {
        format!("HTTP/1.1 {status}\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n", body.len())
    };
    let marked = |end: &str| format!("{MARKER}{end}");
    let cut = format!("HTTP/1.1 202 x\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{MARKER}\r\n", MARKER.len());
    let cases = [
        (chunked("202 Accepted", &marked("success: Created\n")), Ok(()), SIZE),
        (
            chunked("201 Created", &marked("failure: no room at /data/x\n")),
            failed("the copy failed: no room at PATH"),
            250_000,
        ),
        (chunked("202 Accepted", &marked("")), ambiguous("the report on the copy ended without a result"), 250_000),
        (chunked("202 Accepted", "hello\n"), ambiguous("HTTP 202 Accepted without a report on the copy"), 0),
        (chunked("201 Created", "hello\n"), Ok(()), SIZE),
        (cut.clone(), broken_off(), 250_000),
        (cut.replacen(MARKER, &MARKER.replace("End", "end"), 1), broken_off(), 250_000),
        ("HTTP/1.1 204 x\r\n\r\n".to_owned(), Ok(()), SIZE),
        ("HTTP/1.1 207 x\r\nContent-Length: 0\r\n\r\n".to_owned(), failed("HTTP 207 Multi-Status"), 0),
        (
            "HTTP/1.1 405 x\r\nContent-Length: 0\r\n\r\n".to_owned(),
            failed("HTTP 405: the server makes no third-party copies"),
            0,
        ),
        (
            "HTTP/1.1 501 x\r\nContent-Length: 0\r\n\r\n".to_owned(),
            failed("HTTP 501: the server makes no third-party copies"),
            0,
        ),
        ("HTTP/1.1 403 x\r\nContent-Length: 0\r\n\r\n".to_owned(), Err(Failure::refused("HTTP 403 Forbidden")), 0),
        (String::new(), ambiguous("connection closed before the answer"), 0),
    ];
    for (answer, expected, bytes) in cases {
        let said: &'static [u8] = Box::leak(answer.clone().into_bytes().into_boxed_slice());
        let script = Script::answering(said);
        run(async {
            let mut client = between(json!({"url": "http://127.0.0.1:1/"}), json!({"url": script.url}));
            let (result, done): (_, Act) = numbered(&mut client, &to("copy", true, known()), "a", 5).await;
            assert_eq!((result, done.bytes), (expected, bytes), "{answer}");
        });
    }
}

#[test]
fn the_active_server_is_asked_in_the_words_of_the_standard() {
    let script = Script::answering(b"HTTP/1.1 201 x\r\nContent-Length: 0\r\n\r\n");
    run(async {
        let near = json!({"url": "http://127.0.0.1:1/n/", "token": "t1", "headers": [["x-extra", "y"]]});
        let mut client = between(near, json!({"url": script.url, "token": "t2"}));
        let mut copy = to("copy", true, known());
        copy.destination.as_mut().unwrap().streams = Some(4);
        copy.new = true;
        assert_eq!(numbered(&mut client, &copy, "a b", 5).await.0, Ok(()));
    });
    let head = script.heads.lock().unwrap()[0].clone();
    assert!(head.starts_with("COPY /c/5 HTTP/1.1\r\n"), "{head}");
    for line in [
        "Source: http://127.0.0.1:1/n/a%20b",
        "Overwrite: F",
        "Credential: none",
        "X-Number-Of-Streams: 4",
        "Authorization: Bearer t2",
        "TransferHeaderAuthorization: Bearer t1",
        "TransferHeaderX-Extra: y",
    ] {
        assert!(head.contains(&format!("\r\n{line}\r\n")), "{line} is not in {head}");
    }
    assert!(!head.contains("\r\nX-Extra"), "{head}");
}

#[test]
fn a_redirect_elsewhere_gets_no_credentials() {
    let other = Script::answering(b"HTTP/1.1 201 x\r\nContent-Length: 0\r\n\r\n");
    let to_other = format!("HTTP/1.1 307 x\r\nLocation: {}c/5\r\nContent-Length: 0\r\n\r\n", other.url);
    let script = Script::answering(Box::leak(to_other.into_bytes().into_boxed_slice()));
    run(async {
        let near = json!({"url": "http://127.0.0.1:1/", "token": "t1"});
        let far = json!({"url": script.url, "token": "t2", "redirect_writes": true});
        assert_eq!(numbered(&mut between(near, far), &to("copy", true, known()), "a", 5).await.0, Ok(()));
    });
    let head = other.heads.lock().unwrap()[0].clone();
    assert!(head.contains("\r\nSource: http://127.0.0.1:1/a\r\n") && !head.contains("Bearer"), "{head}");
}

#[test]
fn what_cannot_be_copied_is_named_before_anything_is_asked() {
    run(async {
        let url = "http://127.0.0.1:1/";
        let mut same = between(json!({"url": url}), json!({"url": url}));
        let copy = to("copy", true, known());
        let told = "source and destination are the same object; expected two";
        assert_eq!(numbered(&mut same, &copy, "c/5", 5).await.0, Err(Failure::failed(told)));
        let mut plain = between(json!({"url": url, "token": "t"}), json!({"url": "http://far.invalid/"}));
        let failure = numbered(&mut plain, &copy, "a", 5).await.0.unwrap_err();
        assert!(failure.message.contains("would travel unencrypted"), "{failure:?}");
        let mut alone = crate::kit::client(json!({"url": url}));
        let told = "the second target is not open; expected one that the test names";
        assert_eq!(numbered(&mut alone, &copy, "a", 5).await.0, Err(Failure::failed(told)));
        let failure = numbered(&mut same, &to("copy", true, known()), "../a", 5).await.0.unwrap_err();
        assert_eq!(failure.kind, Kind::Failed);
        assert!(failure.message.starts_with("the path leaves"), "{failure:?}");
    });
}
