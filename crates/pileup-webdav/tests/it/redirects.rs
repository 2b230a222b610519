//! Redirects as storage elements send them: to a data server, with an end, and without showing strangers who we are.

use pileup_engine::client::{Client, Failure, Kind};
use serde_json::{Value, json};

use crate::kit::{Script, act, client, numbered, run, step};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// A server that sends everything elsewhere, connections kept.
fn head_node(status: u16, location: String) -> Script {
    Script::new(move |_, peer| {
        while !peer.head().is_empty() {
            let answer = format!("HTTP/1.1 {status} x\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n");
            peer.say(answer.as_bytes());
        }
    })
}

/// A server that answers every request with these bytes, connections kept.
fn data_server(answer: &'static [u8]) -> Script {
    Script::new(move |_, peer| {
        while !peer.head().is_empty() {
            peer.say(answer);
        }
    })
}

fn heads(script: &Script) -> Vec<String> {
    script.heads.lock().unwrap().iter().filter(|head| !head.is_empty()).cloned().collect()
}

#[test]
fn a_redirect_is_followed_on_kept_connections_and_every_hop_is_a_call() {
    for status in [301, 302, 307, 308] {
        let data = data_server(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        let head = head_node(status, format!("{}pool/x?uuid=1", data.url));
        run(async {
            let mut client = client(json!({"url": head.url}));
            client.open().await.unwrap();
            for verb in ["read", "stat", "open", "read"] {
                let (result, done) = act(&mut client, &step(json!({"verb": verb})), "a").await;
                assert_eq!((result, done.calls), (Ok(()), 2), "{status} {verb}");
                assert!(done.first_byte > 0 && done.sent);
            }
        });
        assert_eq!((head.connections(), data.connections()), (1, 1), "each server has its connection");
        assert!(heads(&data)[0].starts_with("GET /pool/x?uuid=1 HTTP/1.1\r\nHost: 127.0.0.1:"));
        assert!(heads(&data)[1].starts_with("HEAD /pool/x?uuid=1 "));
    }
}

#[test]
fn the_body_of_an_upload_goes_to_the_data_server_alone() {
    let size = 3 << 20;
    let data = Script::new(move |_, peer| {
        peer.head();
        peer.say(b"HTTP/1.1 100 Continue\r\n\r\n");
        let mut body = vec![0; size];
        std::io::Read::read_exact(&mut peer.stream, &mut body).unwrap();
        peer.say(b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n");
    });
    let head = head_node(307, format!("{}x", data.url));
    run(async {
        let mut client = client(json!({"url": head.url, "redirect_writes": true}));
        let write = step(json!({"verb": "write", "content": {"seed": 1, "size": size}}));
        let (result, done) = numbered(&mut client, &write, "a", 4).await;
        assert_eq!((result, done.bytes, done.calls), (Ok(()), size as u64, 2));
    });
    for head in [heads(&head), heads(&data)] {
        assert!(head[0].starts_with("PUT /") && head[0].contains("\r\nExpect: 100-continue\r\n"), "{head:?}");
    }
}

#[test]
fn s11_what_changes_something_is_not_sent_to_another_host_or_path() {
    let data = data_server(b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n");
    let other_host = data.url.replace("127.0.0.1", "localhost");
    for (location, followed) in
        [(format!("{other_host}a"), false), (format!("{}other", data.url), false), (format!("{}a", data.url), true)]
    {
        for verb in ["write", "delete", "mkdir"] {
            let head = head_node(307, location.clone());
            run(async {
                let (result, done) =
                    act(&mut client(json!({"url": head.url})), &step(json!({"verb": verb})), "a").await;
                assert_eq!((result.is_ok(), done.calls), (followed, if followed { 2 } else { 1 }), "{verb} {location}");
                let words = result.err().map(|failure| failure.message.clone()).unwrap_or_default();
                assert!(followed || words.contains("another host or path, which is not followed"), "{words}");
                let settings = json!({"url": head.url, "redirect_writes": true});
                let (result, _) = act(&mut client(settings), &step(json!({"verb": verb})), "a").await;
                assert_eq!(result, Ok(()), "{verb} {location}");
            });
        }
    }
}

#[test]
fn s1_what_must_be_new_says_so_and_a_no_is_told_in_plain_words() {
    let there = data_server(b"HTTP/1.1 412 Precondition Failed\r\nContent-Length: 0\r\n\r\n");
    run(async {
        for told in [json!({"verb": "write", "new": true}), json!({"verb": "rename", "to": ".x", "new": true})] {
            let (result, _) = act(&mut client(json!({"url": there.url})), &step(told), "a").await;
            assert_eq!(result, Err(Failure::failed("exists already; this run did not make it")));
        }
        let (result, _) = act(&mut client(json!({"url": there.url})), &step(json!({"verb": "write"})), "a").await;
        assert_eq!(result, Err(Failure::failed("HTTP 412 Precondition Failed")));
    });
    let heads: Vec<String> = heads(&there).iter().map(|head| head.to_lowercase()).collect();
    assert!(heads[0].contains("\r\nif-none-match: *\r\n") && heads[1].contains("\r\noverwrite: f\r\n"), "{heads:?}");
    assert!(!heads[2].contains("if-none-match"), "{}", heads[2]);
}

#[test]
fn a_body_is_sent_when_the_server_says_nothing_or_will_not_be_asked() {
    let silent = Script::new(|_, peer| {
        peer.head();
        let mut body = vec![0; 2 << 20];
        std::io::Read::read_exact(&mut peer.stream, &mut body).unwrap();
        peer.say(OK);
    });
    let blunt = Script::new(|_, peer| {
        if peer.head().contains("Expect:") {
            return peer.say(b"HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n");
        }
        let mut body = vec![0; 2 << 20];
        std::io::Read::read_exact(&mut peer.stream, &mut body).unwrap();
        peer.say(OK);
    });
    let write = step(json!({"verb": "write", "content": {"seed": 1, "size": 2 << 20}}));
    run(async {
        for (script, calls) in [(&silent, 1), (&blunt, 2)] {
            let (result, done) = act(&mut client(json!({"url": script.url})), &write, "a").await;
            assert_eq!((result, done.calls, done.bytes), (Ok(()), calls, 2 << 20));
        }
    });
}

#[test]
fn there_is_an_end_to_it() {
    let endless = head_node(307, "/again".to_owned());
    run(async {
        for (redirects, calls) in [(5, 6), (1, 2)] {
            let mut client = client(json!({"url": endless.url, "redirects": redirects}));
            let (result, done) = act(&mut client, &step(json!({"verb": "read"})), "a").await;
            let text = format!("redirected more than {redirects} times, the last time by HTTP 307");
            assert_eq!((result, done.calls), (Err(Failure::failed(text)), calls));
        }
        let mut client = client(json!({"url": endless.url, "redirects": 0}));
        let (result, done) = act(&mut client, &step(json!({"verb": "read"})), "a").await;
        assert_eq!((result, done.calls), (Err(Failure::failed("HTTP 307 Temporary Redirect")), 1));
    });
}

#[test]
fn what_is_not_to_be_followed_is_the_answer() {
    let data = data_server(OK);
    let head = head_node(302, data.url.clone());
    let see_other = head_node(303, data.url.clone());
    run(async {
        let mut one = client(json!({"url": head.url}));
        let request = step(json!({"method": "GET"}));
        assert_eq!(act(&mut one, &request, "a").await.0, Err(Failure::failed("HTTP 302 Found")), "one request is one");
        let expected = step(json!({"verb": "read", "expect": {"statuses": [302]}}));
        assert_eq!(act(&mut one, &expected, "a").await.0, Ok(()));
        let rename = step(json!({"verb": "rename", "to": ".new"}));
        assert_eq!(act(&mut one, &rename, "a").await.0, Err(Failure::failed("HTTP 302 Found")));
        let mut other = client(json!({"url": see_other.url}));
        assert_eq!(
            act(&mut other, &step(json!({"verb": "delete"})), "a").await.0,
            Err(Failure::failed("HTTP 303 See Other"))
        );
        assert_eq!(act(&mut other, &step(json!({"verb": "read"})), "a").await.0, Ok(()));
    });
    assert_eq!(heads(&data).len(), 1);
}

#[test]
fn a_way_to_nowhere_is_named() {
    for (location, words) in [
        ("root://se01//x", "HTTP 307 to what is not a url of an HTTP server"),
        ("http://me:secret@127.0.0.1/", "HTTP 307 to what is not a url of an HTTP server"),
        ("http://127.0.0.1:1/", "connection refused"),
        ("http://no-such-host.invalid/", "name not found"),
    ] {
        let head = head_node(307, location.to_owned());
        run(async {
            let (result, _) = act(&mut client(json!({"url": head.url})), &step(json!({"verb": "read"})), "a").await;
            let failure = if words.starts_with("HTTP") { Failure::failed(words) } else { Failure::unreachable(words) };
            assert_eq!(result, Err(failure));
        });
    }
    let head = head_node(307, format!("/{}", "x".repeat(60_000)));
    run(async {
        let mut client = client(json!({"url": format!("{}{}", head.url, "y".repeat(100))}));
        let (result, _) = act(&mut client, &step(json!({"verb": "read"})), "a").await;
        assert!(result.unwrap_err().message.starts_with("redirected more than 5 times"));
    });
}

/// The head that the data server gets of a client with these settings.
fn told(settings: &Value, trust: impl Fn(&str) -> Value) -> String {
    let data = data_server(OK);
    let head = head_node(307, format!("{}x", data.url));
    let mut settings = settings.clone();
    settings["url"] = json!(head.url);
    settings["trust"] = trust(data.url.trim_start_matches("http://").trim_end_matches('/'));
    run(async {
        assert_eq!(act(&mut client(settings), &step(json!({"verb": "read"})), "a").await.0, Ok(()));
    });
    assert!(heads(&head)[0].contains("secret") || heads(&head)[0].contains("Basic"));
    heads(&data)[0].clone()
}

#[test]
fn strangers_are_not_told_who_we_are() {
    let file = std::env::temp_dir().join(format!("pileup-http-token-{}", std::process::id()));
    std::fs::write(&file, "secret").unwrap();
    for settings in [
        json!({"token": "secret"}),
        json!({"token_file": file}),
        json!({"user": "me", "password": "x"}),
        json!({"headers": [["X-Auth", "secret"]]}),
    ] {
        let strange = told(&settings, |_| json!([]));
        assert!(!strange.contains("secret") && !strange.contains("Authorization"), "{strange}");
        assert!(strange.contains("\r\nUser-Agent: pileup/") && strange.contains("\r\nX-Pileup-Id: 77\r\n"));
        for trusted in [told(&settings, |_| json!(["127.0.0.1"])), told(&settings, |place| json!([place]))] {
            assert!(trusted.contains("secret") || trusted.contains("Authorization: Basic"), "{trusted}");
        }
        let other = told(&settings, |_| json!(["127.0.0.1:1", "pool7.site.org"]));
        assert!(!other.contains("secret") && !other.contains("Authorization"), "{other}");
    }
    std::fs::remove_file(file).unwrap();
}

#[test]
fn a_data_server_that_says_no_has_refused() {
    let data = data_server(b"HTTP/1.1 503 x\r\nContent-Length: 0\r\n\r\n");
    let head = head_node(307, data.url.clone());
    run(async {
        let (result, done) = act(&mut client(json!({"url": head.url})), &step(json!({"verb": "read"})), "a").await;
        assert_eq!((result.unwrap_err().kind, done.calls), (Kind::Refused, 2));
    });
}
