//! Error messages, equal for equal causes: without ports, addresses or object names, so that errors can be counted by text.

use std::io;

use pileup_engine::client::{Failure, Kind};
use pileup_engine::control::{Found, Problem};
use pileup_net::route::NoConnection;
use pileup_net::words;

use crate::wire::Broken;

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// Class and words.
    pub failure: Failure,
    /// The number that the server gave (kXR_...); 0: it gave none.
    pub code: u32,
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self { failure, code: 0 }
    }
}

impl From<Trouble> for Problem {
    fn from(trouble: Trouble) -> Self {
        let found = match trouble.code {
            NOT_FOUND => Found::Nothing,
            EXISTS => Found::Something,
            _ => Found::Unknown,
        };
        Self { failure: trouble.failure, found }
    }
}

impl From<NoConnection> for Trouble {
    fn from(why: NoConnection) -> Self {
        let failure = if why.unreachable { Failure::unreachable(why.words) } else { Failure::failed(why.words) };
        failure.of_system(why.number).into()
    }
}

impl Trouble {
    /// The system did the wrong thing.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Failure::failed(message).into()
    }

    /// What came is not of the protocol.
    pub(crate) fn garbage(what: &str) -> Self {
        Self::failed(format!("the answer is not xroot: {what}"))
    }
}

/// Numbers of errors that matter beyond their words.
pub(crate) const NOT_AUTHORIZED: u32 = 3010;
pub(crate) const NOT_FOUND: u32 = 3011;
pub(crate) const UNSUPPORTED: u32 = 3013;
pub(crate) const IS_FOLDER: u32 = 3016;
pub(crate) const EXISTS: u32 = 3018;
pub(crate) const AUTH_FAILED: u32 = 3030;

/// The errors of the protocol from 3000 on, and whether the server will not (rather than cannot).
const ERRORS: [(&str, bool); 35] = [
    ("ArgInvalid", false),
    ("ArgMissing", false),
    ("ArgTooLong", false),
    ("FileLocked", true),
    ("FileNotOpen", false),
    ("FSError", false),
    ("InvalidRequest", false),
    ("IOError", false),
    ("NoMemory", false),
    ("NoSpace", true),
    ("NotAuthorized", true),
    ("NotFound", false),
    ("ServerError", false),
    ("Unsupported", false),
    ("noserver", false),
    ("NotFile", false),
    ("isDirectory", false),
    ("Cancelled", false),
    ("ItExists", false),
    ("ChkSumErr", false),
    ("inProgress", false),
    ("overQuota", true),
    ("SigVerErr", false),
    ("DecryptErr", false),
    ("Overloaded", true),
    ("fsReadOnly", true),
    ("BadPayload", false),
    ("AttrNotFound", false),
    ("TLSRequired", true),
    ("noReplicas", false),
    ("AuthFailed", true),
    ("Impossible", false),
    ("Conflict", false),
    ("TooManyErrs", false),
    ("ReqTimedOut", false),
];

/// The trouble of an error that the server gave: its name, and the end of its text, which is what the system there said.
pub(crate) fn said(code: u32, text: &str) -> Trouble {
    let known = code.checked_sub(3000).and_then(|place| ERRORS.get(place as usize));
    let (name, refused) = known.copied().unwrap_or(("an unknown error", false));
    // before the last semicolon names of objects may be
    let cause = text.rsplit_once("; ").map_or("", |(_, cause)| cause.trim());
    let named = cause.starts_with('/') || cause.contains(" /") || cause.contains(['?', '=']);
    let plain = (1..=80).contains(&cause.len()) && !named;
    // servers that know no fsReadOnly say it so
    let shut = code == 3005 && (cause.ends_with("read/only") || cause.eq_ignore_ascii_case("read-only file system"));
    let kind = if refused || shut { Kind::Refused } else { Kind::Failed };
    let message = if plain { format!("xroot {code} {name}: {cause}") } else { format!("xroot {code} {name}") };
    Trouble { failure: Failure::new(kind, message), code }
}

/// The trouble of a request without an answer: `begun` says whether some bytes of the answer had come.
pub(crate) fn no_answer(broken: &Broken, begun: bool) -> Trouble {
    let cause = match broken {
        Broken::Garbage(what) => return Trouble::garbage(what),
        Broken::Io(cause) => cause,
    };
    if let Some(text) = words::tls(cause) {
        return Trouble::failed(text);
    }
    let place = if begun { "in the answer" } else { "before the answer" };
    let end = cause.kind() == io::ErrorKind::UnexpectedEof;
    let what = if end { "connection closed".to_owned() } else { words::io(cause) };
    Failure::ambiguous(format!("{what} {place}")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_no_is_refused_and_the_rest_has_failed() {
        let of = |code, text| said(code, text).failure;
        assert_eq!(
            of(3011, "Unable to open /data/f7; no such file or directory"),
            Failure::failed("xroot 3011 NotFound: no such file or directory")
        );
        assert_eq!(of(3010, "Unable to open /a; permission denied").kind, Kind::Refused);
        assert_eq!(of(3010, "opening /data/secret?authz=abc disallowed").message, "xroot 3010 NotAuthorized");
        assert_eq!(of(3007, "x; read of /data/f1").message, "xroot 3007 IOError");
        let shut = of(3005, "Unable to create /data/x; file path marked read/only");
        assert_eq!(shut, Failure::refused("xroot 3005 FSError: file path marked read/only"));
        for code in [3003, 3009, 3021, 3024, 3025, 3028, 3030] {
            assert_eq!(of(code, "").kind, Kind::Refused, "{code}");
        }
        for code in [0, 2999, 3035, u32::MAX] {
            assert_eq!(of(code, ""), Failure::failed(format!("xroot {code} an unknown error")));
        }
    }

    #[test]
    fn ends_say_where_they_came() {
        let of = |broken, begun| no_answer(&broken, begun).failure;
        let end = || Broken::Io(io::ErrorKind::UnexpectedEof.into());
        assert_eq!(of(end(), false), Failure::ambiguous("connection closed before the answer"));
        assert_eq!(of(end(), true), Failure::ambiguous("connection closed in the answer"));
        assert_eq!(of(Broken::Garbage("x"), true), Failure::failed("the answer is not xroot: x"));
    }
}
