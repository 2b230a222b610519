//! Whether a TLS handshake is a whole one: from the hellos of both ends, which are not encrypted (RFC 8446, 4.1; RFC 5246, 7.4.1).

/// The random of a ServerHello that asks for another ClientHello (RFC 8446, 4.1.3).
const RETRY: [u8; 32] = [
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2, 0xa2, 0x11,
    0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
];
const PRE_SHARED_KEY: u16 = 41;
const SUPPORTED_VERSIONS: u16 = 43;

/// What a ServerHello says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Say hello again.
    Again,
    /// The version, in its own numbers (0x0304 is TLS 1.3), and whether an earlier session goes on.
    Chosen(u16, bool),
}

/// Reads from the front of bytes; none where they end.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<usize> {
        self.take(1).map(|bytes| usize::from(bytes[0]))
    }

    fn word(&mut self) -> Option<u16> {
        self.take(2).map(|bytes| u16::from_be_bytes([bytes[0], bytes[1]]))
    }
}

/// The random and the session id of a hello of this type, and what follows.
fn hello(bytes: &[u8], kind: u8) -> Option<(&[u8], &[u8], Reader<'_>)> {
    let mut reader = Reader(bytes);
    let record = reader.take(5)?;
    if record[0] != 22 || record[1] != 3 {
        return None;
    }
    if reader.take(4)?[0] != kind {
        return None;
    }
    let version = reader.word()?;
    if version >> 8 != 3 {
        return None;
    }
    let random = reader.take(32)?;
    let length = reader.byte()?;
    let session = reader.take(length)?;
    Some((random, session, reader))
}

/// The session id of a ClientHello; none: it is something else.
pub(crate) fn client_hello(bytes: &[u8]) -> Option<&[u8]> {
    hello(bytes, 1).map(|(_, session, _)| session)
}

/// What a ServerHello says to a client that gave this session id; none: it is something else.
pub(crate) fn server_hello(bytes: &[u8], session: &[u8]) -> Option<Answer> {
    let (random, echoed, mut reader) = hello(bytes, 2)?;
    if random == RETRY {
        return Some(Answer::Again);
    }
    let version = u16::from_be_bytes([bytes[9], bytes[10]]);
    // in TLS 1.2 a server that resumes gives the client's session id back, with a ticket, too (RFC 5077, 3.4)
    let old = Answer::Chosen(version, !session.is_empty() && session == echoed);
    let Some(_cipher_and_compression) = reader.take(3) else { return Some(old) };
    if reader.word().is_none() {
        return Some(old);
    }
    let (mut new, mut resumed) = (None, false);
    while let (Some(kind), Some(length)) = (reader.word(), reader.word()) {
        let Some(value) = reader.take(usize::from(length)) else { break };
        match kind {
            PRE_SHARED_KEY => resumed = true,
            SUPPORTED_VERSIONS if value.len() == 2 => new = Some(u16::from_be_bytes([value[0], value[1]])),
            _ => {}
        }
        if reader.0.len() < 4 {
            break;
        }
    }
    Some(new.map_or(old, |version| Answer::Chosen(version, resumed)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u8, random: [u8; 32], session: &[u8], rest: &[u8]) -> Vec<u8> {
        let mut body = vec![3, 3];
        body.extend(random);
        body.push(session.len() as u8);
        body.extend(session);
        body.extend(rest);
        let mut all = vec![22, 3, 1, 0, (body.len() + 4) as u8, kind, 0, 0, body.len() as u8];
        all.extend(body);
        all
    }

    #[test]
    fn whole_and_resumed_handshakes_are_told_apart() {
        let hello = record(1, [7; 32], &[9; 32], &[]);
        assert_eq!(client_hello(&hello), Some(&[9; 32][..]));
        let plain = [0x13, 1, 0, 0, 6, 0, 43, 0, 2, 3, 4];
        let whole = record(2, [7; 32], &[9; 32], &plain);
        assert_eq!(server_hello(&whole, &[9; 32]), Some(Answer::Chosen(0x0304, false)));
        let resumed = [0x13, 1, 0, 0, 12, 0, 43, 0, 2, 3, 4, 0, 41, 0, 2, 0, 0];
        assert_eq!(server_hello(&record(2, [7; 32], &[9; 32], &resumed), &[9; 32]), Some(Answer::Chosen(0x0304, true)));
        let old = [0xc0, 0x2f, 0];
        assert_eq!(server_hello(&record(2, [7; 32], &[9; 32], &old), &[9; 32]), Some(Answer::Chosen(0x0303, true)));
        assert_eq!(server_hello(&record(2, [7; 32], &[8; 32], &old), &[9; 32]), Some(Answer::Chosen(0x0303, false)));
        assert_eq!(server_hello(&record(2, [7; 32], &[], &old), &[]), Some(Answer::Chosen(0x0303, false)));
        assert_eq!(server_hello(&record(2, RETRY, &[9; 32], &plain), &[9; 32]), Some(Answer::Again));
    }

    #[test]
    fn anything_else_is_no_hello() {
        let whole = record(1, [7; 32], &[9; 32], &[]);
        for end in 0..whole.len() {
            assert!(end == whole.len() || client_hello(&whole[..end]).is_none_or(|id| id.len() == 32));
        }
        assert_eq!(client_hello(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n and so on and on and on"), None);
        assert_eq!(client_hello(&record(2, [7; 32], &[], &[])), None);
        assert_eq!(server_hello(&whole, &[]), None);
    }
}
