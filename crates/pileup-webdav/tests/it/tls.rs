//! TLS with a CA of its own: who is trusted, who is asked for a certificate.

use std::path::{Path, PathBuf};

use pileup_engine::client::{Client, Failure};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use serde_json::json;

use crate::kit::{act, client, run, step};
use crate::practice::Storage;

/// Files with a CA and a certificate of it for 127.0.0.1.
struct Files(PathBuf);

impl Files {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("pileup-http-tls-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name); // else they would all pass for one another
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let ca = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let host = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap().signed_by(&key, &ca).unwrap();
        let other = CertificateParams::new(vec!["se.site.org".to_owned()]).unwrap().signed_by(&key, &ca).unwrap();
        let files = Self(folder);
        std::fs::write(files.path("ca.pem"), ca.pem()).unwrap();
        std::fs::write(files.path("host.pem"), host.pem()).unwrap();
        std::fs::write(files.path("other.pem"), other.pem()).unwrap();
        std::fs::write(files.path("key.pem"), key.serialize_pem()).unwrap();
        for (name, host, is_ca) in
            [("own.pem", "127.0.0.1", false), ("own-ca.pem", "127.0.0.1", true), ("own-other.pem", "se.site.org", true)]
        {
            let mut params = CertificateParams::new(vec![host.to_owned()]).unwrap();
            params.is_ca = if is_ca { IsCa::Ca(BasicConstraints::Unconstrained) } else { IsCa::ExplicitNoCa };
            std::fs::write(files.path(name), params.self_signed(&key).unwrap().pem()).unwrap();
        }
        std::fs::write(files.path("both.pem"), host.pem() + &key.serialize_pem()).unwrap();
        files
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn storage(&self, name: &str, certificate: &str, client_ca: Option<&Path>) -> Storage {
        let tls = json!({"certificate": self.path(certificate), "key": self.path("key.pem"), "client_ca": client_ca});
        Storage::new(name, json!({"tls": tls}))
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

#[test]
fn a_known_ca_is_trusted_and_others_are_not() {
    let (files, strange) = (Files::new("ca"), Files::new("strange"));
    let storage = files.storage("tls-ca", "host.pem", None);
    run(async {
        for keep_alive in [true, false] {
            let settings = json!({"url": storage.url("https"), "ca": files.path("ca.pem"), "token": "t", "keep_alive": keep_alive});
            let mut client = client(settings);
            let content = json!({"seed": 1, "size": 300_000});
            assert_eq!(act(&mut client, &step(json!({"verb": "write", "content": content})), "a").await.0, Ok(()));
            assert_eq!(act(&mut client, &step(json!({"verb": "read", "content": content})), "a").await.0, Ok(()));
        }
        let mut doubtful = client(json!({"url": storage.url("https"), "ca": strange.path("ca.pem")}));
        let text = doubtful.open().await.unwrap_err().message.clone();
        let begin = "TLS: certificate not trusted (its issuer is not among the CA certificates): subject \"CN=";
        assert!(text.starts_with(begin) && text.contains(", issuer \"CN=") && text.contains(", SHA-256 "), "{text}");
        let mut blunt = client(json!({"url": storage.url("http")}));
        assert!(act(&mut blunt, &step(json!({})), "a").await.0.is_err());
    });
    assert_eq!(storage.lines().len(), 4);
}

#[test]
fn the_name_counts() {
    let files = Files::new("name");
    let storage = files.storage("tls-name", "other.pem", None);
    run(async {
        let mut client = client(json!({"url": storage.url("https"), "ca": files.path("ca.pem")}));
        let text = client.open().await.unwrap_err().message.clone();
        assert!(text.starts_with("TLS: certificate not trusted (it is for another host name): "), "{text}");
    });
}

/// What opening a connection with these settings comes to.
async fn opened(storage: &Storage, mut settings: serde_json::Value) -> Result<(), String> {
    settings["url"] = json!(storage.url("https"));
    client(settings).open().await.map_err(|failure| failure.message.clone())
}

#[test]
fn a5_a_certificate_that_signs_itself_is_trusted_as_its_own_ca() {
    let files = Files::new("own");
    for (name, certificate) in [("tls-own", "own.pem"), ("tls-own-ca", "own-ca.pem")] {
        let storage = files.storage(name, certificate, None);
        run(async {
            assert_eq!(opened(&storage, json!({"ca": files.path(certificate)})).await, Ok(()), "{certificate}");
            let other = opened(&storage, json!({"ca": files.path("ca.pem")})).await.unwrap_err();
            assert!(other.starts_with("TLS: certificate not trusted ("), "{other}");
        });
    }
    let storage = files.storage("tls-own-name", "own-other.pem", None);
    run(async {
        let other = opened(&storage, json!({"ca": files.path("own-other.pem")})).await.unwrap_err();
        assert!(other.contains("(it is for another host name)"), "{other}");
    });
}

#[test]
fn a5_a_pinned_certificate_and_none_at_all() {
    let files = Files::new("pinned");
    let storage = files.storage("tls-pinned", "other.pem", None);
    run(async {
        let untrusted = opened(&storage, json!({"ca": files.path("ca.pem")})).await.unwrap_err();
        let sha256 = untrusted.rsplit(' ').next().unwrap();
        assert_eq!(opened(&storage, json!({"certificate_sha256": sha256})).await, Ok(()));
        assert_eq!(opened(&storage, json!({"insecure": true})).await, Ok(()));
        let wrong =
            opened(&storage, json!({"certificate_sha256": "0".repeat(64), "insecure": true})).await.unwrap_err();
        assert!(wrong.contains("(it is not the one with certificate_sha256)") && wrong.ends_with(sha256), "{wrong}");
    });
}

#[test]
fn a_client_certificate_is_shown_when_asked_for() {
    let files = Files::new("client");
    let storage = files.storage("tls-client", "host.pem", Some(&files.path("ca.pem")));
    run(async {
        let ca = files.path("ca.pem");
        let apart = json!({"certificate": files.path("host.pem"), "key": files.path("key.pem")});
        let together = json!({"certificate": files.path("both.pem")});
        for mut settings in [apart, together] {
            settings["url"] = json!(storage.url("https"));
            settings["ca"] = json!(ca);
            assert_eq!(act(&mut client(settings), &step(json!({})), "").await.0, Ok(()));
        }
        let mut nobody = client(json!({"url": storage.url("https"), "ca": ca}));
        let (result, _) = act(&mut nobody, &step(json!({})), "").await;
        assert_eq!(result, Err(Failure::failed("TLS: the server says that a client certificate is required")));
    });
}

#[test]
fn a_port_without_tls_is_said() {
    let storage = Storage::new("no-tls", json!({}));
    let files = Files::new("none");
    run(async {
        let mut client = client(json!({"url": storage.url("https"), "ca": files.path("ca.pem")}));
        assert_eq!(client.open().await, Err(Failure::failed("TLS: the server does not speak TLS on this port")));
    });
}

#[test]
fn wrong_files_are_named() {
    let files = Files::new("wrong");
    let error = |settings: serde_json::Value| {
        pileup_webdav::WebdavFactory::new(&settings.to_string(), []).err().unwrap().to_string()
    };
    let url = "https://127.0.0.1:1/";
    for (settings, what) in [
        (json!({"url": url, "ca": "/no/such"}), "the CA file /no/such: there is no such file; expected "),
        (json!({"url": url, "ca": files.path("key.pem")}), "no certificate in it; expected "),
        (json!({"url": url, "ca": files.path("ca.pem"), "certificate": files.path("host.pem")}), "key "),
        (json!({"url": url, "key": files.path("key.pem")}), "a key without a certificate; expected "),
        (
            json!({"url": "http://127.0.0.1/", "ca": files.path("ca.pem")}),
            "certificates are given for an http url; expected ",
        ),
        (json!({"url": url, "colour": 1}), "colour"),
    ] {
        let text = error(settings);
        assert!(text.contains(what) && text.contains("; expected "), "{text}");
    }
}
