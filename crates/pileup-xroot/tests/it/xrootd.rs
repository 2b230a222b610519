//! Every verb against XRootD itself.

use pileup_engine::client::{Call, Client, Failure, Kind};
use serde_json::{Value, json};

use crate::kit::{act, acted, client, failed, run, step};
use crate::server::{Xrootd, xrootd};

fn content(size: u64) -> Value {
    json!({"seed": 5, "size": size})
}

/// Settings of a target with TLS or without.
fn settings(server: &Xrootd, scheme: &str, more: Value) -> Value {
    let mut settings = json!({"url": server.url(scheme)});
    if scheme == "roots" {
        settings["ca"] = json!(server.folder.join("cert/ca.pem"));
    }
    settings.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    settings
}

#[test]
fn files_come_back_as_they_were_written() {
    let Some(server) = xrootd("files", "") else { return };
    run(async {
        for (scheme, pages) in [("root", false), ("root", true), ("roots", false), ("roots", true)] {
            let mut client = client(settings(&server, scheme, json!({"page_checksums": pages})));
            client.open().await.unwrap();
            for size in [0, 1, 4096, 5000, 300_001, 9_000_000] {
                let key = format!("{scheme}{pages}{size}");
                let write = json!({"verb": "write", "content": content(size), "checksum": "adler32"});
                let (result, done) = act(&mut client, write, &key).await;
                assert_eq!((result, done.bytes), (Ok(()), size), "{key}");
                assert!(done.calls >= 3 && done.first_byte > 0);
                assert_eq!(std::fs::metadata(server.data(&key)).unwrap().len(), size);
                let read = json!({"verb": "read", "content": content(size), "checksum": "adler32"});
                let (result, done) = act(&mut client, read, &key).await;
                assert_eq!((result, done.bytes), (Ok(()), size), "{key}");
                let other = json!({"verb": "read", "content": {"seed": 6, "size": size}});
                let expected = if size < 2 { Ok(()) } else { failed("wrong content at offset 16") };
                let (result, _) = act(&mut client, other, &key).await;
                assert_eq!(result, expected, "{key}");
                let stat = json!({"verb": "stat", "content": content(size)});
                assert_eq!(act(&mut client, stat, &key).await.0, Ok(()));
                let stat = json!({"verb": "stat", "content": content(size + 1)});
                assert_eq!(
                    act(&mut client, stat, &key).await.0,
                    failed(&format!("size {size}, expected {}", size + 1))
                );
            }
            client.close().await;
        }
    });
}

#[test]
fn parts_and_pieces_are_those_asked_for() {
    let Some(server) = xrootd("parts", "") else { return };
    run(async {
        for pages in [false, true] {
            let mut client = client(settings(&server, "root", json!({"page_checksums": pages})));
            let size = 3_000_000;
            assert_eq!(act(&mut client, json!({"verb": "write", "content": content(size)}), "f").await.0, Ok(()));
            let mut read = async |more: Value, bytes: u64| {
                let mut changes = json!({"verb": "read", "content": content(size)});
                changes.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
                let (result, done) = act(&mut client, changes, "f").await;
                assert_eq!((result, done.bytes), (Ok(()), bytes), "{more} {pages}");
                done.calls
            };
            read(json!({"offset": 100, "length": 5000}), 5000).await;
            read(json!({"offset": 2_999_990}), 10).await;
            read(json!({"offset": 2_999_990, "length": 100}), 10).await;
            read(json!({"offset": 3_000_000}), 0).await;
            read(json!({"offset": 4_000_000, "length": 7}), 0).await;
            assert_eq!(read(json!({"buffer": 100_000}), size).await, 32);
            read(json!({"buffer": 77_777, "read_ahead": 1_000_000}), size).await;
            read(json!({"buffer": 77_777, "offset": 5, "read_ahead": 200_000}), size - 5).await;
            read(json!({"span": size, "length": 4096}), 4096).await;
            assert_eq!(read(json!({"span": size, "length": 1000, "pieces": 100}), 100_000).await, 3);
            assert_eq!(read(json!({"span": size, "length": 1000, "pieces": 1500}), 1_500_000).await, 4);
            read(json!({"span": size, "length": 1000, "fraction": 0.1}), 300_000).await;
            read(json!({"span": size, "length": 1000, "fraction": 0.1, "pieces": 50}), 300_000).await;
            assert_eq!(read(json!({"span": size, "length": 4096, "keep": true}), 4096).await, 2);
            assert_eq!(read(json!({"span": size, "length": 4096, "keep": true}), 4096).await, 1);
            assert_eq!(read(json!({"span": size, "length": 4096}), 4096).await, 2);
            assert_eq!(read(json!({"span": size, "length": 4096}), 4096).await, 3);
            // what was kept open is closed before another is opened
            assert_eq!(read(json!({"span": size, "length": 4096, "keep": true}), 4096).await, 2);
            assert_eq!(act(&mut client, json!({"verb": "stat"}), "f").await.1.calls, 1);
            assert_eq!(act(&mut client, json!({"verb": "open"}), "f").await.1.calls, 1, "it is open; closed then");
            let write = json!({"verb": "write", "content": content(10), "keep": true});
            assert_eq!(act(&mut client, write.clone(), "g").await.1.calls, 2);
            assert_eq!(act(&mut client, write, "g").await.1.calls, 1);
            assert_eq!(act(&mut client, json!({"verb": "open"}), "g").await.1.calls, 2);
        }
    });
}

