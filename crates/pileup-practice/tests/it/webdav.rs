//! HTTP and WebDAV as other clients expect them.

use std::io::Write;

use serde_json::json;

use crate::kit::Storage;

#[test]
fn objects() {
    let storage = Storage::new(json!({}));
    let mut connection = storage.connect();
    assert_eq!(connection.ask("PUT /no/a", &[], b"abc").status, 409);
    assert_eq!(connection.ask("PUT /a%20b", &[], b"0123456789").status, 201);
    let first = connection.ask("GET /a%20b", &[], b"");
    assert_eq!((first.status, first.text().as_str()), (200, "0123456789"));
    assert_eq!(first.header("accept-ranges"), Some("bytes"));
    assert!(first.header("last-modified").is_some() && first.header("date").is_some());
    assert_eq!(connection.ask("PUT /a%20b", &[], b"9876543210").status, 204);
    let second = connection.ask("HEAD /a%20b", &[], b"");
    assert_eq!((second.status, second.header("content-length")), (200, Some("10")));
    assert_ne!(first.header("etag").unwrap(), second.header("etag").unwrap());
    assert_eq!(connection.ask("DELETE /a%20b", &[], b"").status, 204);
    assert_eq!(connection.ask("DELETE /a%20b", &[], b"").status, 404);
    assert_eq!(connection.ask("HEAD /a%20b", &[], b"").status, 404);
    assert_eq!(connection.ask("GET /../etc/passwd", &[], b"").status, 400);
    let other = connection.ask("POST /", &[], b"x");
    assert_eq!((other.status, other.header("allow").is_some()), (405, true));
}

#[test]
fn ranges() {
    let storage = Storage::new(json!({}));
    let mut connection = storage.connect();
    connection.ask("PUT /a", &[], b"0123456789");
    let mut range = |value: &str| {
        let answer = connection.ask("GET /a", &[&format!("Range: {value}")], b"");
        (answer.status, answer.header("content-range").unwrap_or_default().to_owned(), answer.text())
    };
    assert_eq!(range("bytes=2-4"), (206, "bytes 2-4/10".to_owned(), "234".to_owned()));
    assert_eq!(range("bytes=7-"), (206, "bytes 7-9/10".to_owned(), "789".to_owned()));
    assert_eq!(range("bytes=-2"), (206, "bytes 8-9/10".to_owned(), "89".to_owned()));
    assert_eq!(range("bytes=10-"), (416, "bytes */10".to_owned(), String::new()));
    assert_eq!(range("bytes=0-1,3-4"), (200, String::new(), "0123456789".to_owned()));
    let tag = connection.ask("HEAD /a", &[], b"").header("etag").unwrap().to_owned();
    for (tag, status) in [(tag.as_str(), 206), ("\"other\"", 200)] {
        assert_eq!(connection.ask("GET /a", &["Range: bytes=1-1", &format!("If-Range: {tag}")], b"").status, status);
    }
}

#[test]
fn checksums() {
    let storage = Storage::new(json!({}));
    let mut connection = storage.connect();
    assert_eq!(connection.ask("PUT /a", &["Digest: adler32=11e60399"], b"Wikipedia").status, 400);
    assert_eq!(connection.ask("GET /a", &[], b"").status, 404);
    assert_eq!(connection.ask("PUT /a", &["Digest: md5=x, ADLER32=11e60398"], b"Wikipedia").status, 201);
    assert_eq!(connection.ask("HEAD /a", &["Want-Digest: adler32"], b"").header("digest"), Some("adler32=11e60398"));
    assert_eq!(
        connection.ask("GET /a", &["Want-Digest: md5;q=1, adler32"], b"").header("digest"),
        Some("adler32=11e60398")
    );
    assert_eq!(connection.ask("GET /a", &[], b"").header("digest"), None);
}

