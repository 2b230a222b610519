use proptest::prelude::*;

use super::*;

#[test]
fn heads_are_read_and_garbage_is_named() {
    assert_eq!(head([1, 2, 0, 0, 0, 0, 1, 0]), Ok(Head { stream: 258, status: Status::Ok, length: 256 }));
    assert_eq!(head([0, 1, 0x0f, 0xa7, 0, 0, 0, 24]).unwrap().status, Status::Checked);
    assert_eq!(head([0, 1, 0, 0, 0xff, 0, 0, 0]), Err("a negative length"));
    assert_eq!(head(*b"HTTP/1.1"), Err("an unknown status"));
}

#[test]
fn requests_are_those_of_the_specification() {
    let mut bytes = Vec::new();
    put(&mut bytes, 7, Code::Stat, [0; 16], &[b"/data", b"?a=b"]);
    assert_eq!(bytes[..4], [0, 7, 0x0b, 0xc9]);
    assert_eq!(bytes[20..], [&[0, 0, 0, 9][..], b"/data?a=b"].concat());
    bytes.clear();
    put_greeting(&mut bytes, 1, true);
    assert_eq!(bytes.len(), 20 + REQUEST);
    assert_eq!(bytes[20..34], [0, 1, 0x0b, 0xbe, 0, 0, 5, 0x11, 6, 3, 0, 0, 0, 0]);
    bytes.clear();
    put_login(&mut bytes, 2, "a name that is too long");
    assert_eq!(bytes[8..16], *b"a name t");
    assert_eq!(bytes[16..20], [0, 9, 133, 0]);
}

#[test]
fn logins_say_what_more_they_ask_for() {
    assert_eq!(login(&[0; 16]), Ok(vec![]));
    assert_eq!(login(&[]), Ok(vec![]), "servers before version 2.4");
    let asks = |text: &str| login(&[&[0; 16], text.as_bytes()].concat());
    assert_eq!(asks("&P=gsi,v:10400,c:ssl,ca:1234&P=unix\0"), Ok(vec!["gsi".into(), "unix".into()]));
    assert_eq!(asks("&P=../../etc"), Err("an answer to login that is not understood"));
    assert_eq!(asks("zzz"), Err("an answer to login that is not understood"));
    assert_eq!(login(&[0; 3]), Err("a short answer to login"));
}

#[test]
fn credentials_are_those_of_their_ways() {
    assert_eq!(unix("me"), b"unix\0me me\0");
    assert_eq!(ztn("abc").unwrap(), b"ztn\0\0T\0\0\0\x04abc\0");
    assert_eq!(ztn(&"x".repeat(65_535)), None);
    let mut bytes = Vec::new();
    put_credentials(&mut bytes, 3, "ztn", b"x");
    assert_eq!(bytes[..4], [0, 3, 0x0b, 0xb8]);
    assert_eq!(bytes[16..], *b"ztn\0\0\0\0\x01x");
}

#[test]
fn attributes_and_handles() {
    let found = Attributes { size: 5000, flags: 48, changed: 1_795_270_279 };
    assert_eq!(attributes(b"123 5000 48 1795270279\0"), Ok(found));
    assert_eq!(attributes(b"123 5000 48 1795270279 1 2 0644 u g\0"), Ok(found));
    assert_eq!(attributes(b" 123  5000\t48 1795270279 \0"), Ok(found));
    for text in
        [&b""[..], b"1 2 3", b"1 -2 3 4", b"1 99999999999999999999999 3 4", b"\xff 1 2 3", b"1 2 3 - 4", b"1 2 3 4x"]
    {
        assert_eq!(attributes(text), Err("invalid attributes"));
    }
    assert_eq!(opened(&[1, 2, 3, 4]), Ok(([1, 2, 3, 4], None)));
    assert_eq!(
        opened(&[&[1, 2, 3, 4][..], &[0; 8], b"123 5000 48 1795270279\0"].concat()),
        Ok(([1, 2, 3, 4], Some(found)))
    );
    assert!(opened(&[1, 2, 3]).is_err() && opened(b"1234567890123456").is_err());
}

