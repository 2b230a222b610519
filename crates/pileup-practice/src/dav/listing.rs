//! Listings as WebDAV gives them (RFC 4918, 14.16).

use std::fmt::Write;
use std::time::SystemTime;

use super::asked::Wanted;
use super::properties::{DAV, Name, Properties, escape};
use crate::store::{Folder, Node, Object};

/// How a text of XML begins.
pub(crate) const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n";
const BEGIN: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<D:multistatus xmlns:D=\"DAV:\">\n";
const END: &str = "</D:multistatus>\n";
/// Properties that the storage makes itself, of objects and of folders.
const LIVE: [&str; 6] =
    ["displayname", "resourcetype", "getcontentlength", "getcontenttype", "getetag", "getlastmodified"];
/// The one of them that a client may set.
pub(crate) const OPEN: &str = "displayname";

/// The multistatus of a node, with what is directly in it when it is a folder and `deep` is set.
pub(crate) fn multistatus(names: &[String], node: &Node, deep: bool, wanted: &Wanted) -> String {
    let mut out = String::from(BEGIN);
    let href = href(names);
    response(&mut out, &href, names.last().map_or("", String::as_str), node, wanted);
    if let Node::Folder(folder) = node
        && deep
    {
        for (name, child) in &folder.children {
            let mut href = format!("{href}/");
            encode(&mut href, name);
            response(&mut out, &href, name, child, wanted);
        }
    }
    out.push_str(END);
    out
}

/// The answer to changes of properties: these names with a status each.
pub(crate) fn changed<'a>(names: &[String], folder: bool, told: impl Iterator<Item = (&'a Name, &'a str)>) -> String {
    let mut out = String::from(BEGIN);
    begin(&mut out, &href(names), folder);
    for (name, status) in told {
        out.push_str("<D:propstat><D:prop>");
        name.element(&mut out);
        end(&mut out, status);
    }
    out.push_str("</D:response>\n");
    out.push_str(END);
    out
}

fn href(names: &[String]) -> String {
    let mut href = String::new();
    for name in names {
        href.push('/');
        encode(&mut href, name);
    }
    href
}

/// What is known of one node.
struct Known<'a> {
    name: &'a str,
    node: &'a Node,
}

fn response(out: &mut String, href: &str, name: &str, node: &Node, wanted: &Wanted) {
    let known = Known { name, node };
    begin(out, href, matches!(node, Node::Folder(_)));
    match wanted {
        Wanted::All => known.all(out),
        Wanted::Names => known.names(out),
        Wanted::These(names) => known.these(out, names),
    }
    out.push_str("</D:response>\n");
}