#[test]
fn names_can_be_made_listed_renamed_and_removed() {
    let Some(server) = xrootd("names", "") else { return };
    run(async {
        let mut client = client(settings(&server, "root", json!({})));
        let mut ok = async |changes: Value, key: &str| act(&mut client, changes, key).await.0;
        assert_eq!(ok(json!({"verb": "mkdir"}), "d").await, Ok(()));
        assert_eq!(ok(json!({"verb": "mkdir", "missing_ok": true}), "d").await, Ok(()));
        for number in 0..300 {
            let key = format!("d/a rather long name of an object, so that a listing is long {number:06}");
            assert_eq!(ok(json!({"verb": "write", "content": content(10)}), &key).await, Ok(()));
        }
        assert_eq!(ok(json!({"verb": "list", "expect": {"entries": 300}}), "d").await, Ok(()));
        assert_eq!(ok(json!({"verb": "list", "expect": {"entries": 3}}), "d").await, failed("300 entries, expected 3"));
        assert_eq!(ok(json!({"verb": "write", "content": content(10)}), "x y").await, Ok(()));
        assert_eq!(ok(json!({"verb": "rename", "to": ".new"}), "x y").await, Ok(()));
        assert!(server.data("x y.new").exists() && !server.data("x y").exists());
        let missing = "xroot 3011 NotFound: no such file or directory";
        for verb in ["stat", "delete", "read", "list", "rename", "open", "checksum"] {
            let said = ok(json!({"verb": verb, "to": "z"}), "none").await.unwrap_err();
            assert!(said.message.starts_with("xroot 3011 NotFound"), "{verb}: {said:?}");
        }
        assert_eq!(ok(json!({"verb": "stat"}), "none").await, failed(missing));
        assert_eq!(ok(json!({"verb": "delete", "missing_ok": true}), "none").await, Ok(()));
        assert_eq!(ok(json!({"verb": "open"}), "x y.new").await, Ok(()));
        assert_eq!(ok(json!({"verb": "connect"}), "").await, Ok(()));
        assert_eq!(ok(json!({"verb": "noop"}), "").await, Ok(()));
        assert!(ok(json!({"verb": "delete"}), "d").await.is_err(), "not empty");
        assert_eq!(ok(json!({"verb": "delete"}), "x y.new").await, Ok(()));
        assert_eq!(ok(json!({"verb": "mkdir"}), "e").await, Ok(()));
        assert_eq!(ok(json!({"verb": "delete"}), "e").await, Ok(()));
        assert!(!server.data("e").exists());
        assert!(ok(json!({"verb": "request"}), "").await.unwrap_err().message.contains("; expected a storage test"));
        assert!(ok(json!({"verb": "copy"}), "").await.unwrap_err().message.starts_with("this protocol has no copy"));
    });
}

#[test]
fn checksums_are_compared_with_what_went_over_the_wire() {
    let Some(server) = xrootd("sums", "") else { return };
    run(async {
        let mut client = client(settings(&server, "root", json!({})));
        let write = step(json!({"verb": "write", "content": content(200_000), "buffer": 3000}));
        let (result, done) = acted(&mut client, &Call { sums: true, ..Call::new(1, &write, 0, "f") }).await;
        assert_eq!(result, Ok(()));
        let read = step(json!({"verb": "read", "buffer": 7000, "read_ahead": 30_000}));
        let (result, again) = acted(&mut client, &Call { sums: true, ..Call::new(1, &read, 0, "f") }).await;
        assert_eq!(result, Ok(()));
        assert!(done.sum.is_some() && done.sum == again.sum);
        let sum = step(json!({"verb": "checksum"}));
        assert_eq!(acted(&mut client, &Call { sum: done.sum, ..Call::new(1, &sum, 0, "f") }).await.0, Ok(()));
        let (result, _) = acted(&mut client, &Call { sum: Some(1), ..Call::new(1, &sum, 0, "f") }).await;
        assert!(result.unwrap_err().message.starts_with("checksum: the adler32"));
        let known = step(json!({"verb": "checksum", "content": content(200_000)}));
        assert_eq!(acted(&mut client, &Call::new(1, &known, 0, "f")).await.0, Ok(()));
        std::fs::write(server.data("g"), vec![1; 200_000]).unwrap();
        assert!(acted(&mut client, &Call::new(1, &known, 0, "g")).await.0.is_err());
        let read = json!({"verb": "read", "content": content(200_000), "verify": false, "checksum": "adler32"});
        assert_eq!(act(&mut client, read, "g").await.0, Ok(()), "what came is what is there");
    });
}

