//! The address of a target, and how the name of an object becomes the path of a request.

use http::Uri;
use pileup_net::{Unusable, words};

/// Where the target is: `http://host:port/base?query` in its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Whether to speak TLS.
    pub tls: bool,
    /// Name or address of the host, without the brackets of IPv6.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Value of the Host header.
    pub authority: String,
    /// Path below which the objects are; begins with a slash, has none at its end (empty: the root).
    base: String,
    /// The path as it was written, for a request without a key.
    path: String,
    /// Query added to every request; empty: none.
    query: String,
}

impl Address {
    /// Read a URL. `dav` and `davs` are taken as `http` and `https`.
    ///
    /// # Errors
    /// What is wrong with it, in three parts.
    pub fn parse(url: &str) -> Result<Self, Unusable> {
        let wrong = |what: &str| {
            let what = format!("url {}: {what}", words::url(url));
            Unusable::new(what, "http://host[:port]/path or https://…", "correct the url of the target")
        };
        let uri: Uri = url.parse().map_err(|error| wrong(&format!("{error}")))?;
        let tls = match uri.scheme_str() {
            Some("http" | "dav") => false,
            Some("https" | "davs") => true,
            Some(other) => return Err(wrong(&format!("{other} is another protocol"))),
            None => return Err(wrong("no protocol")),
        };
        let authority = uri.authority().ok_or_else(|| wrong("no host"))?;
        if authority.as_str().contains('@') {
            let expected = "user and password among the credentials of the target";
            return Err(Unusable::new("url holds a user", expected, "take them out of the url"));
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        if host.is_empty() {
            return Err(wrong("no host"));
        }
        // Not authority.port(): that takes a port out of bounds for none at all.
        let port = match authority.as_str().strip_prefix(authority.host()) {
            Some("") => default_port(tls),
            Some(rest) => rest[1..].parse().ok().filter(|port| *port > 0).ok_or_else(|| wrong("no such port"))?,
            None => return Err(wrong("no host")),
        };
        let with_port = if port == default_port(tls) { "" } else { &format!(":{port}") };
        let path = uri.path().to_owned();
        Ok(Self {
            tls,
            authority: format!("{}{with_port}", authority.host()),
            base: path.trim_end_matches('/').to_owned(),
            query: uri.query().unwrap_or_default().to_owned(),
            path,
            host,
            port,
        })
    }

    /// Whether the host is this machine whatever the network does: `localhost` or a loopback address.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        pileup_net::route::is_loopback(&self.host)
    }

    /// Path and query as they were written.
    #[must_use]
    pub fn written(&self) -> String {
        self.with_query(if self.path.is_empty() { "/".to_owned() } else { self.path.clone() })
    }

    /// Path of an object without the query, as another one is named in a header.
    #[must_use]
    pub fn named(&self, key: &str) -> String {
        self.join(key, &PLAIN_IN_PATH)
    }

    /// Path and query of an object: every byte that means something in a URL is encoded. A `folder` ends with a slash.
    #[must_use]
    pub fn object(&self, key: &str, folder: bool) -> String {
        let mut path = self.join(key, &PLAIN_IN_PATH);
        if folder && !path.ends_with('/') {
            path.push('/');
        }
        self.with_query(path)
    }

    /// Path and query of a request: the key is part of a URL already, only what could not be in one is encoded.
    #[must_use]
    pub fn request(&self, key: &str) -> String {
        if key.is_empty() {
            return self.with_query(self.path.clone());
        }
        if key.starts_with('?') {
            let mut path = self.path.clone();
            encode(&mut path, key, &LEGAL_IN_URL);
            return self.with_query(path);
        }
        self.with_query(self.join(key, &LEGAL_IN_URL))
    }

    fn join(&self, key: &str, plain: &[bool; 256]) -> String {
        let mut path = String::with_capacity(self.base.len() + key.len() + 2);
        path.push_str(&self.base);
        path.push('/');
        encode(&mut path, key.trim_start_matches('/'), plain);
        path
    }

    fn with_query(&self, mut path: String) -> String {
        if !self.query.is_empty() {
            path.push(if path.contains('?') { '&' } else { '?' });
            path.push_str(&self.query);
        }
        path
    }
}

fn default_port(tls: bool) -> u16 {
    if tls { 443 } else { 80 }
}