#[test]
fn folders() {
    let storage = Storage::new(json!({}));
    let mut connection = storage.connect();
    assert_eq!(connection.ask("MKCOL /f/g", &[], b"").status, 409);
    assert_eq!(connection.ask("MKCOL /f/", &[], b"").status, 201);
    assert_eq!(connection.ask("MKCOL /f", &[], b"").status, 405);
    assert_eq!(connection.ask("MKCOL /x", &[], b"<a/>").status, 415);
    assert_eq!(connection.ask("PUT /f", &[], b"x").status, 405);
    for name in ["a", "b"] {
        assert_eq!(connection.ask(&format!("PUT /f/{name}"), &[], b"x").status, 201);
    }
    for (depth, responses) in [("0", 1), ("1", 3)] {
        let listing = connection.ask(
            "PROPFIND /f",
            &[&format!("Depth: {depth}")],
            b"<?xml version='1.0'?><propfind xmlns='DAV:'><allprop/></propfind>",
        );
        assert_eq!((listing.status, listing.text().matches("<D:response>").count()), (207, responses));
    }
    let refused = connection.ask("PROPFIND /", &["Depth: infinity"], b"");
    assert_eq!((refused.status, refused.text().contains("propfind-finite-depth")), (403, true));
    let without = connection.ask("PROPFIND /f", &[], b"");
    assert_eq!((without.status, without.text().matches("<D:response>").count()), (207, 3));
    assert_eq!(connection.ask("PROPFIND /none", &["Depth: 1"], b"").status, 404);
    let able = connection.ask("OPTIONS /", &[], b"");
    assert_eq!((able.status, able.header("dav")), (200, Some("1")));
    assert_eq!(connection.ask("DELETE /f", &[], b"").status, 204);
    assert_eq!(connection.ask("GET /f/a", &[], b"").status, 404);
    assert_eq!(connection.ask("DELETE /", &[], b"").status, 403);
    let root = connection.ask("GET /", &[], b"");
    assert_eq!((root.status, root.text().as_str()), (200, "pileup practice storage: a folder with 0 entries\n"));
    assert_eq!(connection.ask("HEAD /", &[], b"").header("content-length"), Some("49"));
}

#[test]
fn uploads_of_unknown_size_and_those_that_ask_first() {
    let storage = Storage::new(json!({"capacity": 20}));
    let mut connection = storage.connect();
    let head = "PUT /a HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n";
    connection.0.write_all(format!("{head}5\r\nabcde\r\n3\r\nfgh\r\n0\r\n\r\n").as_bytes()).unwrap();
    assert_eq!(connection.answer(true).unwrap().status, 201);
    assert_eq!(connection.ask("GET /a", &[], b"").text(), "abcdefgh");
    connection.0.write_all(format!("{head}10\r\n0123456789abcdef\r\n0\r\n\r\n").as_bytes()).unwrap();
    assert_eq!(connection.answer(true).unwrap().status, 507);
    let mut asking = storage.connect();
    asking.0.write_all(b"PUT /b HTTP/1.1\r\nhost: h\r\ncontent-length: 3\r\nexpect: 100-continue\r\n\r\n").unwrap();
    assert_eq!(asking.answer(false).unwrap().status, 100);
    asking.0.write_all(b"xyz").unwrap();
    assert_eq!(asking.answer(true).unwrap().status, 201);
    let mut asking = storage.connect();
    asking.0.write_all(b"PUT /b HTTP/1.1\r\nhost: h\r\ncontent-length: 300\r\nexpect: 100-continue\r\n\r\n").unwrap();
    assert_eq!(asking.answer(true).unwrap().status, 507, "before anything was sent in vain");
    let lines = storage.lines();
    assert_eq!(lines.len(), 5);
    assert!(lines.iter().all(|line| line.path == "/a" || line.path == "/b"));
    assert_eq!(lines.iter().filter(|line| line.method == "PUT").map(|line| line.bytes_in).max(), Some(16));
}

const SPACES: &str = "xmlns:D='DAV:' xmlns:p='urn:p'";

#[test]
fn a11_properties_are_kept_with_their_namespaces() {
    let storage = Storage::new(json!({}));
    let mut connection = storage.connect();
    connection.ask("PUT /a", &[], b"abc");
    let patch = |inner: &str| format!("<D:propertyupdate {SPACES}>{inner}</D:propertyupdate>").into_bytes();
    let set = patch("<D:set><D:prop><p:x>1<y/></p:x><D:displayname>other</D:displayname></D:prop></D:set>");
    let done = connection.ask("PROPPATCH /a", &[], &set);
    assert_eq!((done.status, done.text().matches("200 OK").count()), (207, 2));
    let both =
        patch("<D:remove><D:prop><p:x/></D:prop></D:remove><D:set><D:prop><D:getetag>1</D:getetag></D:prop></D:set>");
    let refused = connection.ask("PROPPATCH /a", &[], &both).text();
    assert!(refused.contains("<x xmlns=\"urn:p\"/></D:prop><D:status>HTTP/1.1 424 "), "{refused}");
    assert!(refused.contains("<D:getetag/></D:prop><D:status>HTTP/1.1 403 "), "{refused}");
    connection.ask("PUT /a", &[], b"written again");
    assert_eq!(connection.ask("COPY /a", &["Destination: /b"], b"").status, 201);
    for name in ["a", "b"] {
        let ask = format!("<D:propfind {SPACES}><D:prop><p:x/><p:z/><D:displayname/></D:prop></D:propfind>");
        let told = connection.ask(&format!("PROPFIND /{name}"), &["Depth: 0"], ask.as_bytes()).text();
        let (found, missing) = told.split_once("200 OK").unwrap();
        assert!(found.contains("<x xmlns=\"urn:p\">1<y xmlns=\"\"></y></x>"), "{told}");
        assert!(found.contains("<displayname xmlns=\"DAV:\">other</displayname>"), "{told}");
        assert!(missing.contains("<z xmlns=\"urn:p\"/></D:prop><D:status>HTTP/1.1 404 "), "{told}");
    }
    let everything = connection.ask("PROPFIND /a", &["Depth: 0"], b"").text();
    assert!(everything.contains("<x xmlns=\"urn:p\">") && everything.contains("getcontentlength>13<"), "{everything}");
    assert_eq!(connection.ask("PROPPATCH /none", &[], &set).status, 404);
    assert_eq!(connection.ask("PROPPATCH /a", &[], b"<x").status, 400);
    assert_eq!(connection.ask("PROPFIND /a", &["Depth: 0"], b"<D:propfind xmlns:D='DAV:'><D:prop>").status, 400);
}

