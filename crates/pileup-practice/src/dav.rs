//! Listings as WebDAV gives them (RFC 4918, 14.16).

use std::fmt::Write;
use std::time::SystemTime;

use crate::store::{Folder, Node, Object};

const BEGIN: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<D:multistatus xmlns:D=\"DAV:\">\n";
const END: &str = "</D:multistatus>\n";

/// The multistatus of a node, with what is directly in it when it is a folder and `deep` is set.
pub(crate) fn multistatus(names: &[String], node: &Node, deep: bool) -> String {
    let mut out = String::from(BEGIN);
    let mut href = String::new();
    for name in names {
        href.push('/');
        encode(&mut href, name);
    }
    match node {
        Node::Object(found) => object(&mut out, &href, names.last().map_or("", String::as_str), found),
        Node::Folder(found) => {
            folder(&mut out, &href, names.last().map_or("", String::as_str), found);
            if deep {
                children(&mut out, &href, found);
            }
        }
    }
    out.push_str(END);
    out
}

fn children(out: &mut String, base: &str, parent: &Folder) {
    for (name, child) in &parent.children {
        let mut href = format!("{base}/");
        encode(&mut href, name);
        match child {
            Node::Object(found) => object(out, &href, name, found),
            Node::Folder(found) => folder(out, &href, name, found),
        }
    }
}

fn object(out: &mut String, href: &str, name: &str, object: &Object) {
    begin(out, href, name);
    let _ = write!(
        out,
        "<D:resourcetype/><D:getcontentlength>{}</D:getcontentlength>\
         <D:getcontenttype>application/octet-stream</D:getcontenttype><D:getetag>{}</D:getetag>",
        object.data.len(),
        object.tag().replace('"', "&quot;")
    );
    end(out, object.modified);
}

fn folder(out: &mut String, href: &str, name: &str, folder: &Folder) {
    begin(out, &format!("{href}/"), name);
    out.push_str("<D:resourcetype><D:collection/></D:resourcetype>");
    end(out, folder.modified);
}

fn begin(out: &mut String, href: &str, name: &str) {
    // An encoded path has no other sign of XML in it than these two.
    let href = href.replace('&', "&amp;").replace('\'', "%27");
    let _ = write!(out, "<D:response><D:href>{href}</D:href><D:propstat><D:prop><D:displayname>");
    for character in name.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            other => out.push(other),
        }
    }
    out.push_str("</D:displayname>");
}

fn end(out: &mut String, modified: SystemTime) {
    let _ = writeln!(
        out,
        "<D:getlastmodified>{}</D:getlastmodified></D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>",
        httpdate::fmt_http_date(modified)
    );
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
        let text = multistatus(&folder.names, store.get(&folder.names).unwrap(), true);
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
        let alone = multistatus(&folder.names, store.get(&folder.names).unwrap(), false);
        assert_eq!(alone.matches("<D:response>").count(), 1);
        assert!(multistatus(&[], store.get(&[]).unwrap(), false).contains("<D:href>/</D:href>"));
    }
}