/// Characters that need no escape in a segment of a path (RFC 3986: pchar), and the slash.
static PLAIN_IN_PATH: [bool; 256] = table(b"-._~/!$&'()*+,;=:@");
/// What may be in path and query of a URL, escapes included.
static LEGAL_IN_URL: [bool; 256] = table(b"-._~/!$&'()*+,;=:@?%");

/// Letters, digits and these.
const fn table(marks: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    let mut at = 0;
    while at < marks.len() {
        table[marks[at] as usize] = true;
        at += 1;
    }
    table
}

fn encode(into: &mut String, text: &str, plain: &[bool; 256]) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    if text.bytes().all(|byte| plain[usize::from(byte)]) {
        into.push_str(text);
        return;
    }
    for byte in text.bytes() {
        if plain[usize::from(byte)] {
            into.push(char::from(byte));
        } else {
            into.push('%');
            into.push(char::from(HEX[usize::from(byte >> 4)]));
            into.push(char::from(HEX[usize::from(byte & 15)]));
        }
    }
}

/// Undo the escapes of a URL; what is not an escape stays.
#[must_use]
pub fn decode(text: &[u8]) -> Vec<u8> {
    let digit = |at: usize| text.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        match (text[at], digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            (byte, ..) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(url: &str) -> Address {
        Address::parse(url).unwrap()
    }

    #[test]
    fn parts_of_a_url() {
        let plain = address("http://se.site.org/data/");
        assert_eq!((plain.tls, plain.host.as_str(), plain.port), (false, "se.site.org", 80));
        assert_eq!(plain.authority, "se.site.org");
        let other = address("davs://[::1]:8443");
        assert_eq!((other.tls, other.host.as_str(), other.port), (true, "::1", 8443));
        assert_eq!(other.authority, "[::1]:8443");
        assert!(other.is_loopback());
        assert!(address("http://127.8.9.1:1/").is_loopback() && address("http://LocalHost/").is_loopback());
        assert!(!address("http://localhost.site.org/").is_loopback() && !address("http://10.0.0.1/").is_loopback());
    }

    #[test]
    fn wrong_urls_are_named_and_secrets_are_not() {
        for (url, what) in [
            ("se01/data", "invalid format"),
            ("/data", "no protocol"),
            ("root://se01//data", "root is another protocol"),
            ("http://se01:99999/", "no such port"),
            ("http://se01:0/", "no such port"),
            ("", "empty"),
        ] {
            let error = Address::parse(url).unwrap_err().to_string();
            assert!(error.contains(what), "{url}: {error}");
            assert!(error.contains("; expected "), "{error}");
        }
        assert!(!Address::parse("http://me:secret@se01/").unwrap_err().to_string().contains("secret"));
        assert!(!Address::parse("gopher://se01/?authz=secret").unwrap_err().to_string().contains("secret"));
        assert!(!Address::parse("gopher://me:secret@se01/").unwrap_err().to_string().contains("secret"));
    }

    #[test]
    fn objects_are_encoded_and_folders_end_with_a_slash() {
        let base = address("http://h/base/");
        assert_eq!(base.object("a b/c?d#e%f", false), "/base/a%20b/c%3Fd%23e%25f");
        assert_eq!(base.object("/ü", false), "/base/%C3%BC");
        assert_eq!(base.object("", true), "/base/");
        assert_eq!(base.object("x", true), "/base/x/");
        assert_eq!(base.object("x/", true), "/base/x/");
        assert_eq!(address("http://h").object("x", false), "/x");
        assert_eq!(address("http://h/b?authz=t").object("x", false), "/b/x?authz=t");
    }

    #[test]
    fn requests_keep_their_url() {
        let base = address("http://h/base/?t=1");
        assert_eq!(base.request(""), "/base/?t=1");
        assert_eq!(base.request("a%20b?c=d e"), "/base/a%20b?c=d%20e&t=1");
        assert_eq!(address("http://h/status").request(""), "/status");
        assert_eq!(address("http://h/status").request("?full"), "/status?full");
        assert_eq!(address("http://h").request(""), "/");
    }

    #[test]
    fn escapes_are_undone() {
        assert_eq!(decode(b"a%20b%2fc%zz%4"), b"a b/c%zz%4");
    }
}
