//! Who may come in: the signature of a request, worked out again from what has come (Amazon S3 API Reference, "Authenticating Requests: Using
//! the Authorization Header"). It is written apart from the client of the engine, from the same pages: neither is a copy of the other.

use std::time::Duration;

use http::request::Parts;
use ring::{digest, hmac};

use super::no::{No, element};
use super::settings::Settings;
use super::time;

/// How far the clock of a client may be off.
const SKEW: Duration = Duration::from_secs(15 * 60);

/// What a body must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Promise {
    /// Anything.
    Nothing,
    /// What has this SHA-256, in hexadecimal digits.
    Sha256(String),
}

/// The three parts of the header Authorization.
struct Shown<'a> {
    access_key: &'a str,
    day: &'a str,
    region: &'a str,
    signed: Vec<&'a str>,
    signature: &'a str,
}

/// Check who has sent a request, `started` so long before now. Returns what its body must be.
pub(crate) fn admit(settings: &Settings, head: &Parts, uptime: i64) -> Result<Promise, No> {
    let Some(access_key) = &settings.access_key else { return Ok(Promise::Nothing) };
    let header = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok());
    let Some(authorization) = header("authorization") else { return Err(No::new(403, "AccessDenied")) };
    let shown = shown(authorization).ok_or_else(|| No::new(400, "AuthorizationHeaderMalformed"))?;
    if shown.access_key != access_key {
        return Err(No::new(403, "InvalidAccessKeyId"));
    }
    session(settings, header("x-amz-security-token"), uptime)?;
    let stamp = header("x-amz-date").ok_or_else(|| No::new(403, "AccessDenied"))?;
    in_time(settings, stamp)?;
    if shown.region != settings.region || !stamp.starts_with(shown.day) {
        return Err(No::new(400, "AuthorizationHeaderMalformed"));
    }
    // every header of S3 must be signed, else somebody on the way could add one
    let must = |name: &str| name == "host" || name.starts_with("x-amz-");
    if head.headers.keys().any(|name| must(name.as_str()) && !shown.signed.contains(&name.as_str())) {
        return Err(No::new(403, "AccessDenied"));
    }
    let payload = header("x-amz-content-sha256").ok_or_else(|| No::new(400, "InvalidRequest"))?;
    let request = canonical(head, &shown.signed, payload).ok_or_else(|| No::new(400, "InvalidURI"))?;
    if signature(settings, &shown, stamp, &request) != shown.signature {
        return Err(No::new(403, "SignatureDoesNotMatch"));
    }
    Ok(if payload == "UNSIGNED-PAYLOAD" { Promise::Nothing } else { Promise::Sha256(payload.to_owned()) })
}

/// Check the session token: one of those that are known, while it is good; none where there are none.
fn session(settings: &Settings, token: Option<&str>, uptime: i64) -> Result<(), No> {
    match token {
        None if settings.session_tokens.is_empty() => Ok(()),
        None => Err(No::new(403, "InvalidAccessKeyId")),
        Some(token) => match settings.session_tokens.get(token) {
            None => Err(No::new(400, "InvalidToken")),
            Some(good) if uptime >= *good => Err(No::new(400, "ExpiredToken")),
            Some(_) => Ok(()),
        },
    }
}

fn in_time(settings: &Settings, stamp: &str) -> Result<(), No> {
    let asked = time::read(stamp).ok_or_else(|| No::new(403, "AccessDenied"))?;
    let here = time::now(settings.clock_ahead);
    let apart = here.duration_since(asked).or_else(|_| asked.duration_since(here)).unwrap_or_default();
    if apart <= SKEW {
        return Ok(());
    }
    let mut more = String::new();
    element(&mut more, "RequestTime", stamp);
    element(&mut more, "ServerTime", &time::written(here));
    element(&mut more, "MaxAllowedSkewMilliseconds", &SKEW.as_millis().to_string());
    Err(No { more, ..No::new(403, "RequestTimeTooSkewed") })
}

fn shown(authorization: &str) -> Option<Shown<'_>> {
    let words = authorization.strip_prefix("AWS4-HMAC-SHA256 ")?;
    let (mut credential, mut signed, mut signature) = (None, None, None);
    for part in words.split(',') {
        let (name, value) = part.trim().split_once('=')?;
        match name {
            "Credential" => credential = Some(value),
            "SignedHeaders" => signed = Some(value),
            "Signature" => signature = Some(value),
            _ => return None,
        }
    }
    let mut scope = credential?.rsplitn(5, '/');
    let (end, service, region, day) = (scope.next()?, scope.next()?, scope.next()?, scope.next()?);
    if end != "aws4_request" || service != "s3" || day.len() != 8 {
        return None;
    }
    Some(Shown { access_key: scope.next()?, day, region, signed: signed?.split(';').collect(), signature: signature? })
}

fn signature(settings: &Settings, shown: &Shown<'_>, stamp: &str, request: &str) -> String {
    let scope = [shown.day, shown.region, "s3", "aws4_request"];
    let mut key = format!("AWS4{}", settings.secret_key).into_bytes();
    for word in scope {
        key = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &key), word.as_bytes()).as_ref().to_vec();
    }
    let told = ["AWS4-HMAC-SHA256", stamp, &scope.join("/"), &sha256(request.as_bytes())].join("\n");
    digits(hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &key), told.as_bytes()).as_ref())
}

