//! New connections: a whole handshake each, unless sessions are to be resumed; and tokens that change.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use pileup_engine::client::Client;
use rcgen::{CertificateParams, KeyPair};
use rustls::HandshakeKind;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::json;

use crate::kit::{Script, act, client, run, step};

/// A server that answers one request on each connection and notes how hands were shaken; its port, its certificate, the notes.
fn server() -> (u16, String, Arc<Mutex<Vec<HandshakeKind>>>) {
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap().self_signed(&key).unwrap().pem();
    let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(key.serialize_pem().as_bytes()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = Arc::new(config.with_no_client_auth().with_single_cert(chain, key).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let kinds = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&kinds);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let connection = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = rustls::StreamOwned::new(connection, stream.unwrap());
            let mut head = [0; 4096];
            if stream.read(&mut head).is_ok() {
                noted.lock().unwrap().extend(stream.conn.handshake_kind());
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
                let _ = stream.flush();
                let _ = stream.read(&mut head); // until the client takes its leave
            }
        }
    });
    (port, certificate, kinds)
}

#[test]
fn a_new_connection_is_a_whole_handshake_unless_told_otherwise() {
    let (port, certificate, kinds) = server();
    let file = std::env::temp_dir().join(format!("pileup-http-handshake-{}.pem", std::process::id()));
    std::fs::write(&file, certificate).unwrap();
    for (resume, expected) in [
        (json!(null), [HandshakeKind::Full; 3]),
        (json!(true), [HandshakeKind::Full, HandshakeKind::Resumed, HandshakeKind::Resumed]),
    ] {
        let mut settings = json!({"url": format!("https://127.0.0.1:{port}/"), "ca": file, "keep_alive": false});
        if resume == json!(true) {
            settings["resume"] = resume;
        }
        run(async {
            let mut client = client(settings);
            for _ in 0..3 {
                assert_eq!(act(&mut client, &step(json!({})), "x").await.0, Ok(()));
            }
            client.close().await;
        });
        assert_eq!(std::mem::take(&mut *kinds.lock().unwrap()), expected);
    }
    std::fs::remove_file(file).unwrap();
}

#[test]
fn a_token_that_changes_is_told_on_the_connection_there_is() {
    let script = Script::new(|_, peer| {
        while !peer.head().is_empty() {
            peer.say(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        }
    });
    let file = std::env::temp_dir().join(format!("pileup-http-changing-{}", std::process::id()));
    std::fs::write(&file, "first\n").unwrap();
    run(async {
        let mut client = client(json!({"url": script.url, "token_file": file}));
        assert_eq!(act(&mut client, &step(json!({})), "x").await.0, Ok(()));
        std::fs::write(&file, "second one".replace(' ', "-")).unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(1050)).await; // it is looked at once a second
        assert_eq!(act(&mut client, &step(json!({})), "x").await.0, Ok(()));
        std::fs::remove_file(&file).unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(1050)).await;
        let (result, done) = act(&mut client, &step(json!({})), "x").await;
        assert!(result.unwrap_err().message.contains("there is no such file; expected "));
        assert_eq!((done.calls, done.sent), (0, false));
    });
    let heads = script.heads.lock().unwrap();
    let tokens: Vec<_> =
        heads.iter().filter_map(|head| head.split("Authorization: Bearer ").nth(1)?.lines().next()).collect();
    assert_eq!((tokens, script.connections()), (vec!["first", "second-one"], 1));
}