#[test]
fn a11_copies_and_moves() {
    let storage = Storage::new(json!({}));
    let mut connection = storage.connect();
    connection.ask("MKCOL /f", &[], b"");
    connection.ask("PUT /f/a%20b", &[], b"abc");
    let mut ask = |line: &str, headers: &[&str]| connection.ask(line, headers, b"").status;
    assert_eq!(ask("COPY /f", &["Destination: http://h/g/"]), 201);
    assert_eq!(ask("COPY /f", &["Destination: /g", "Overwrite: F"]), 412);
    assert_eq!(ask("COPY /f", &["Destination: /g", "Depth: 0"]), 204);
    assert_eq!(ask("HEAD /g/a%20b", &[]), 404);
    assert_eq!(ask("MOVE /f/a%20b", &["Destination: http://H/g/c%20d"]), 201);
    assert_eq!((ask("HEAD /g/c%20d", &[]), ask("HEAD /f/a%20b", &[])), (200, 404));
    for (line, headers, status) in [
        ("MOVE /g", &["Destination: http://other/x"][..], 502),
        ("MOVE /g", &["Destination: ftp://h/x"], 502),
        ("MOVE /g", &["Destination: /g/h"], 403),
        ("MOVE /g", &["Destination: /no/h"], 409),
        ("MOVE /g", &["Destination: /../h"], 400),
        ("MOVE /g", &["Destination: /h", "Depth: 0"], 400),
        ("MOVE /g", &["Destination: /h", "Overwrite: maybe"], 400),
        ("COPY /g", &["Destination: /h", "Depth: 1"], 400),
        ("MOVE /g", &[], 400),
        ("MOVE /no", &["Destination: /h"], 404),
        ("COPY /", &["Destination: /h"], 403),
    ] {
        assert_eq!(ask(line, headers), status, "{line} {headers:?}");
    }
    assert_eq!(ask("HEAD /g/c%20d", &[]), 200);
}

#[test]
fn conditions_keep_what_is_there() {
    let storage = Storage::new(json!({}));
    let mut connection = storage.connect();
    let create = &["If-None-Match: *"][..];
    assert_eq!(connection.ask("PUT /a", create, b"first").status, 201);
    assert_eq!(connection.ask("PUT /a", create, b"second").status, 412);
    assert_eq!(connection.ask("GET /a", &[], b"").text(), "first");
    let tag = connection.ask("HEAD /a", &[], b"").header("etag").unwrap().to_owned();
    assert_eq!(connection.ask("PUT /a", &["If-Match: \"other\""], b"third").status, 412);
    assert_eq!(connection.ask("HEAD /a", &[&format!("If-None-Match: {tag}")], b"").status, 304);
    assert_eq!(connection.ask("PUT /a", &[&format!("If-Match: {tag}")], b"third").status, 204);
    assert_eq!(connection.ask("DELETE /a", &[&format!("If-Match: {tag}")], b"").status, 412);
    // Two uploads under way at once: the one that ends first is kept.
    let (mut slow, mut fast) = (storage.connect(), storage.connect());
    let head = "PUT /b HTTP/1.1\r\nhost: h\r\nif-none-match: *\r\ncontent-length: 2\r\n\r\n";
    slow.0.write_all(format!("{head}s").as_bytes()).unwrap();
    assert_eq!(fast.ask("HEAD /b", &[], b"").status, 404);
    assert_eq!(fast.ask("PUT /b", create, b"ff").status, 201);
    slow.0.write_all(b"s").unwrap();
    assert_eq!(slow.answer(true).unwrap().status, 412);
    assert_eq!(fast.ask("GET /b", &[], b"").text(), "ff");
}
