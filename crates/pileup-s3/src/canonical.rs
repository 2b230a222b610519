//! What Signature Version 4 signs: a request in its canonical form (Amazon S3 API Reference, "Signature Calculations for the Authorization
//! Header"). In S3 the path is that of the request: it is neither normalised nor encoded twice.

use std::fmt::Write;

use ring::digest::{SHA256, digest};
use ring::hmac;

/// Name of the way to sign.
pub(crate) const ALGORITHM: &str = "AWS4-HMAC-SHA256";
const HEX: &[u8; 16] = b"0123456789ABCDEF";

/// A request that is to be signed.
pub(crate) struct Signed<'a> {
    pub(crate) method: &'a str,
    /// Path and query as they are sent.
    pub(crate) path: &'a str,
    /// The headers that are signed: names in small letters.
    pub(crate) headers: Vec<(&'a str, String)>,
    /// SHA-256 of the body in hexadecimal digits, or the word that it is not signed.
    pub(crate) payload: &'a str,
}

impl Signed<'_> {
    /// The canonical request, and the names of its headers.
    pub(crate) fn canonical(mut self) -> (String, String) {
        let (path, query) = self.path.split_once('?').unwrap_or((self.path, ""));
        self.headers.sort_by(|one, other| one.0.cmp(other.0)); // those of one name stay in their order
        let mut text = String::with_capacity(512);
        let _ = writeln!(text, "{}", self.method);
        encode_again(&mut text, path, is_plain_in_path);
        text.push('\n');
        write_query(&mut text, query);
        text.push('\n');
        let mut names = String::with_capacity(80);
        for (name, value) in self.merged() {
            let _ = writeln!(text, "{name}:{value}");
            let semicolon = if names.is_empty() { "" } else { ";" };
            let _ = write!(names, "{semicolon}{name}");
        }
        let _ = write!(text, "\n{names}\n{}", self.payload);
        (text, names)
    }

    /// Headers with their values trimmed; those of one name are one, in the order in which they were given.
    fn merged(&self) -> Vec<(&str, String)> {
        let mut merged: Vec<(&str, String)> = Vec::with_capacity(self.headers.len());
        for (name, value) in &self.headers {
            let value = value.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
            match merged.last_mut() {
                Some((last, values)) if last == name => {
                    values.push(',');
                    values.push_str(&value);
                }
                _ => merged.push((name, value)),
            }
        }
        merged
    }
}

/// When and for what a signature is good.
pub(crate) fn scope(day: &str, region: &str, service: &str) -> String {
    format!("{day}/{region}/{service}/aws4_request")
}

/// What is signed in the end: the digest of the canonical request, with its time and scope.
pub(crate) fn string_to_sign(time: &str, scope: &str, canonical: &str) -> String {
    format!("{ALGORITHM}\n{time}\n{scope}\n{}", hex(digest(&SHA256, canonical.as_bytes()).as_ref()))
}

/// The key of a day, of a region and of a service.
pub(crate) fn key(secret: &str, day: &str, region: &str, service: &str) -> hmac::Key {
    let first = format!("AWS4{secret}");
    [day, region, service, "aws4_request"]
        .iter()
        .fold(made(first.as_bytes()), |key, word| made(hmac::sign(&key, word.as_bytes()).as_ref()))
}

fn made(bytes: &[u8]) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, bytes)
}

/// The signature.
pub(crate) fn signature(key: &hmac::Key, string_to_sign: &str) -> String {
    hex(hmac::sign(key, string_to_sign.as_bytes()).as_ref())
}

/// Hexadecimal digits, small ones.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from(HEX[usize::from(digit)].to_ascii_lowercase()));
        }
    }
    text
}