#[test]
fn redirects_lead_somewhere_or_nowhere() {
    let of = |port: i32, text: &str| redirect(&[&port.to_be_bytes()[..], text.as_bytes()].concat());
    let place = |host: &str, port, tls, opaque: &str| {
        Ok(Redirect { host: host.to_owned(), port, tls, opaque: opaque.to_owned() })
    };
    assert_eq!(of(1094, "se01.site.org"), place("se01.site.org", 1094, false, ""));
    assert_eq!(of(1095, "[::1]?&a=b&c=d?token\0"), place("::1", 1095, false, "a=b&c=d"));
    assert_eq!(of(-1, "roots://u@se01:1096//data/x?a=b"), place("se01", 1096, true, "a=b"));
    assert_eq!(of(-1, "root://se01//x"), place("se01", 1094, false, ""));
    for (port, text) in
        [(0, "h"), (70_000, "h"), (1, ""), (1, "a b"), (-1, "h:1"), (-1, "root://:1"), (-1, "root://h:x")]
    {
        assert_eq!(of(port, text), Err("a redirect that leads nowhere"), "{text}");
    }
    assert_eq!(of(-1, "https://h/x"), Err("a redirect to another protocol"));
    assert!(redirect(&[1]).is_err());
}

#[test]
fn times_errors_and_sums() {
    assert_eq!(wait(&[0, 0, 1, 0, b'x']), Ok(256));
    assert_eq!(wait(&[0xff; 4]), Err("a wait of a negative time"));
    assert!(wait(&[1]).is_err());
    assert_eq!(error(b"\0\0\x0b\xc3no such file\0"), Ok((3011, "no such file".into())));
    assert!(error(b"\0").is_err());
    assert_eq!(checksum(b"adler32 03DA0195\0"), Ok(("adler32".into(), "03da0195".into())));
    for text in [&b""[..], b"adler32", b"adler32 xyz", b"/data/x 12", b"\xff\xff 12"] {
        assert_eq!(checksum(text), Err("an invalid checksum"));
    }
}

#[test]
fn answers_within_messages_fit_them() {
    let message = |number: i32, status: u16, length: i32| {
        let mut first = [0; 16];
        first[..4].copy_from_slice(&number.to_be_bytes());
        first[9] = 5;
        first[10..12].copy_from_slice(&status.to_be_bytes());
        first[12..].copy_from_slice(&length.to_be_bytes());
        first
    };
    let inner = Head { stream: 5, status: Status::Ok, length: 9 };
    assert_eq!(attention(message(5008, 0, 9), 25), Ok(Some(inner)));
    assert_eq!(attention(message(5002, 0, 9), 25), Ok(None));
    let wrong = Err("an answer within a message that does not fit it");
    assert_eq!(attention(message(5008, 0, 8), 25), wrong);
    assert_eq!(attention(message(5008, 4001, 9), 25), wrong, "messages do not nest");
    assert!(attention(message(5008, 0, -1), 25).is_err() && attention(message(5008, 77, 9), 25).is_err());
}

fn pages(stream: u16, code: u8, last: u8, length: i32, offset: i64) -> [u8; CHECKED] {
    let mut body = [0; CHECKED];
    body[4..6].copy_from_slice(&stream.to_be_bytes());
    (body[6], body[7]) = (code, last);
    body[12..16].copy_from_slice(&length.to_be_bytes());
    body[16..].copy_from_slice(&offset.to_be_bytes());
    let sum = crc32c::crc32c(&body[4..]);
    body[..4].copy_from_slice(&sum.to_be_bytes());
    body
}

#[test]
fn heads_of_pages_are_checked() {
    let good = Checked { partial: true, length: 4100, offset: 8192 };
    assert_eq!(checked(pages(3, 30, 1, 4100, 8192), 3, Code::PgRead), Ok(good));
    let mut torn = pages(3, 30, 1, 4100, 8192);
    torn[20] ^= 1;
    assert_eq!(checked(torn, 3, Code::PgRead), Err("a head of pages with a wrong checksum"));
    assert_eq!(checked(pages(4, 30, 1, 4100, 8192), 3, Code::PgRead), Err("pages that answer something else"));
    assert_eq!(checked(pages(3, 26, 1, 4100, 8192), 3, Code::PgRead), Err("pages that answer something else"));
    assert_eq!(checked(pages(3, 30, 1, -1, 8192), 3, Code::PgRead), Err("pages of a negative length"));
    assert_eq!(checked(pages(3, 30, 1, 1, -1), 3, Code::PgRead), Err("pages at a negative place"));
}

proptest! {
    #[test]
    fn no_bytes_break_a_parser(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = (server(&bytes), login(&bytes), attributes(&bytes), opened(&bytes), wait(&bytes), error(&bytes));
        let _ = (redirect(&bytes), checksum(&bytes), split_port(&String::from_utf8_lossy(&bytes)));
    }

    #[test]
    fn attributes_are_read_as_they_were_written(size: u64, flags: u32, changed: i64) {
        let text = format!("77 {size} {flags} {changed}\0");
        prop_assert_eq!(attributes(text.as_bytes()), Ok(Attributes { size, flags, changed }));
    }
}
