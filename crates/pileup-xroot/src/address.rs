//! The address of a target, and how the name of an object becomes a path there.

use pileup_net::{Unusable, words};

use crate::frame::split_port;

/// Where the target is: `root://user@host:port//base?opaque` in its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    /// Whether TLS is spoken from the login on.
    pub(crate) tls: bool,
    /// User to log in as.
    pub(crate) user: Option<String>,
    /// Name or address of the host, without the brackets of IPv6.
    pub(crate) host: String,
    /// Port.
    pub(crate) port: u16,
    /// Path below which the objects are; begins with a slash, has none at its end (empty: the root).
    pub(crate) base: String,
    /// What is added to every path; empty: nothing.
    pub(crate) opaque: String,
}

impl Address {
    /// Read a URL.
    ///
    /// # Errors
    /// What is wrong with it, in three parts.
    pub(crate) fn parse(url: &str) -> Result<Self, Unusable> {
        let wrong = |what: &str| {
            let what = format!("url {}: {what}", words::url(url));
            Unusable::new(what, "root://host[:port]//path or roots://…", "correct the url of the target")
        };
        let (scheme, rest) = url.split_once("://").ok_or_else(|| wrong("no protocol"))?;
        let tls = match scheme {
            "root" | "xroot" => false,
            "roots" | "xroots" => true,
            other => return Err(wrong(&format!("{} is another protocol", other.escape_debug()))),
        };
        let (rest, opaque) = rest.split_once('?').unwrap_or((rest, ""));
        let slash = rest.find('/').unwrap_or(rest.len());
        let (authority, path) = rest.split_at(slash);
        let (user, place) = match authority.rsplit_once('@') {
            None => (None, authority),
            Some((user, _)) if user.contains(':') => {
                let expected = "at most a user name before @";
                return Err(Unusable::new("url holds a password", expected, "take it out of the url"));
            }
            Some((user, place)) => (Some(user.to_owned()), place),
        };
        let (host, port) = split_port(place).ok_or_else(|| wrong("no such port"))?;
        if host.is_empty() || host.bytes().any(|byte| byte <= b' ' || byte == 127) {
            return Err(wrong("no host"));
        }
        if url.bytes().any(|byte| byte < b' ' || byte == 127) {
            return Err(wrong("a control character"));
        }
        let base = path.trim_matches('/');
        let base = if base.is_empty() { String::new() } else { format!("/{base}") };
        let opaque = opaque.trim_matches('&').to_owned();
        Ok(Self { tls, user, host: host.to_owned(), port: port.unwrap_or(1094), base, opaque })
    }

    /// The path of an object. A name cannot hold what the protocol takes for an end or for a separator.
    ///
    /// # Errors
    /// When the name cannot be said, or leaves the target's folder.
    pub(crate) fn path(&self, key: &str, into: &mut String) -> Result<(), &'static str> {
        into.clear();
        if key.split('/').any(|name| name == "..") {
            return Err("the path leaves the target's folder; expected one without ..");
        }
        if key.contains(['?', '\0', '\n', '\r']) {
            return Err("the path holds ?, a line break or a zero; expected a name that xroot can say");
        }
        into.push_str(&self.base);
        into.push('/');
        into.push_str(key.trim_start_matches('/'));
        if into.len() > PATH { Err("the path is longer than 16 KiB; expected a shorter one") } else { Ok(()) }
    }
}

/// Longest path.
const PATH: usize = 16 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn address(url: &str) -> Address {
        Address::parse(url).unwrap()
    }

    fn path(url: &str, key: &str) -> Result<String, &'static str> {
        let mut path = "before".to_owned();
        address(url).path(key, &mut path).map(|()| path)
    }

    #[test]
    fn parts_of_a_url() {
        let plain = address("root://se.site.org//data/x/?a=b");
        assert_eq!((plain.tls, plain.host.as_str(), plain.port), (false, "se.site.org", 1094));
        assert_eq!((plain.base.as_str(), plain.opaque.as_str(), plain.user), ("/data/x", "a=b", None));
        let other = address("roots://u7@[::1]:1095");
        assert_eq!((other.tls, other.host.as_str(), other.port, other.base.as_str()), (true, "::1", 1095, ""));
        assert_eq!(other.user.as_deref(), Some("u7"));
        assert_eq!(address("root://h/data").base, "/data");
    }

    #[test]
    fn wrong_urls_are_named_and_secrets_are_not() {
        for (url, what) in [
            ("se01//data", "no protocol"),
            ("http://se01//data", "http is another protocol"),
            ("root://se01:99999//", "no such port"),
            ("root://se01:0//", "no such port"),
            ("root://se01:x//", "no such port"),
            ("root://[::1//", "no such port"),
            ("root:////data", "no host"),
            ("root://a b//", "no host"),
            ("root://h//a\nb", "a control character"),
            ("", "no protocol"),
        ] {
            let error = Address::parse(url).unwrap_err().to_string();
            assert!(error.contains(what), "{url}: {error}");
            assert!(error.contains("; expected "), "{error}");
        }
        for url in ["root://me:secret@se01//", "gopher://me@secret//", "gopher://h//?authz=secret"] {
            assert!(!Address::parse(url).unwrap_err().to_string().contains("secret"), "{url}");
        }
    }

    #[test]
    fn objects_are_below_the_base() {
        assert_eq!(path("root://h//base/", "a b/c").unwrap(), "/base/a b/c");
        assert_eq!(path("root://h//base", "/x").unwrap(), "/base/x");
        assert_eq!(path("root://h", "").unwrap(), "/");
        for key in ["../x", "a/../../x", "a?b", "a\0b", "a\nb", &"x".repeat(20_000)] {
            assert!(path("root://h//base", key).unwrap_err().contains("; expected "));
        }
    }
}
