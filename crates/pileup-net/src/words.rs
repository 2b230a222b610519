//! Error messages below a protocol, equal for equal causes: without ports or addresses, so that errors can be counted by text.

use std::error::Error as StdError;
use std::io;

use rustls::{AlertDescription, CertificateError};

use crate::verify::Untrusted;

/// Why a connection could not be made.
#[must_use]
pub fn connecting(error: &io::Error) -> String {
    if let Some(text) = tls(error) {
        return text;
    }
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "TLS: connection closed in the handshake".to_owned(),
        _ => io(error),
    }
}

/// An error of the system in plain words.
#[must_use]
pub fn io(error: &io::Error) -> String {
    use io::ErrorKind as Kind;
    let text = match error.kind() {
        Kind::ConnectionRefused => "connection refused",
        Kind::ConnectionReset => "connection reset",
        Kind::ConnectionAborted => "connection aborted",
        Kind::BrokenPipe => "connection closed",
        Kind::UnexpectedEof => "connection closed",
        Kind::TimedOut => "connection timed out",
        Kind::HostUnreachable => "host unreachable",
        Kind::NetworkUnreachable => "network unreachable",
        Kind::PermissionDenied => "connection not permitted",
        Kind::AddrNotAvailable => "no local port left for a new connection",
        _ if matches!(error.raw_os_error(), Some(23 | 24)) => "too many open files",
        _ => return error.to_string(),
    };
    text.to_owned()
}

/// A fault of TLS in plain words; none when the error is another.
#[must_use]
pub fn tls(error: &io::Error) -> Option<String> {
    Some(match find::<rustls::Error>(error)? {
        rustls::Error::InvalidCertificate(cause) => not_trusted(cause),
        rustls::Error::AlertReceived(alert) => format!("TLS: the server says {}", alert_text(*alert)),
        rustls::Error::InvalidMessage(_) => "TLS: the server does not speak TLS on this port".to_owned(),
        other => format!("TLS: {other}"),
    })
}

fn not_trusted(cause: &CertificateError) -> String {
    let CertificateError::Other(other) = cause else {
        return format!("TLS: certificate not trusted ({})", certificate_text(cause));
    };
    match other.0.downcast_ref::<Untrusted>() {
        Some(Untrusted { why: None, described }) => {
            format!("TLS: certificate not trusted (it is not the one with certificate_sha256): {described}")
        }
        Some(Untrusted { why: Some(why), described }) => {
            format!("TLS: certificate not trusted ({}): {described}", certificate_text(why))
        }
        None => format!("TLS: certificate not trusted ({})", certificate_text(cause)),
    }
}

fn certificate_text(cause: &CertificateError) -> &'static str {
    match cause {
        CertificateError::UnknownIssuer => "its issuer is not among the CA certificates",
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "it has expired",
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => "it is not valid yet",
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "it is for another host name"
        }
        CertificateError::Revoked => "it is revoked",
        CertificateError::BadSignature => "its signature is wrong",
        CertificateError::BadEncoding => "it is malformed",
        _ => "it is not acceptable",
    }
}

fn alert_text(alert: AlertDescription) -> String {
    match alert {
        AlertDescription::CertificateRequired => "that a client certificate is required".to_owned(),
        AlertDescription::UnknownCA => "that the client certificate's issuer is unknown".to_owned(),
        AlertDescription::CertificateExpired => "that the client certificate has expired".to_owned(),
        AlertDescription::BadCertificate => "that the client certificate is bad".to_owned(),
        AlertDescription::HandshakeFailure => "handshake failure".to_owned(),
        other => format!("{other:?}"),
    }
}

/// A url as it may be in a message: short, without its query, which may hold a token, and not at all where it holds a user.
#[must_use]
pub fn url(url: &str) -> String {
    let shown = url.split('?').next().unwrap_or_default();
    let shown: String = shown.chars().take(200).collect();
    match shown.split_once('@') {
        Some(_) => "(not shown, it holds a user)".to_owned(),
        None => format!("{shown:?}"),
    }
}

/// Find a cause of this type below an error; `io::Error` hides its own in `get_ref`.
#[must_use]
pub fn find<'a, E: StdError + 'static>(error: &'a (dyn StdError + 'static)) -> Option<&'a E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<E>() {
            return Some(found);
        }
        next = match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_found_inside_io_errors() {
        let inner = rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer);
        let outer = io::Error::new(io::ErrorKind::InvalidData, inner);
        assert_eq!(connecting(&outer), "TLS: certificate not trusted (its issuer is not among the CA certificates)");
        assert_eq!(connecting(&io::Error::from_raw_os_error(111)), "connection refused");
        assert_eq!(connecting(&io::Error::from_raw_os_error(24)), "too many open files");
    }
}
