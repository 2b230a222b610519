//! Whether a server's certificate is trusted: by CA certificates, by its fingerprint, or without a check.

use std::fmt;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, OtherError, RootCertStore, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

use crate::certificate::{Described, digest};
use crate::unusable::Unusable;

/// Why a certificate is trusted.
#[derive(Debug)]
enum By {
    /// CA certificates; one of those given may itself be the server's.
    Authorities { verifier: Arc<WebPkiServerVerifier>, given: Vec<CertificateDer<'static>> },
    /// SHA-256 of the server's own.
    Fingerprint([u8; 32]),
    /// Nothing: any will do.
    Nothing,
}

/// Judges certificates of servers.
#[derive(Debug)]
pub(crate) struct Judge {
    by: By,
    provider: Arc<CryptoProvider>,
}

/// Why a certificate is not trusted, and which one it is.
#[derive(Debug)]
pub(crate) struct Untrusted {
    /// Why; none: it is another than the one pinned.
    pub(crate) why: Option<CertificateError>,
    /// The certificate.
    pub(crate) described: Described,
}

impl fmt::Display for Untrusted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.described.fmt(formatter)
    }
}

impl std::error::Error for Untrusted {}

impl Judge {
    /// By CA certificates; `given` are those of a user's file, of which one may be the server's own.
    ///
    /// # Errors
    /// When there is none, in three parts.
    pub(crate) fn authorities(
        roots: RootCertStore,
        given: Vec<CertificateDer<'static>>,
        provider: Arc<CryptoProvider>,
    ) -> Result<Self, Unusable> {
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider)).build();
        let verifier = verifier.map_err(|error| {
            let what = format!("the CA certificates cannot be used: {error}");
            Unusable::new(what, "at least one", "see ca among the credentials")
        })?;
        Ok(Self { by: By::Authorities { verifier, given }, provider })
    }

    /// By the fingerprint of the server's own certificate.
    pub(crate) fn fingerprint(sha256: [u8; 32], provider: Arc<CryptoProvider>) -> Self {
        Self { by: By::Fingerprint(sha256), provider }
    }

    /// By nothing.
    pub(crate) fn nothing(provider: Arc<CryptoProvider>) -> Self {
        Self { by: By::Nothing, provider }
    }
}

impl ServerCertVerifier for Judge {
    fn verify_server_cert(
        &self,
        own: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let done = match &self.by {
            By::Nothing => return Ok(ServerCertVerified::assertion()),
            By::Fingerprint(wanted) if digest(own) == *wanted => return Ok(ServerCertVerified::assertion()),
            By::Fingerprint(_) => Err(None),
            By::Authorities { verifier, given } => match verifier.verify_server_cert(own, chain, name, ocsp, now) {
                Err(error) if is_authority(&error) && given.iter().any(|one| one == own) => {
                    let named = ParsedCertificate::try_from(own)
                        .and_then(|parsed| rustls::client::verify_server_name(&parsed, name));
                    named.map(|()| ServerCertVerified::assertion()).map_err(Some)
                }
                other => other.map_err(Some),
            },
        };
        done.map_err(|error| match error {
            Some(Error::InvalidCertificate(why)) => untrusted(Some(why), own),
            Some(other) => other,
            None => untrusted(None, own),
        })
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, own, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, own, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Whether a certificate was only refused because it is that of an authority: when this is found out, its time has been looked at.
fn is_authority(error: &Error) -> bool {
    let Error::InvalidCertificate(CertificateError::Other(OtherError(cause))) = error else { return false };
    matches!(cause.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
}

fn untrusted(why: Option<CertificateError>, own: &CertificateDer<'_>) -> Error {
    let untrusted = Untrusted { why, described: Described::new(own) };
    Error::InvalidCertificate(CertificateError::Other(OtherError(Arc::new(untrusted))))
}
