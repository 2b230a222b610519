//! Who we are for the server and whom we believe: TLS with own or the system's CA certificates, client certificate, token, password.

use std::path::Path;
use std::sync::Arc;

use base64::Engine as _;
use http::HeaderValue;
use rustls::client::Resumption;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

use crate::Settings;
use crate::address::Address;

/// The value of the Authorization header; none without credentials.
///
/// # Errors
/// When a secret would travel unencrypted over a network, or cannot stand in a header.
pub(crate) fn authorization(settings: &Settings, address: &Address) -> Result<Option<HeaderValue>, String> {
    let (kind, text) = match (&settings.token, &settings.user) {
        (Some(_), Some(_)) => {
            return Err(
                "a token and a user are given; expected one of them (take one out of the credentials)".to_owned()
            );
        }
        (Some(token), None) => ("token", format!("Bearer {}", token.trim())),
        (None, Some(user)) => {
            let pair = format!("{user}:{}", settings.password.as_deref().unwrap_or_default());
            ("password", format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(pair)))
        }
        (None, None) if settings.password.is_some() => {
            return Err("a password without a user; expected both (add user to the credentials)".to_owned());
        }
        (None, None) => return Ok(None),
    };
    if !address.tls && !address.is_loopback() {
        return Err(format!(
            "a {kind} would travel unencrypted to {}; expected https, or a loopback address (write https:// in the url, or take the {kind} out)",
            address.host
        ));
    }
    let mut value = HeaderValue::from_str(&text).map_err(|_| {
        format!("the {kind} holds a line break or control character; expected plain text (check its file)")
    })?;
    value.set_sensitive(true);
    Ok(Some(value))
}

/// What TLS needs to know; made once for all connections.
///
/// Sessions are not resumed: every connection makes the whole handshake, as one of a new user does.
///
/// # Errors
/// When a file cannot be read or holds the wrong thing.
pub(crate) fn tls(settings: &Settings) -> Result<ClientConfig, String> {
    let roots = match &settings.ca {
        Some(path) => roots_of(path)?,
        None => system_roots()?,
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("TLS cannot be set up: {error}; expected TLS 1.2 and 1.3 (report this as a fault)"))?
        .with_root_certificates(roots);
    let mut config = match &settings.certificate {
        None => builder.with_no_client_auth(),
        Some(path) => {
            let chain = certificates(path, "the client certificate")?;
            let key = private_key(settings.key.as_deref().unwrap_or(path))?;
            builder.with_client_auth_cert(chain, key).map_err(|error| {
                format!(
                    "client certificate {}: {error}; expected a certificate with its own key (check both files)",
                    path.display()
                )
            })?
        }
    };
    config.resumption = Resumption::disabled();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

fn certificates(path: &Path, what: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let wrong = |error: &str| {
        format!(
            "{what} {}: {error}; expected a file with certificates in PEM (correct the path among the credentials)",
            path.display()
        )
    };
    let found = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| wrong(&pem_text(&error)))?;
    if found.is_empty() { Err(wrong("no certificate in it")) } else { Ok(found) }
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, String> {
    PrivateKeyDer::from_pem_file(path).map_err(|error| {
        format!(
            "key {}: {}; expected a file with an unencrypted private key in PEM (correct the path among the credentials)",
            path.display(),
            pem_text(&error)
        )
    })
}

fn pem_text(error: &rustls_pki_types::pem::Error) -> String {
    match error {
        rustls_pki_types::pem::Error::Io(cause) => match cause.kind() {
            std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
            _ => cause.to_string(),
        },
        rustls_pki_types::pem::Error::NoItemsFound => "nothing of the kind in it".to_owned(),
        other => other.to_string(),
    }
}

fn roots_of(path: &Path) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path, "the CA file")? {
        roots.add(certificate).map_err(|error| {
            format!("the CA file {}: {error}; expected CA certificates in PEM (replace the broken one)", path.display())
        })?;
    }
    Ok(roots)
}

fn system_roots() -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        return Err(
            "this machine has no CA certificates; expected some under /etc/ssl or in $SSL_CERT_FILE (install ca-certificates, or give ca among the credentials)"
                .to_owned(),
        );
    }
    Ok(roots)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(url: &str, json: &str) -> Result<Option<HeaderValue>, String> {
        let settings: Settings = serde_json::from_str(json).unwrap();
        authorization(&settings, &Address::parse(url).unwrap())
    }

    #[test]
    fn secrets_travel_encrypted_or_not_at_all() {
        let token = r#"{"url": "", "token": "abc\n"}"#;
        for url in ["https://se01/", "http://127.0.0.1:8000/", "http://localhost/", "http://[::1]/"] {
            let value = header(url, token).unwrap().unwrap();
            assert_eq!(value.as_bytes(), b"Bearer abc");
            assert!(value.is_sensitive());
        }
        let error = header("http://se01/", token).unwrap_err();
        assert_eq!(
            error,
            "a token would travel unencrypted to se01; expected https, or a loopback address (write https:// in the url, or take the token out)"
        );
        assert!(header("http://127.0.0.1.site.org/", r#"{"url": "", "user": "u", "password": "p"}"#).is_err());
    }

    #[test]
    fn basic_is_as_rfc_7617_says() {
        let value =
            header("https://h/", r#"{"url": "", "user": "Aladdin", "password": "open sesame"}"#).unwrap().unwrap();
        assert_eq!(value.as_bytes(), b"Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        assert_eq!(header("http://h/", r#"{"url": ""}"#), Ok(None));
        for json in [r#"{"url": "", "token": "t", "user": "u"}"#, r#"{"url": "", "password": "p"}"#] {
            assert!(header("https://h/", json).unwrap_err().contains("; expected "));
        }
        assert!(!header("https://h/", r#"{"url": "", "token": "a\nsecret"}"#).unwrap_err().contains("secret"));
    }
}
