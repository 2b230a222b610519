//! What went wrong, in words that are alike for alike causes: no ports, addresses or object names, so that errors can be counted by text.

use std::error::Error as StdError;
use std::io;

use http::StatusCode;
use pileup_engine::client::Fault;
use rustls::{AlertDescription, CertificateError};

use crate::wire::Broken;

/// The fault of a status that does not pass: refused where the system said no, else failed.
pub(crate) fn status(code: StatusCode) -> Fault {
    let text = match code.canonical_reason() {
        Some(reason) => format!("HTTP {} {reason}", code.as_u16()),
        None => format!("HTTP {}", code.as_u16()),
    };
    if is_refusal(code) { Fault::refused(text) } else { Fault::failed(text) }
}

/// Whether the status says that the system will not, rather than cannot: no right (401, 403), too much (429, 503), no room (507).
pub(crate) fn is_refusal(code: StatusCode) -> bool {
    matches!(code.as_u16(), 401 | 403 | 429 | 503 | 507)
}

/// The fault of a connection that could not be made.
pub(crate) fn connecting(error: &io::Error) -> Fault {
    if let Some(tls) = find::<rustls::Error>(error) {
        return Fault::failed(tls_text(tls));
    }
    Fault::failed(match error.kind() {
        io::ErrorKind::UnexpectedEof => "TLS: connection closed in the handshake".to_owned(),
        _ => io_text(error),
    })
}

/// The fault of a request without an answer: `begun` says whether some bytes of the answer had come.
pub(crate) fn no_answer(broken: &Broken, begun: bool) -> Fault {
    let cause = match broken {
        Broken::TooLarge => return Fault::failed("the head of the answer is larger than 64 KiB"),
        Broken::NotHttp => return Fault::failed("the answer is not HTTP/1"),
        Broken::Io(cause) => cause,
    };
    if let Some(tls) = find::<rustls::Error>(cause) {
        return Fault::failed(tls_text(tls));
    }
    let place = if begun { "in the head of the answer" } else { "before the answer" };
    Fault::ambiguous(if is_end(cause) {
        format!("connection closed {place}")
    } else {
        format!("{} {place}", io_text(cause))
    })
}

/// The fault of an answer that ended early.
pub(crate) fn broken_body(broken: &Broken, got: u64, stated: Option<u64>) -> Fault {
    let cause = match broken {
        Broken::TooLarge | Broken::NotHttp => return Fault::failed("the body of the answer is not HTTP/1"),
        Broken::Io(cause) => cause,
    };
    if let Some(tls) = find::<rustls::Error>(cause) {
        return Fault::failed(tls_text(tls));
    }
    Fault::failed(match stated {
        Some(stated) => format!("truncated: {got} of {stated} bytes"),
        None => format!("truncated: the answer ended after {got} bytes"),
    })
}

fn is_end(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::UnexpectedEof
}

/// An error of the system in plain words.
fn io_text(error: &io::Error) -> String {
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

/// A fault of TLS in plain words.
fn tls_text(error: &rustls::Error) -> String {
    match error {
        rustls::Error::InvalidCertificate(cause) => {
            format!("TLS: certificate not trusted ({})", certificate_text(cause))
        }
        rustls::Error::AlertReceived(alert) => format!("TLS: the server says {}", alert_text(*alert)),
        rustls::Error::InvalidMessage(_) => "TLS: the server does not speak TLS on this port".to_owned(),
        other => format!("TLS: {other}"),
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

/// Find a cause of this type below an error; `io::Error` hides its own in `get_ref`.
fn find<'a, E: StdError + 'static>(error: &'a (dyn StdError + 'static)) -> Option<&'a E> {
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
    use pileup_engine::client::Kind;

    use super::*;

    #[test]
    fn a_no_is_refused_and_the_rest_has_failed() {
        assert_eq!(status(StatusCode::SERVICE_UNAVAILABLE), Fault::refused("HTTP 503 Service Unavailable"));
        assert_eq!(status(StatusCode::NOT_FOUND), Fault::failed("HTTP 404 Not Found"));
        assert_eq!(status(StatusCode::from_u16(599).unwrap()), Fault::failed("HTTP 599"));
        for code in [401, 403, 429, 507] {
            assert_eq!(status(StatusCode::from_u16(code).unwrap()).kind, Kind::Refused);
        }
    }

    #[test]
    fn causes_are_found_inside_io_errors() {
        let inner = rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer);
        let outer = io::Error::new(io::ErrorKind::InvalidData, inner);
        let text = "TLS: certificate not trusted (its issuer is not among the CA certificates)";
        assert_eq!(connecting(&outer), Fault::failed(text));
        assert_eq!(connecting(&io::Error::from_raw_os_error(111)).message, "connection refused");
        assert_eq!(connecting(&io::Error::from_raw_os_error(24)).message, "too many open files");
    }
}