/// The canonical request; none where its url cannot be understood.
fn canonical(head: &Parts, signed: &[&str], payload: &str) -> Option<String> {
    let mut pairs = Vec::new();
    for pair in head.uri.query().unwrap_or("").split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        pairs.push(format!("{}={}", escaped(name, "")?, escaped(value, "")?));
    }
    pairs.sort_unstable();
    let mut lines = vec![head.method.as_str().to_owned(), escaped(head.uri.path(), "/")?, pairs.join("&")];
    for name in signed {
        let values: Vec<&str> = head.headers.get_all(*name).iter().filter_map(|value| value.to_str().ok()).collect();
        let value: Vec<String> = values
            .iter()
            .map(|value| value.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "))
            .collect();
        lines.push(format!("{name}:{}", value.join(",")));
    }
    lines.extend([String::new(), signed.join(";"), payload.to_owned()]);
    Some(lines.join("\n"))
}

/// A part of a url as it is signed: what it means, with all escaped but unreserved characters and those of `beside`.
fn escaped(text: &str, beside: &str) -> Option<String> {
    let meant = crate::store::decode(text)?;
    let mut out = String::new();
    for byte in meant.bytes() {
        let character = char::from(byte);
        if matches!(character, 'A'..='Z' | 'a'..='z' | '0'..='9' | '-' | '.' | '_' | '~') || beside.contains(character)
        {
            out.push(character);
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    Some(out)
}

/// SHA-256 in hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    digits(digest::digest(&digest::SHA256, bytes).as_ref())
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    /// The first example of Amazon S3 API Reference, "Signature Calculations for the Authorization Header: Transferring Payload in a Single
    /// Chunk", "GET Object".
    fn example() -> Parts {
        let names = "host;range;x-amz-content-sha256;x-amz-date";
        let signature = "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41";
        let credential = "AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request";
        Request::get("/test.txt")
            .header("host", "examplebucket.s3.amazonaws.com")
            .header("range", "bytes=0-9")
            .header("x-amz-content-sha256", sha256(b""))
            .header("x-amz-date", "20130524T000000Z")
            .header(
                "authorization",
                format!("AWS4-HMAC-SHA256 Credential={credential},SignedHeaders={names},Signature={signature}"),
            )
            .body(())
            .unwrap()
            .into_parts()
            .0
    }

    fn settings() -> Settings {
        let then = time::read("20130524T000000Z").unwrap();
        let since = time::now(0).duration_since(then).unwrap();
        Settings {
            access_key: Some("AKIAIOSFODNN7EXAMPLE".to_owned()),
            secret_key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned(),
            clock_ahead: -i64::try_from(since.as_nanos()).unwrap(),
            ..Settings::default()
        }
    }

    fn code(settings: &Settings, change: impl FnOnce(&mut Parts)) -> &'static str {
        let mut head = example();
        change(&mut head);
        admit(settings, &head, 0).map_or_else(|no| no.code, |_| "in")
    }

    #[test]
    fn the_example_of_the_reference_comes_in() {
        assert_eq!(admit(&settings(), &example(), 0), Ok(Promise::Sha256(sha256(b""))));
        assert_eq!(code(&Settings::default(), |head| head.headers.clear()), "in", "where nobody is asked");
    }

    #[test]
    fn each_no_has_its_code() {
        let put = |name: &'static str, value: &'static str| {
            move |head: &mut Parts| drop(head.headers.insert(name, value.parse().unwrap()))
        };
        let right = settings();
        assert_eq!(code(&right, put("range", "bytes=0-8")), "SignatureDoesNotMatch");
        assert_eq!(code(&right, put("x-amz-meta-a", "b")), "AccessDenied");
        assert_eq!(code(&right, put("authorization", "Bearer a")), "AuthorizationHeaderMalformed");
        assert_eq!(code(&right, |head| head.headers.clear()), "AccessDenied");
        assert_eq!(code(&right, |head| head.method = http::Method::PUT), "SignatureDoesNotMatch");
        assert_eq!(code(&right, |head| head.uri = "/test.txt?a".parse().unwrap()), "SignatureDoesNotMatch");
        let other = |change: fn(&mut Settings)| {
            let mut settings = settings();
            change(&mut settings);
            code(&settings, |_| {})
        };
        assert_eq!(other(|it| it.secret_key.push('x')), "SignatureDoesNotMatch");
        assert_eq!(other(|it| it.access_key = Some("other".to_owned())), "InvalidAccessKeyId");
        assert_eq!(other(|it| it.region = "eu-west-1".to_owned()), "AuthorizationHeaderMalformed");
        assert_eq!(other(|it| it.clock_ahead += 16 * 60 * 1_000_000_000), "RequestTimeTooSkewed");
        assert_eq!(other(|it| it.clock_ahead -= 16 * 60 * 1_000_000_000), "RequestTimeTooSkewed");
        assert_eq!(other(|it| it.clock_ahead += 14 * 60 * 1_000_000_000), "in");
    }

    #[test]
    fn a_session_token_is_good_for_its_time() {
        let mut settings = settings();
        settings.session_tokens.insert("t".to_owned(), 100);
        assert_eq!(session(&settings, Some("t"), 99), Ok(()));
        assert_eq!(session(&settings, Some("t"), 100).unwrap_err().code, "ExpiredToken");
        assert_eq!(session(&settings, Some("u"), 0).unwrap_err().code, "InvalidToken");
        assert_eq!(session(&settings, None, 0).unwrap_err().code, "InvalidAccessKeyId");
    }
}
