//! Checksums asked for, new names, and what is done without a request.

use pileup_engine::client::{Act, Call, Client, Failure};
use pileup_engine::content::{self, Object};
use serde_json::json;

use crate::kit::{Script, act, client, run, step};
use crate::practice::Storage;

fn failed(text: &str) -> Result<(), Failure> {
    Err(Failure::failed(text))
}

#[test]
fn the_sum_of_the_server_is_that_of_what_went_over_the_wire() {
    let storage = Storage::new("sums", json!({}));
    let object = Object { seed: 3, number: 5, size: 2_500_000, entropy: 1.0 };
    let known = json!({"seed": 3, "size": object.size});
    let write = step(json!({"verb": "write", "content": known}));
    let mut read = step(json!({"verb": "read"}));
    let checksum = step(json!({"verb": "checksum"}));
    run(async {
        let mut client = client(json!({"url": storage.url("http")}));
        let mut noted = Vec::new();
        for (step, buffer) in [(&write, None), (&read, None), (&read, Some(300_000))] {
            let mut step = step.clone();
            step.buffer = buffer;
            let (mut call, mut done) = (Call::new(1, &step, 5, "a"), Act::default());
            call.sums = true;
            assert_eq!(client.act(&call, &mut done).await, Ok(()));
            assert_eq!(done.bytes, object.size);
            noted.push(done.sum.unwrap());
        }
        assert_eq!(noted, [content::adler32(&object); 3]);
        for (sum, result) in [
            (Some(noted[0]), Ok(())),
            (None, Ok(())),
            (Some(7), failed("checksum: the adler32 that the server states is not that of what went over the wire")),
        ] {
            let (mut call, mut done) = (Call::new(1, &checksum, 5, "a"), Act::default());
            call.sum = sum;
            assert_eq!(client.act(&call, &mut done).await, result);
            assert_eq!((done.calls, done.bytes), (1, 0));
        }
        let other = step(json!({"verb": "checksum", "content": {"seed": 4, "size": object.size}}));
        let text = "checksum: the adler32 that the server states is not that of what was written";
        assert_eq!(act(&mut client, &other, "a").await.0, failed(text));
        read.checksum = pileup_engine::program::Checksum::Adler32;
        assert_eq!(act(&mut client, &read, "a").await.0, Ok(()));
        assert_eq!(act(&mut client, &checksum, "b").await.0, failed("HTTP 404 Not Found"));
    });
}

#[test]
fn a_server_that_states_no_sum_has_not_passed() {
    let script = Script::answering(b"HTTP/1.1 200 OK\r\nDigest: md5=x\r\nContent-Length: 0\r\n\r\n");
    run(async {
        for changes in [json!({"verb": "checksum"}), json!({"verb": "read", "checksum": "adler32"})] {
            let (result, _) = act(&mut client(json!({"url": script.url})), &step(changes), "a").await;
            assert_eq!(result, failed("checksum: the server states no adler32"));
            let optional = step(json!({"verb": "checksum", "checksum": "if stated"}));
            let (result, done) = act(&mut client(json!({"url": script.url})), &optional, "a").await;
            assert_eq!((result, done.not_stated), (Ok(()), true), "A9");
        }
    });
    assert!(script.heads.lock().unwrap().iter().all(|head| head.contains("\r\nWant-Digest: adler32\r\n")));
}

#[test]
fn a_sum_in_the_answer_to_an_upload_is_compared() {
    let script = Script::answering(b"HTTP/1.1 201 x\r\nDigest: adler32=00000001\r\nContent-Length: 0\r\n\r\n");
    run(async {
        let write =
            |size: u64| step(json!({"verb": "write", "checksum": "adler32", "content": {"seed": 1, "size": size}}));
        assert_eq!(act(&mut client(json!({"url": script.url})), &write(0), "a").await.0, Ok(()));
        let text = "checksum: the adler32 that the server states is not that of what was written";
        assert_eq!(act(&mut client(json!({"url": script.url})), &write(9), "a").await.0, failed(text));
    });
}

#[test]
fn a_new_name_is_told_as_a_url() {
    let script = Script::answering(b"HTTP/1.1 201 x\r\nContent-Length: 0\r\n\r\n");
    run(async {
        let mut client = client(json!({"url": format!("{}base?authz=t", script.url)}));
        let rename = step(json!({"verb": "rename", "to": ".new name", "keys": {"suffix": ".old"}}));
        let (result, done) = act(&mut client, &rename, "f/a.old").await;
        assert_eq!((result, done.calls), (Ok(()), 1));
        let away = step(json!({"verb": "rename", "to": "/../../x"}));
        let text = "the path leaves the target's folder; expected one without ..";
        assert_eq!(act(&mut client, &away, "a").await.0, failed(text));
    });
    let head = script.heads.lock().unwrap()[0].clone();
    assert!(head.starts_with("MOVE /base/f/a.old?authz=t HTTP/1.1\r\n"), "{head}");
    assert!(head.contains(&format!("\r\nDestination: {}base/f/a.new%20name\r\n", script.url)), "{head}");
}

#[test]
fn a_session_beside_and_nothing_at_all() {
    let script = Script::answering(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    run(async {
        let mut client = client(json!({"url": script.url}));
        client.open().await.unwrap();
        let (result, done) = act(&mut client, &step(json!({"verb": "noop"})), "a").await;
        assert_eq!((result, done.calls, done.sent), (Ok(()), 0, false));
        let (result, done) = act(&mut client, &step(json!({"verb": "connect"})), "a").await;
        assert_eq!((result, done.calls, done.bytes), (Ok(()), 1, 0));
        let text = "this protocol has no copy in the engine; expected a client that has it, or another test";
        assert_eq!(act(&mut client, &step(json!({"verb": "copy"})), "a").await.0, failed(text));
        let ahead = step(json!({"verb": "read", "read_ahead": 4096}));
        let text = "nothing can be asked for ahead over HTTP; expected no read_ahead";
        assert_eq!(act(&mut client, &ahead, "a").await.0, failed(text));
    });
}