impl Known<'_> {
    fn set(&self) -> &Properties {
        self.node.properties()
    }

    fn all(&self, out: &mut String) {
        out.push_str("<D:propstat><D:prop>");
        for local in LIVE {
            if local != OPEN || self.set().get(&open()).is_none() {
                self.live(out, local);
            }
        }
        for (_, element) in self.set().iter() {
            out.push_str(element);
        }
        end(out, "200 OK");
    }

    fn names(&self, out: &mut String) {
        out.push_str("<D:propstat><D:prop>");
        for local in LIVE {
            if self.live(&mut String::new(), local) {
                let _ = write!(out, "<D:{local}/>");
            }
        }
        for (name, _) in self.set().iter().filter(|(name, _)| name.dav() != Some(OPEN)) {
            name.element(out);
        }
        end(out, "200 OK");
    }

    fn these(&self, out: &mut String, names: &[Name]) {
        out.push_str("<D:propstat><D:prop>");
        let mut missing = Vec::new();
        for name in names {
            if let Some(element) = self.set().get(name) {
                out.push_str(element);
            } else if !name.dav().is_some_and(|local| self.live(out, local)) {
                missing.push(name);
            }
        }
        end(out, "200 OK");
        if missing.is_empty() {
            return;
        }
        out.push_str("<D:propstat><D:prop>");
        for name in missing {
            name.element(out);
        }
        end(out, "404 Not Found");
    }

    /// Append a property that the storage makes; false: there is none of this name.
    fn live(&self, out: &mut String, local: &str) -> bool {
        match (local, self.node) {
            ("displayname", _) => {
                out.push_str("<D:displayname>");
                escape(out, self.name);
                out.push_str("</D:displayname>");
            }
            ("resourcetype", Node::Folder(_)) => out.push_str("<D:resourcetype><D:collection/></D:resourcetype>"),
            ("resourcetype", Node::Object(_)) => out.push_str("<D:resourcetype/>"),
            ("getlastmodified", Node::Folder(Folder { modified, .. }) | Node::Object(Object { modified, .. })) => {
                time(out, *modified);
            }
            ("getcontentlength", Node::Object(object)) => {
                let _ = write!(out, "<D:getcontentlength>{}</D:getcontentlength>", object.data.len());
            }
            ("getcontenttype", Node::Object(_)) => {
                out.push_str("<D:getcontenttype>application/octet-stream</D:getcontenttype>");
            }
            ("getetag", Node::Object(object)) => {
                out.push_str("<D:getetag>");
                escape(out, &object.tag());
                out.push_str("</D:getetag>");
            }
            _ => return false,
        }
        true
    }
}

fn open() -> Name {
    Name { space: DAV.to_owned(), local: OPEN.to_owned() }
}

fn begin(out: &mut String, href: &str, folder: bool) {
    // An encoded path has no other sign of XML in it than these two.
    let href = href.replace('&', "&amp;").replace('\'', "%27");
    let _ = write!(out, "<D:response><D:href>{href}{}</D:href>", if folder { "/" } else { "" });
}

fn end(out: &mut String, status: &str) {
    let _ = write!(out, "</D:prop><D:status>HTTP/1.1 {status}</D:status></D:propstat>");
}

fn time(out: &mut String, modified: SystemTime) {
    let _ = write!(out, "<D:getlastmodified>{}</D:getlastmodified>", httpdate::fmt_http_date(modified));
}

/// Append a name as a segment of a path (RFC 3986).
fn encode(into: &mut String, name: &str) {
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&byte) {
            into.push(char::from(byte));
        } else {
            let _ = write!(into, "%{byte:02X}");
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::store::{Path, Store};

    #[test]
    fn folders_and_objects_are_told_apart_and_names_escaped() {
        let mut store = Store::new(1000);
        let path = |text: &str| Path::parse(text).unwrap();
        store.make_folder(&path("/a%20&%3C")).unwrap();
        store.make_folder(&path("/a%20&%3C/sub")).unwrap();
        store.reserve(3).unwrap();
        store.put(&path("/a%20&%3C/f'%C3%BC"), Bytes::from_static(b"abc")).unwrap();
        let folder = path("/a%20&%3C");
        let text = multistatus(&folder.names, store.get(&folder.names).unwrap(), true, &Wanted::All);
        assert_eq!(text.matches("<D:response>").count(), 3);
        assert_eq!(text.matches("<D:collection/>").count(), 2);
        for part in [
            "<D:href>/a%20&amp;%3C/</D:href>",
            "<D:href>/a%20&amp;%3C/sub/</D:href>",
            "<D:href>/a%20&amp;%3C/f%27%C3%BC</D:href>",
            "<D:displayname>a &amp;&lt;</D:displayname>",
            "<D:displayname>f'ü</D:displayname>",
            "<D:getcontentlength>3</D:getcontentlength>",
        ] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
        let alone = multistatus(&folder.names, store.get(&folder.names).unwrap(), false, &Wanted::All);
        assert_eq!(alone.matches("<D:response>").count(), 1);
        assert!(multistatus(&[], store.get(&[]).unwrap(), false, &Wanted::All).contains("<D:href>/</D:href>"));
    }
}