/// Append a text with every byte encoded but letters, digits and `-._~`; `plain` says which stay beside.
pub(crate) fn encode(into: &mut String, text: &[u8], plain: fn(u8) -> bool) {
    for byte in text {
        if plain(*byte) {
            into.push(char::from(*byte));
        } else {
            into.push('%');
            into.push(char::from(HEX[usize::from(byte >> 4)]));
            into.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
}

/// Whether a byte stays as it is in a value of a query (RFC 3986, 2.3: unreserved).
pub(crate) fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

/// The same in a path.
pub(crate) fn is_plain_in_path(byte: u8) -> bool {
    is_plain(byte) || byte == b'/'
}

/// Encode what may be encoded already.
fn encode_again(into: &mut String, text: &str, plain: fn(u8) -> bool) {
    if text.bytes().all(plain) {
        into.push_str(text);
    } else {
        encode(into, &pileup_http1::decode(text.as_bytes()), plain);
    }
}

/// Append a query: its pairs in the order of their encoded names, then of their values.
fn write_query(into: &mut String, query: &str) {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let mut encoded = (String::new(), String::new());
        encode_again(&mut encoded.0, name, is_plain);
        encode_again(&mut encoded.1, value, is_plain);
        pairs.push(encoded);
    }
    pairs.sort();
    for (number, (name, value)) in pairs.iter().enumerate() {
        let and = if number > 0 { "&" } else { "" };
        let _ = write!(into, "{and}{name}={value}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUITE: &str = include_str!("../tests/data/aws4_testsuite.txt");
    const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";

    /// A request of the suite: its first line, its headers with their values in one line, its body.
    struct Case<'a> {
        name: &'a str,
        request: &'a str,
        canonical: &'a str,
        string_to_sign: &'a str,
        authorization: &'a str,
    }

    fn cases() -> Vec<Case<'static>> {
        let case = |text: &'static str| {
            let mut parts = text.split("\n---- ");
            let name = parts.next()?.trim();
            let mut part = |word| parts.next()?.strip_prefix(word)?.strip_prefix('\n');
            let [request, canonical, string_to_sign, authorization] =
                [part("req")?, part("creq")?, part("sts")?, part("authz")?];
            Some(Case { name, request, canonical, string_to_sign, authorization: authorization.trim() })
        };
        SUITE.split("\n==== ").skip(1).filter_map(case).collect()
    }

    /// What a service other than S3 makes of a path (RFC 3986, 5.2.4, and slashes in a row are one): S3 leaves it as it is.
    fn normalised(path: &str) -> String {
        let mut names: Vec<&str> = Vec::new();
        for name in path.split('/') {
            match name {
                "" | "." => {}
                ".." => drop(names.pop()),
                name => names.push(name),
            }
        }
        let end = if path.ends_with('/') && !names.is_empty() { "/" } else { "" };
        format!("/{}{end}", names.join("/"))
    }

    /// The headers, a line that begins with a blank belonging to the one before.
    fn headers(head: &str) -> Vec<(String, String)> {
        let mut found: Vec<(String, String)> = Vec::new();
        for line in head.lines() {
            match line.split_once(':').filter(|_| !line.starts_with(' ')) {
                Some((name, value)) => found.push((name.to_ascii_lowercase(), value.to_owned())),
                None => found.last_mut().unwrap().1.push_str(line),
            }
        }
        found
    }

    #[test]
    fn the_test_suite_of_aws() {
        let cases = cases();
        assert_eq!(cases.len(), 34);
        for case in cases {
            let (head, body) = case.request.split_once("\n\n").unwrap_or((case.request, ""));
            let (first, rest) = head.split_once('\n').unwrap();
            let (method, target) = first.strip_suffix(" HTTP/1.1").unwrap().split_once(' ').unwrap();
            let (path, query) = target.split_once('?').unwrap_or((target, ""));
            let target = format!("{}?{query}", normalised(path));
            let mut headers = headers(rest);
            // the token of this case is not in its request: who signs has it
            if case.name == "get-vanilla-with-session-token" {
                let name = "x-amz-security-token";
                let line = case.canonical.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
                headers.push((name.to_owned(), line.unwrap().to_owned()));
            }
            // and of this one it is added when the rest was signed
            headers.retain(|(name, _)| case.canonical.contains(&format!("\n{name}:")));
            let payload = hex(digest(&SHA256, body.trim_end_matches('\n').as_bytes()).as_ref());
            let headers = headers.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
            let (canonical, names) = Signed { method, path: &target, headers, payload: &payload }.canonical();
            assert_eq!(canonical, case.canonical.trim_end(), "{}", case.name);
            let scope = scope("20150830", "us-east-1", "service");
            let text = string_to_sign("20150830T123600Z", &scope, &canonical);
            assert_eq!(text, case.string_to_sign.trim_end(), "{}", case.name);
            let signature = signature(&key(SECRET, "20150830", "us-east-1", "service"), &text);
            let told =
                format!("{ALGORITHM} Credential=AKIDEXAMPLE/{scope}, SignedHeaders={names}, Signature={signature}");
            assert_eq!(told, case.authorization, "{}", case.name);
        }
    }

    #[test]
    fn a_path_is_encoded_once_however_it_was_written() {
        for path in ["/a b+c!", "/a%20b%2Bc%21", "/a%20b+c%21"] {
            let signed = Signed { method: "GET", path, headers: vec![("host", "h".to_owned())], payload: "p" };
            assert_eq!(signed.canonical().0, "GET\n/a%20b%2Bc%21\n\nhost:h\n\nhost\np");
        }
        let signed = Signed { method: "GET", path: "/a//./b/../c?x&a=b%2Fc", headers: vec![], payload: "p" };
        assert!(signed.canonical().0.starts_with("GET\n/a//./b/../c\na=b%2Fc&x=\n"), "S3 normalises no path");
    }
}