#[test]
fn refusals_are_refused() {
    let Some(server) = xrootd("refused", "all.export /data/ro r/o\noss.defaults nomig\n") else { return };
    run(async {
        let mut client = client(settings(&server, "root", json!({})));
        let (result, _) = act(&mut client, json!({"verb": "write", "content": content(1)}), "ro/x").await;
        let said = result.unwrap_err();
        assert_eq!(said.kind, Kind::Refused, "{said:?}");
        let mut other = crate::kit::client(json!({"url": format!("root://127.0.0.1:{}//elsewhere", server.port)}));
        assert_eq!(act(&mut other, json!({"verb": "stat"}), "x").await.0.unwrap_err().kind, Kind::Refused);
    });
}

#[test]
fn a_name_is_said_where_it_is_asked_for() {
    let Some(server) = xrootd("unix", "xrootd.seclib libXrdSec.so\nsec.protocol unix\nsec.protbind * only unix\n")
    else {
        return;
    };
    run(async {
        let mut client = client(settings(&server, "root", json!({"user": "somebody"})));
        assert_eq!(act(&mut client, json!({"verb": "write", "content": content(10)}), "f").await.0, Ok(()));
        assert!(server.log().contains("somebody"), "{}", server.log());
    });
}

/// Let a future go on only a few steps at a time, as a loop does that has others to look after: what it writes then has to wait in all places
/// where it can.
async fn starved<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let mut turn = 0;
    std::future::poll_fn(move |context| {
        turn += 1;
        for _ in 0..127 - turn % 9 {
            let step = std::pin::pin!(tokio::task::coop::consume_budget());
            let _ = step.poll(context);
        }
        future.as_mut().poll(context)
    })
    .await
}

#[test]
fn a_loop_that_is_busy_with_others_loses_nothing() {
    let Some(server) = xrootd("busy", "") else { return };
    run(async {
        for scheme in ["root", "roots"] {
            let mut client = client(settings(&server, scheme, json!({})));
            for buffer in [10_000, 100_000] {
                let write =
                    json!({"verb": "write", "content": content(1_000_000), "buffer": buffer, "read_ahead": buffer});
                assert_eq!(starved(act(&mut client, write, "f")).await.0, Ok(()));
                let read =
                    json!({"verb": "read", "content": content(1_000_000), "buffer": buffer, "read_ahead": buffer});
                assert_eq!(starved(act(&mut client, read, "f")).await.0, Ok(()));
            }
        }
    });
}

#[test]
fn tls_is_checked_and_a_server_without_is_named() {
    let Some(server) = xrootd("tls", "") else { return };
    run(async {
        let strange = server.folder.join("cert/host.pem");
        let mut client = client(json!({"url": server.url("roots"), "ca": strange}));
        let told = client.open().await.unwrap_err().message.clone();
        let begin = "TLS: certificate not trusted (its issuer is not among the CA certificates): subject \"CN=";
        assert!(told.starts_with(begin), "{told}");
        let sha256 = told.rsplit(' ').next().unwrap();
        for how in [json!({"certificate_sha256": sha256}), json!({"insecure": true})] {
            let mut settings = how;
            settings["url"] = json!(server.url("roots"));
            assert_eq!(crate::kit::client(settings).open().await, Ok(()));
        }
        let named = server.url("roots").replace("127.0.0.1", "localhost");
        let mut client = crate::kit::client(json!({"url": named, "ca": server.folder.join("cert/ca.pem")}));
        let told = client.open().await.unwrap_err().message.clone();
        assert!(told.starts_with("TLS: certificate not trusted (it is for another host name): "), "{told}");
    });
}

#[test]
fn a_server_that_was_started_again_is_found_again() {
    let Some(server) = xrootd("again", "") else { return };
    let url = server.url("root");
    run(async {
        let mut client = client(json!({"url": url}));
        assert_eq!(act(&mut client, json!({"verb": "mkdir"}), "d").await.0, Ok(()));
        drop(server);
        let (result, done) = act(&mut client, json!({"verb": "stat"}), "d").await;
        assert_eq!(result, Err(Failure::unreachable("connection refused")));
        assert!(done.calls == 0 && !done.sent, "the end of its session was seen before the question left");
    });
}
