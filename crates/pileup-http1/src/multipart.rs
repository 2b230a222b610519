//! Several ranges in one answer: multipart/byteranges (RFC 9110, 14.6), read while it arrives. Nothing of the data is kept.

/// Longest line that is not a data.
const LINE: usize = 8 * 1024;
/// Most bytes of lines before a part.
const ASIDE: usize = 32 * 1024;
/// Longest boundary; RFC 2046, 5.1.1 allows 70.
const BOUNDARY: usize = 200;

/// Which bytes of an object something is, as Content-Range says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// The first.
    pub(crate) first: u64,
    /// The last: it counts.
    pub(crate) last: u64,
    /// Size of the whole object, if known.
    pub(crate) total: Option<u64>,
}

impl Span {
    /// Read the value of a Content-Range header (RFC 9110, 14.4); none when it is not a range of an object.
    pub(crate) fn parse(value: &[u8]) -> Option<Self> {
        let value = std::str::from_utf8(value).ok()?.trim();
        let (unit, rest) = value.split_once([' ', '\t'])?;
        let (range, total) = rest.trim_start().split_once('/')?;
        let (first, last) = range.split_once('-')?;
        let (first, last) = (number(first)?, number(last)?);
        let total = if total.trim() == "*" { None } else { Some(number(total)?) };
        let whole = unit.eq_ignore_ascii_case("bytes") && first <= last && total.is_none_or(|total| last < total);
        whole.then_some(Self { first, last, total })
    }
}

fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

/// The boundary that a Content-Type of multipart/byteranges names; none for any other type.
pub(crate) fn boundary(content_type: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(content_type).ok()?;
    let mut words = text.split(';');
    if !words.next()?.trim().eq_ignore_ascii_case("multipart/byteranges") {
        return None;
    }
    let named = words.filter_map(|word| word.trim().split_once('='));
    let value = named.into_iter().find(|(name, _)| name.eq_ignore_ascii_case("boundary"))?.1;
    let value = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
    ((1..=BOUNDARY).contains(&value.len())).then(|| value.as_bytes().to_vec())
}

/// What comes next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// A part begins.
    Part(Span),
    /// So many bytes of it that are there.
    Data(usize),
    /// What has been read is understood so far.
    More,
    /// All parts have come; what may come behind them does not matter.
    End,
    /// It is none, for this reason.
    Wrong(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// Before the first boundary.
    Begin,
    Headers,
    Data,
    /// At the line end behind the data.
    DataEnd,
    /// At the boundary behind that.
    Boundary,
    Done,
}

/// How far it has been read.
#[derive(Debug)]
pub(crate) struct Multipart {
    /// Two dashes and the boundary.
    boundary: Vec<u8>,
    at: At,
    /// The line that is not whole yet.
    line: Vec<u8>,
    aside: usize,
    span: Option<Span>,
    left: u64,
}

impl Multipart {
    /// With this boundary.
    pub(crate) fn new(boundary: &[u8]) -> Self {
        let boundary = [b"--", boundary].concat();
        Self { boundary, at: At::Begin, line: Vec::new(), aside: 0, span: None, left: 0 }
    }

    /// Whether all parts have come.
    pub(crate) fn is_done(&self) -> bool {
        self.at == At::Done
    }

    /// Look at what has been read: how many bytes are to be skipped, and what comes behind them.
    pub(crate) fn next(&mut self, there: &[u8]) -> (usize, Next) {
        let mut at = 0;
        loop {
            if self.at == At::Done {
                return (there.len(), Next::End);
            }
            if at == there.len() {
                return (at, Next::More);
            }
            if self.at == At::Data {
                let length = (there.len() - at).min(usize::try_from(self.left).unwrap_or(usize::MAX));
                self.left -= length as u64;
                if self.left == 0 {
                    self.at = At::DataEnd;
                }
                return (at, Next::Data(length));
            }
            let end = memchr::memchr(b'\n', &there[at..]).map(|found| at + found + 1);
            let taken = &there[at..end.unwrap_or(there.len())];
            self.aside += taken.len();
            if self.aside > ASIDE || self.line.len() + taken.len() > LINE {
                return (at, Next::Wrong("its heads are too long"));
            }
            self.line.extend_from_slice(taken);
            at += taken.len();
            if end.is_none() {
                return (at, Next::More);
            }
            match self.end_of_line() {
                Ok(None) => {}
                Ok(Some(span)) => return (at, Next::Part(span)),
                Err(why) => return (at, Next::Wrong(why)),
            }
        }
    }

