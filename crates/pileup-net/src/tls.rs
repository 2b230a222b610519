//! TLS: trust in given or the system's CA certificates, and a client certificate.

use std::path::Path;
use std::sync::Arc;

use rustls::client::{ResolvesClientCert, Resumption};
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, InconsistentKeys, RootCertStore, SignatureScheme};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::TlsConnector;

use crate::certificate::fingerprint;
use crate::unusable::Unusable;
use crate::verify::Judge;

/// What says so; the files are PEM.
#[derive(Clone, Copy, Debug, Default)]
pub struct Files<'a> {
    /// CA certificates to trust, a file or a folder of files; none: the system's.
    pub ca: Option<&'a Path>,
    /// The client certificate and its chain.
    pub certificate: Option<&'a Path>,
    /// Its key; none: in the same file.
    pub key: Option<&'a Path>,
    /// Whether sessions are resumed. Not: every connection makes the whole handshake, as one of a new user does.
    pub resume: bool,
    /// The server's certificate itself, by its SHA-256 in hexadecimal digits; none: it is verified by the CA certificates.
    pub pinned: Option<&'a str>,
    /// Whether the server's certificate is not looked at.
    pub insecure: bool,
}

/// What to do about a file that is not what it should be.
const PATH: &str = "correct the path among the credentials";

/// What TLS needs to know; made once for all connections.
#[derive(Clone)]
pub struct Trust(TlsConnector);

impl Trust {
    /// Read the files. `protocols` are offered by ALPN (RFC 7301), none: nothing is said of it.
    ///
    /// # Errors
    /// When a file cannot be read or holds the wrong thing, in three parts.
    pub fn new(files: Files<'_>, protocols: &[&[u8]]) -> Result<Self, Unusable> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let judge = match (files.pinned, files.ca) {
            (Some(pinned), _) => Judge::fingerprint(fingerprint(pinned)?, Arc::clone(&provider)),
            _ if files.insecure => Judge::nothing(Arc::clone(&provider)),
            (None, Some(path)) => {
                let (roots, given) = roots_of(path)?;
                Judge::authorities(roots, given, Arc::clone(&provider))?
            }
            (None, None) => Judge::authorities(system_roots()?, Vec::new(), Arc::clone(&provider))?,
        };
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| {
                Unusable::new(format!("TLS cannot be set up: {error}"), "TLS 1.2 and 1.3", "report this as a bug")
            })?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(judge));
        let mut config = match files.certificate {
            None => builder.with_no_client_auth(),
            Some(path) => builder.with_client_cert_resolver(Arc::new(Own::new(path, files.key.unwrap_or(path))?)),
        };
        if !files.resume {
            config.resumption = Resumption::disabled();
        }
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        Ok(Self(TlsConnector::from(Arc::new(config))))
    }

    /// What makes connections.
    #[must_use]
    pub fn connector(&self) -> &TlsConnector {
        &self.0
    }

    /// The name that a certificate is checked against.
    ///
    /// # Errors
    /// When it is none, in three parts.
    pub fn name(host: &str) -> Result<ServerName<'static>, Unusable> {
        ServerName::try_from(host.to_owned()).map_err(|_| {
            Unusable::new(format!("{host:?} is not a host name"), "a DNS name or an address", "correct the url")
        })
    }
}

/// Our certificate, shown to every server that asks for one.
///
/// What is in it is not looked at: rustls does not take X.509 proxies (RFC 3820), since a proxy has a critical extension
/// that it does not know. The server judges it.
#[derive(Debug)]
struct Own(Arc<CertifiedKey>);

impl Own {
    fn new(path: &Path, key: &Path) -> Result<Self, Unusable> {
        let wrong = |error: rustls::Error| {
            let what = format!("client certificate {}: {error}", path.display());
            Unusable::new(what, "a certificate with its own key", "check both files")
        };
        let chain = certificates(path, "the client certificate")?;
        let key = rustls::crypto::ring::sign::any_supported_type(&private_key(key)?).map_err(wrong)?;
        let own = CertifiedKey::new(chain, key);
        match own.keys_match() {
            Err(error @ rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch)) => Err(wrong(error)),
            _ => Ok(Self(Arc::new(own))),
        }
    }
}

