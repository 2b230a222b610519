//! The server's side of TLS.

use std::path::Path;
use std::sync::Arc;

use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

use crate::error::Error;
use crate::front::Tls;

/// Read the files.
pub(crate) fn config(tls: &Tls) -> Result<ServerConfig, Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong("TLS", &tls.certificate, &error))?;
    let builder = match &tls.client_ca {
        None => builder.with_no_client_auth(),
        Some(path) => {
            let mut roots = RootCertStore::empty();
            for certificate in certificates(path)? {
                roots.add(certificate).map_err(|error| wrong("client_ca", path, &error))?;
            }
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
                .build()
                .map_err(|error| wrong("client_ca", path, &error))?;
            builder.with_client_cert_verifier(verifier)
        }
    };
    let key = PrivateKeyDer::from_pem_file(&tls.key).map_err(|error| wrong("key", &tls.key, &error))?;
    let mut config = builder
        .with_single_cert(certificates(&tls.certificate)?, key)
        .map_err(|error| wrong("certificate", &tls.certificate, &error))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let found: Vec<_> = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(|error| wrong("certificate", path, &error))?;
    if found.is_empty() { Err(wrong("certificate", path, &"nothing of the kind in it")) } else { Ok(found) }
}

fn wrong(what: &str, path: &Path, error: &dyn std::fmt::Display) -> Error {
    Error::Settings(format!(
        "tls: {what} {}: {error}; expected a readable file in PEM (correct the settings of the practice storage)",
        path.display()
    ))
}
