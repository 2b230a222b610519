//! The chunked transfer coding (RFC 9112, 7.1): where in what was read the body is.

/// Most bytes of extensions and trailers of a body: nobody looks at them, and there need be no end of them.
const ASIDE: usize = 16 * 1024;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum At {
    /// At the first digit of a size.
    #[default]
    Begin,
    /// Behind a digit.
    Size,
    /// Behind the size: an extension, or blanks.
    Extension,
    /// Before the line feed of a size.
    SizeEnd,
    /// In the data.
    Data,
    /// Before carriage return and line feed behind the data.
    DataCr,
    DataLf,
    /// At the begin of a trailer's line, in one, before its line feed.
    Trailer,
    TrailerText,
    TrailerLf,
    /// Before the last line feed.
    LastLf,
    Done,
}

/// What comes next of a body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// So many bytes that are there.
    Piece(usize),
    /// Nothing any more.
    End,
    /// It is not there yet.
    More,
    /// What is there is no HTTP/1.
    Wrong,
}

/// How far it has been read.
#[derive(Debug, Default)]
pub(crate) struct Chunks {
    at: At,
    left: u64,
    aside: usize,
}

impl Chunks {
    /// Look at what has been read: how many bytes are to be skipped, and what comes behind them.
    pub(crate) fn next(&mut self, there: &[u8]) -> (usize, Next) {
        let mut at = 0;
        loop {
            if self.at == At::Done {
                return (at, Next::End);
            }
            let Some(byte) = there.get(at) else { return (at, Next::More) };
            if self.at == At::Data {
                let length = (there.len() - at).min(usize::try_from(self.left).unwrap_or(usize::MAX));
                self.left -= length as u64;
                if self.left == 0 {
                    self.at = At::DataCr;
                }
                return (at, Next::Piece(length));
            }
            match self.step(*byte) {
                Some(next) => self.at = next,
                None => return (at, Next::Wrong),
            }
            at += 1;
        }
    }

    /// One byte of what is not data; none when it must not be here.
    fn step(&mut self, byte: u8) -> Option<At> {
        match (self.at, byte) {
            (At::Begin | At::Size, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                let digit = char::from(byte).to_digit(16)?;
                self.left = self.left.checked_mul(16)?.checked_add(u64::from(digit))?;
                Some(At::Size)
            }
            (At::Size | At::Extension | At::SizeEnd, _) => self.behind_size(byte),
            (At::DataCr, b'\r') => Some(At::DataLf),
            (At::DataLf, b'\n') => Some(At::Begin),
            (At::Trailer, b'\r') => Some(At::LastLf),
            (At::TrailerText, b'\r') => Some(At::TrailerLf),
            (At::Trailer | At::TrailerText, byte) if byte != b'\n' => self.aside(At::TrailerText),
            (At::TrailerLf, b'\n') => Some(At::Trailer),
            (At::LastLf, b'\n') => Some(At::Done),
            _ => None,
        }
    }

    fn behind_size(&mut self, byte: u8) -> Option<At> {
        match (self.at, byte) {
            (At::SizeEnd, b'\n') if self.left == 0 => Some(At::Trailer),
            (At::SizeEnd, b'\n') => Some(At::Data),
            (At::SizeEnd, _) | (_, b'\n') => None,
            (_, b'\r') => Some(At::SizeEnd),
            (At::Size, b' ' | b'\t' | b';') | (At::Extension, _) => self.aside(At::Extension),
            _ => None,
        }
    }

    fn aside(&mut self, next: At) -> Option<At> {
        self.aside += 1;
        (self.aside <= ASIDE).then_some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The body, read in pieces of so many bytes; none where it is wrong or has no end.
    fn read(text: &[u8], step: usize) -> Option<Vec<u8>> {
        let (mut chunks, mut body) = (Chunks::default(), Vec::new());
        for mut there in text.chunks(step) {
            loop {
                let (skipped, next) = chunks.next(there);
                there = &there[skipped..];
                match next {
                    Next::Piece(length) => {
                        body.extend_from_slice(&there[..length]);
                        there = &there[length..];
                    }
                    Next::End => return Some(body),
                    Next::More => break,
                    Next::Wrong => return None,
                }
            }
        }
        None
    }

    #[test]
    fn bodies_are_the_same_however_they_are_cut() {
        let text = b"4\r\nabcd\r\nA;name=\"x\"\r\n0123456789\r\n3 \r\nxyz\r\n0\r\nDigest: none\r\n\r\n";
        for step in 1..=text.len() {
            assert_eq!(read(text, step).unwrap(), b"abcd0123456789xyz", "{step}");
        }
        assert_eq!(read(b"0\r\n\r\n", 1).unwrap(), b"");
    }

    #[test]
    fn what_is_wrong_is_refused() {
        for text in [
            &b"zzz\r\nabcd"[..],
            b"\r\n",
            b"4\nabcd\r\n0\r\n\r\n",
            b"4\r\nabcdX0\r\n\r\n",
            b"-1\r\n",
            b"11111111111111111\r\n",
            b"4;x\nabcd\r\n0\r\n\r\n",
            b"0\r\nX\n\r\n",
        ] {
            assert_eq!(read(text, 3), None, "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn extensions_and_trailers_have_an_end() {
        let long = |begin: &str, end: &str| format!("{begin}{}{end}", "x".repeat(20_000));
        assert_eq!(read(long("1;", "\r\na\r\n0\r\n\r\n").as_bytes(), 1000), None);
        assert_eq!(read(long("0\r\n", "\r\n\r\n").as_bytes(), 1000), None);
    }
}
