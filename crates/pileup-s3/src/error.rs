//! Words for what went wrong: the code of S3, which is the same for the same cause, with the status.

use http::StatusCode;
use pileup_engine::client::{Act, Failure, Incomplete, Kind};
use pileup_http1::Answer;
use pileup_http1::xml::Wrong;

use crate::document::{Document, Instead, Nothing, Said};

/// Longest error that is looked at.
const LONGEST: usize = 64 * 1024;
/// Codes that say that the system will not, whatever their status (Amazon S3 API Reference, "List of error codes"); the last is what versitygw
/// says of a key that it does not know.
const REFUSALS: [&str; 15] = [
    "AccessDenied",
    "AccountProblem",
    "ExpiredToken",
    "InvalidAccessKeyId",
    "InvalidSecurity",
    "InvalidToken",
    "NotSignedUp",
    "RequestTimeTooSkewed",
    "ServiceUnavailable",
    "SignatureDoesNotMatch",
    "SlowDown",
    "ThrottlingException",
    "TokenRefreshRequired",
    "TooManyRequests",
    "XAdminUserNotFound",
];
/// Codes that say that a session token was over.
const OVER: [&str; 2] = ["ExpiredToken", "TokenRefreshRequired"];

/// The failure that an `<Error>` says.
pub(crate) fn said(status: StatusCode, said: &Said) -> Failure {
    let plain = pileup_http1::status(status);
    if said.code.is_empty() && !status.is_success() {
        return plain;
    }
    let code = if said.code.is_empty() { "an error without a code" } else { &said.code };
    let place = if status.is_success() { format!("in an answer of {}", plain.message) } else { plain.message.clone() };
    let text = format!("{code} ({place}){}", skew(said));
    let refused = REFUSALS.contains(&code) || (plain.kind == Kind::Refused && !status.is_success());
    let failure = if refused { Failure::refused(text) } else { Failure::failed(text) };
    failure.of_bearer(OVER.contains(&code))
}

/// How far the clocks are apart, where the server says it: in whole minutes, so that equal causes have equal words.
fn skew(said: &Said) -> String {
    let (Some(asked), Some(server)) = (said.asked, said.server) else { return String::new() };
    let minutes = (asked - server + if asked > server { 30 } else { -30 }) / 60;
    let way = if minutes > 0 { "ahead of" } else { "behind" };
    format!(": the clock here is {} min {way} the server's", minutes.abs())
}

/// The failure of an answer that is not the XML that was asked for.
pub(crate) fn not_xml(what: &str, why: Wrong) -> Failure {
    Failure::failed(format!("the answer is not {what} of S3: {why}"))
}

/// The failure of what has come instead of an answer.
pub(crate) fn instead(what: &str, status: StatusCode, instead: &Instead) -> Failure {
    match instead {
        Instead::Said(error) => said(status, error),
        Instead::Wrong(why) => not_xml(what, why),
    }
}

/// The failure of an answer whose status does not pass: its error is read, and what comes with it counted.
pub(crate) async fn refusal(answer: &mut Answer, act: &mut Act) -> (Failure, Said) {
    let status = answer.status();
    let (document, whole) = read(answer, act).await;
    let error = match document.finish() {
        Err(Instead::Said(error)) if whole => error,
        _ => Said::default(),
    };
    let failure = said(status, &error);
    act.incomplete = act.incomplete.map(|incomplete| Incomplete { kind: failure.kind, ..incomplete });
    (failure, error)
}

/// Read the body as an error; returns also whether it came whole.
async fn read(answer: &mut Answer, act: &mut Act) -> (Document<Nothing>, bool) {
    let (mut document, mut got, mut whole) = (Document::new(Nothing), 0, true);
    let before = act.bytes;
    while got <= LONGEST {
        match answer.piece().await {
            Ok(Some(piece)) => {
                got += piece.len();
                act.moved(before + got as u64);
                whole = whole && document.feed(piece).is_ok();
            }
            Ok(None) => return (document, whole),
            Err(_) => return (document, false),
        }
    }
    (document, false)
}

#[cfg(test)]
mod tests {
    use pileup_engine::client::Kind::{Failed, Refused};

    use super::*;

    fn of(status: u16, code: &str) -> Failure {
        said(StatusCode::from_u16(status).unwrap(), &Said { code: code.to_owned(), asked: None, server: None })
    }

    #[test]
    fn codes_are_named_with_their_status() {
        for (status, code, kind, text) in [
            (403, "InvalidAccessKeyId", Refused, "InvalidAccessKeyId (HTTP 403 Forbidden)"),
            (400, "ExpiredToken", Refused, "ExpiredToken (HTTP 400 Bad Request)"),
            (503, "SlowDown", Refused, "SlowDown (HTTP 503 Service Unavailable)"),
            (404, "NoSuchBucket", Failed, "NoSuchBucket (HTTP 404 Not Found)"),
            (200, "InternalError", Failed, "InternalError (in an answer of HTTP 200 OK)"),
            (200, "SlowDown", Refused, "SlowDown (in an answer of HTTP 200 OK)"),
            (403, "Unheard", Refused, "Unheard (HTTP 403 Forbidden)"),
            (403, "", Refused, "HTTP 403 Forbidden"),
            (500, "", Failed, "HTTP 500 Internal Server Error"),
        ] {
            let failure = of(status, code);
            assert_eq!((failure.kind, failure.message.as_str()), (kind, text));
        }
        assert_ne!(of(400, "ExpiredToken").cause, of(403, "InvalidAccessKeyId").cause);
    }

    #[test]
    fn clocks_that_are_apart_are_told_by_how_much() {
        let skewed = |asked| {
            let error = Said { code: "RequestTimeTooSkewed".to_owned(), asked: Some(asked), server: Some(100_000) };
            said(StatusCode::FORBIDDEN, &error).message.clone()
        };
        let text = "RequestTimeTooSkewed (HTTP 403 Forbidden): the clock here is 16 min";
        assert_eq!(skewed(100_961), format!("{text} ahead of the server's"));
        assert_eq!(skewed(99_039), format!("{text} behind the server's"));
    }
}