    /// Take in a whole line: a part may begin with it.
    fn end_of_line(&mut self) -> Result<Option<Span>, &'static str> {
        let mut whole = std::mem::take(&mut self.line);
        let line = whole.trim_ascii_end();
        match self.at {
            At::Begin | At::Boundary => match line.strip_prefix(self.boundary.as_slice()) {
                Some(b"") => (self.at, self.span) = (At::Headers, None),
                Some(b"--") if self.at == At::Boundary => self.at = At::Done,
                _ if self.at == At::Begin => {}
                _ => return Err("a part is not as long as its range"),
            },
            At::Headers if line.is_empty() => {
                let span = self.span.ok_or("a part has no range")?;
                (self.at, self.aside) = (At::Data, 0);
                self.left = (span.last - span.first).checked_add(1).ok_or("a part has no range")?;
                return Ok(Some(span));
            }
            At::Headers => {
                let colon = memchr::memchr(b':', line).ok_or("a head is none")?;
                if line[..colon].eq_ignore_ascii_case(b"content-range") {
                    self.span = Some(Span::parse(&line[colon + 1..]).ok_or("a part has no range")?);
                }
            }
            At::DataEnd if line.is_empty() => self.at = At::Boundary,
            At::DataEnd | At::Data | At::Done => return Err("a part is not as long as its range"),
        }
        whole.clear();
        self.line = whole;
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As XRootD 5.5 writes it, but for the type.
    const GOOD: &[u8] =
        b"\r\n--123456\r\nContent-type: text/plain\r\nContent-range: bytes 0-9/100\r\n\r\n0123456789\r\n\
        --123456\r\nCONTENT-RANGE:bytes 20-23/100\r\n\r\n\r\n--\r\n--123456--\r\n and more";

    type Parts = Vec<(Span, Vec<u8>)>;

    fn read(text: &[u8], step: usize) -> Result<Parts, &'static str> {
        let (mut multipart, mut parts) = (Multipart::new(b"123456"), Parts::new());
        for mut there in text.chunks(step) {
            loop {
                let (skipped, next) = multipart.next(there);
                there = &there[skipped..];
                match next {
                    Next::Part(span) => parts.push((span, Vec::new())),
                    Next::Data(length) => {
                        parts.last_mut().unwrap().1.extend_from_slice(&there[..length]);
                        there = &there[length..];
                    }
                    Next::More => break,
                    Next::End => return Ok(parts),
                    Next::Wrong(why) => return Err(why),
                }
            }
        }
        Err("its end is missing")
    }

    #[test]
    fn parts_are_the_same_however_they_are_cut() {
        for step in 1..=GOOD.len() {
            let parts = read(GOOD, step).unwrap();
            assert_eq!(parts.len(), 2);
            assert_eq!(parts[0], (Span { first: 0, last: 9, total: Some(100) }, b"0123456789".to_vec()));
            assert_eq!(parts[1].1, b"\r\n--", "data that looks like a boundary is data");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let part = |range: &str, data: &str| format!("--123456\r\nContent-Range: {range}\r\n\r\n{data}");
        for (text, why) in [
            (part("bytes 5-4/9", ""), "a part has no range"),
            (part("bytes 0-9/9", ""), "a part has no range"),
            (part("bytes 0-18446744073709551615/*", ""), "a part has no range"),
            (part("bytes -1-4/9", ""), "a part has no range"),
            ("--123456\r\n\r\nab".to_owned(), "a part has no range"),
            ("--123456\r\nab\r\n".to_owned(), "a head is none"),
            (part("bytes 0-1/9", "abc\r\n--123456--\r\n"), "a part is not as long as its range"),
            (part("bytes 0-1/9", "ab\r\n--other\r\n"), "a part is not as long as its range"),
            (part("bytes 0-9/99", "ab\r\n--123456--\r\n"), "a part is not as long as its range"),
            (part("bytes 0-18446744073709551614/*", "ab"), "its end is missing"),
            ("--123456--\r\n".to_owned(), "its end is missing"),
            ("x".repeat(10_000), "its heads are too long"),
            ("x\r\n".repeat(20_000), "its heads are too long"),
            (format!("--123456\r\n{}", "a: b\r\n".repeat(20_000)), "its heads are too long"),
        ] {
            assert_eq!(read(text.as_bytes(), 100).map(|parts| parts.len()), Err(why), "{text:.80}");
        }
    }

    #[test]
    fn boundaries_are_those_of_byteranges_alone() {
        assert_eq!(boundary(b"multipart/byteranges; boundary=THIS_1").unwrap(), b"THIS_1");
        assert_eq!(boundary(b"Multipart/ByteRanges; x=y; Boundary=\"a b\"").unwrap(), b"a b");
        for text in
            [&b"text/plain; boundary=x"[..], b"multipart/byteranges", b"multipart/byteranges; boundary=", b"\xff"]
        {
            assert_eq!(boundary(text), None);
        }
        assert_eq!(boundary(format!("multipart/byteranges; boundary={}", "x".repeat(201)).as_bytes()), None);
    }

    #[test]
    fn ranges_of_headers() {
        assert_eq!(Span::parse(b"bytes 2-3/*"), Some(Span { first: 2, last: 3, total: None }));
        for text in
            [&b"bytes */9"[..], b"pages 1-2/9", b"bytes 1-2", b"bytes +1-2/9", b"", b"bytes 3-2/9", b"bytes 1-9/9"]
        {
            assert_eq!(Span::parse(text), None, "{}", String::from_utf8_lossy(text));
        }
    }
}
