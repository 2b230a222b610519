//! Redirects (RFC 9110, 15.4): which are followed, and where they lead.

use http::{Method, StatusCode};

use crate::address::Address;

/// Where a redirect leads.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    /// To another path, query included, of the same server.
    Path(String),
    /// To this address, which may be of another server, and this path there.
    Elsewhere(Box<Address>, String),
}

/// Whether an answer of this status sends a request elsewhere, the method unchanged.
///
/// 301 and 302 allow a POST to become a GET, and no other method is sent with one here. 303 says where something else is to be had, which is
/// what was asked for when that is read.
pub(crate) fn leads_on(status: StatusCode, method: &Method) -> bool {
    match status.as_u16() {
        301 | 302 | 307 | 308 => true,
        303 => matches!(*method, Method::GET | Method::HEAD),
        _ => false,
    }
}

/// Read a Location header; `tls` and `path` are those of the request that it answers. None: it leads nowhere.
pub(crate) fn destination(location: &str, tls: bool, path: &str) -> Option<Destination> {
    let location = location.split('#').next().unwrap_or_default();
    let path = path.split('?').next().unwrap_or_default();
    if location.is_empty() || location.bytes().any(|byte| byte <= b' ' || byte >= 127) {
        return None;
    }
    let absolute = if location.starts_with("//") {
        format!("{}:{location}", if tls { "https" } else { "http" })
    } else if location.starts_with('/') {
        return Some(Destination::Path(location.to_owned()));
    } else if location.starts_with('?') {
        return Some(Destination::Path(format!("{path}{location}")));
    } else if has_scheme(location) {
        location.to_owned()
    } else {
        let folder = path.rfind('/').map_or("/", |slash| &path[..=slash]);
        return Some(Destination::Path(format!("{folder}{location}")));
    };
    let address = Address::parse(&absolute).ok()?;
    let path = address.written();
    Some(Destination::Elsewhere(Box::new(address), path))
}

/// Whether a redirect leads to the same object of the same host: over TLS, at another port or with a slash at its end, say.
pub(crate) fn stays(to: &Destination, host: &str, asked: &str) -> bool {
    let path = match to {
        Destination::Path(path) => path,
        Destination::Elsewhere(address, path) if address.host.eq_ignore_ascii_case(host) => path,
        Destination::Elsewhere(..) => return false,
    };
    let bare = |path: &str| path.split('?').next().unwrap_or_default().trim_end_matches('/').to_owned();
    bare(path) == bare(asked)
}

/// Whether a reference begins with a protocol (RFC 3986, 4.2).
fn has_scheme(reference: &str) -> bool {
    let end = reference.find([':', '/', '?']).unwrap_or(reference.len());
    reference[end..].starts_with(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(location: &str) -> Option<String> {
        match destination(location, false, "/a/b?c=d")? {
            Destination::Path(path) => Some(path),
            Destination::Elsewhere(..) => None,
        }
    }

    #[test]
    fn references_are_resolved() {
        assert_eq!(path("/x?y=z#part").unwrap(), "/x?y=z");
        assert_eq!(path("x").unwrap(), "/a/x");
        assert_eq!(path("?t=1").unwrap(), "/a/b?t=1");
        for (location, tls, url) in [
            ("https://pool7:2880/f%20?uuid=1", false, (true, "pool7", 2880, "/f%20?uuid=1")),
            ("HTTP://pool7", true, (false, "pool7", 80, "/")),
            ("//pool7/x", true, (true, "pool7", 443, "/x")),
        ] {
            let Some(Destination::Elsewhere(to, path)) = destination(location, tls, "/a") else { panic!("{location}") };
            assert_eq!((to.tls, to.host.as_str(), to.port, path.as_str()), url);
        }
    }

    #[test]
    fn what_leads_nowhere_is_not_followed() {
        for location in
            ["", "#part", "root://se//x", "https://", "http://me:pw@h/", "/a b", "/\u{e4}", "x:y", "http://h:0/"]
        {
            assert_eq!(destination(location, false, "/a"), None, "{location}");
        }
    }

    #[test]
    fn s11_what_changes_something_stays_where_it_was_meant_to_be() {
        let to = |location| destination(location, false, "/data/f1").unwrap();
        for location in ["https://se:2880/data/f1", "/data/f1?token=x", "http://SE/data/f1/", "f1"] {
            assert!(stays(&to(location), "se", "/data/f1?a=b"), "{location}");
        }
        for location in ["http://pool/data/f1", "/data/f2", "http://se/other/f1", "/", "../f1", "/data/f1/../f2"] {
            assert!(!stays(&to(location), "se", "/data/f1"), "{location}");
        }
    }

    #[test]
    fn methods_stay_what_they_are() {
        for status in [301, 302, 307, 308] {
            assert!(leads_on(StatusCode::from_u16(status).unwrap(), &Method::PUT));
        }
        assert!(leads_on(StatusCode::SEE_OTHER, &Method::HEAD) && !leads_on(StatusCode::SEE_OTHER, &Method::PUT));
        assert!(!leads_on(StatusCode::NOT_MODIFIED, &Method::GET) && !leads_on(StatusCode::OK, &Method::GET));
    }
}