impl ResolvesClientCert for Own {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0))
    }

    fn has_certs(&self) -> bool {
        true
    }
}

fn certificates(path: &Path, what: &str) -> Result<Vec<CertificateDer<'static>>, Unusable> {
    let wrong = |error: &str| {
        let what = format!("{what} {}: {error}", path.display());
        Unusable::new(what, "a file with certificates in PEM", PATH)
    };
    let found = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| wrong(&pem_text(&error)))?;
    if found.is_empty() { Err(wrong("no certificate in it")) } else { Ok(found) }
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, Unusable> {
    PrivateKeyDer::from_pem_file(path).map_err(|error| {
        let what = format!("key {}: {}", path.display(), pem_text(&error));
        Unusable::new(what, "a file with an unencrypted private key in PEM", PATH)
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

/// The CA certificates of a file or a folder, and those of a file as they are: one may be the server's own.
fn roots_of(path: &Path) -> Result<(RootCertStore, Vec<CertificateDer<'static>>), Unusable> {
    let mut roots = RootCertStore::empty();
    if path.is_dir() {
        // as the grid has them: certificates under names of any kind, with other files beside
        let files = std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
        for file in files.filter(|file| file.is_file()) {
            roots.add_parsable_certificates(certificates(&file, "").unwrap_or_default());
        }
        if roots.is_empty() {
            let what = format!("the CA folder {}: no certificate in it", path.display());
            return Err(Unusable::new(what, "files with CA certificates in PEM", PATH));
        }
        return Ok((roots, Vec::new()));
    }
    let given = certificates(path, "the CA file")?;
    for certificate in &given {
        roots.add(certificate.clone()).map_err(|error| {
            let what = format!("the CA file {}: {error}", path.display());
            Unusable::new(what, "CA certificates in PEM", "replace the broken one")
        })?;
    }
    Ok((roots, given))
}

fn system_roots() -> Result<RootCertStore, Unusable> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        return Err(Unusable::new(
            "this machine has no CA certificates",
            "some under /etc/ssl or in $SSL_CERT_FILE",
            "install ca-certificates, or give ca among the credentials",
        ));
    }
    Ok(roots)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_none_are_named() {
        let missing = Path::new("/no/such/file.pem");
        let error = |files: Files<'_>| Trust::new(files, &[]).err().unwrap().to_string();
        assert_eq!(
            error(Files { ca: Some(missing), ..Files::default() }),
            "the CA file /no/such/file.pem: there is no such file; expected a file with certificates in PEM (correct the path among the credentials)"
        );
        let empty = std::env::temp_dir().join(format!("pileup-net-tls-{}", std::process::id()));
        std::fs::write(&empty, "").unwrap();
        assert!(error(Files { ca: Some(&empty), ..Files::default() }).contains("no certificate in it; expected"));
        std::fs::remove_file(empty).unwrap();
    }

    /// A file of the tests.
    fn data(name: &str) -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
    }

    #[test]
    fn a_proxy_is_shown_with_its_chain_though_its_extensions_are_not_known() {
        let (proxy, ca) = (data("proxy.pem"), data("user.pem"));
        let own = Own::new(&proxy, &proxy).unwrap();
        assert_eq!(own.resolve(&[], &[]).unwrap().cert.len(), 2);
        assert!(own.0.keys_match().is_err_and(|error| matches!(error, rustls::Error::InvalidCertificate(_))));
        let files = Files { ca: Some(&ca), certificate: Some(&proxy), ..Files::default() };
        assert!(Trust::new(files, &[]).is_ok(), "the key is in the same file");
    }

    #[test]
    fn a_key_of_somebody_else_is_refused() {
        let error = Own::new(&data("user.pem"), &data("other.key")).unwrap_err().to_string();
        assert!(error.contains("expected a certificate with its own key"), "{error}");
    }

    #[test]
    fn names_are_host_names() {
        assert!(Trust::name("se01.site.org").is_ok() && Trust::name("127.0.0.1").is_ok() && Trust::name("::1").is_ok());
        assert!(Trust::name("se 01").unwrap_err().to_string().contains("; expected a DNS name"));
    }
}
