//! The frames of the xroot protocol, version 5.1.1: how a request is written, what is in an answer. Plain functions on bytes, big endian.
//!
//! Numbers and layouts are those of "The XRootD Protocol", version 5.1.1, and its header XProtocol.hh. A parser takes the body of an
//! answer, whatever is in it, and says what it found or in a few words what is wrong with it.

pub use pileup_engine::control::Attributes;

/// Length of the head of a request.
pub const REQUEST: usize = 24;
/// Length of the head of an answer.
pub const ANSWER: usize = 8;
/// Bytes of a page with its checksum before it (kXR_pgread, kXR_pgwrite).
pub const PAGE: usize = 4096;
/// Length of one piece's head in a vector read.
pub const PIECE: usize = 16;
/// Most pieces of a vector read.
pub const PIECES: usize = 1024;
/// The version we speak.
const VERSION: i32 = 0x511;

/// What is asked (kXR_...).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
#[allow(missing_docs)] // the words of the specification
pub enum Code {
    Auth = 3000,
    Query = 3001,
    Close = 3003,
    Dirlist = 3004,
    Protocol = 3006,
    Login = 3007,
    Mkdir = 3008,
    Mv = 3009,
    Open = 3010,
    Read = 3013,
    Rm = 3014,
    Rmdir = 3015,
    Stat = 3017,
    Write = 3019,
    Prepare = 3021,
    Readv = 3025,
    PgWrite = 3026,
    PgRead = 3030,
}

/// How an answer is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The whole, or the last part.
    Ok,
    /// A part; more comes.
    SoFar,
    /// Nobody asked: a message, or an answer that was announced.
    Attention,
    /// The server wants more for authentication.
    AuthMore,
    /// An error.
    Error,
    /// Ask elsewhere.
    Redirect,
    /// Ask again later.
    Wait,
    /// The answer comes later, by itself.
    WaitAnswer,
    /// An answer with checksums.
    Checked,
}

/// The head of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The number that the request had.
    pub stream: u16,
    /// How it is meant.
    pub status: Status,
    /// Bytes that follow.
    pub length: u32,
}

/// What is wrong with an answer.
pub type Parsed<T> = Result<T, &'static str>;

/// Read the head of an answer.
///
/// # Errors
/// When it is none.
pub fn head(bytes: [u8; ANSWER]) -> Parsed<Head> {
    let [a, b, c, d, e, f, g, h] = bytes;
    let status = match u16::from_be_bytes([c, d]) {
        0 => Status::Ok,
        4000 => Status::SoFar,
        4001 => Status::Attention,
        4002 => Status::AuthMore,
        4003 => Status::Error,
        4004 => Status::Redirect,
        4005 => Status::Wait,
        4006 => Status::WaitAnswer,
        4007 => Status::Checked,
        _ => return Err("an unknown status"),
    };
    let length = u32::try_from(i32::from_be_bytes([e, f, g, h])).map_err(|_| "a negative length")?;
    Ok(Head { stream: u16::from_be_bytes([a, b]), status, length })
}

/// Write a request: its head and the data behind it.
pub fn put(into: &mut Vec<u8>, stream: u16, code: Code, body: [u8; 16], data: &[&[u8]]) {
    let length: usize = data.iter().map(|piece| piece.len()).sum();
    put_head(into, stream, code, body, u32::try_from(length).unwrap_or(u32::MAX));
    data.iter().filter(|piece| !piece.is_empty()).for_each(|piece| into.extend_from_slice(piece));
}

/// Write the head of a request that is followed by so many bytes.
pub fn put_head(into: &mut Vec<u8>, stream: u16, code: Code, body: [u8; 16], length: u32) {
    let mut head = [0; 24];
    head[..2].copy_from_slice(&stream.to_be_bytes());
    head[2..4].copy_from_slice(&(code as u16).to_be_bytes());
    head[4..20].copy_from_slice(&body);
    head[20..].copy_from_slice(&length.to_be_bytes());
    into.extend_from_slice(&head);
}

/// The 16 bytes between code and length, given as (place, bytes).
#[must_use]
pub fn body(parts: &[(usize, &[u8])]) -> [u8; 16] {
    let mut body = [0; 16];
    for (at, bytes) in parts {
        body[*at..*at + bytes.len()].copy_from_slice(bytes);
    }
    body
}

/// The first bytes on a connection: handshake, and what protocol we speak. `wants_tls`: the server should change to TLS at once.
pub fn put_greeting(into: &mut Vec<u8>, stream: u16, wants_tls: bool) {
    for word in [0i32, 0, 0, 4, 2012] {
        into.extend_from_slice(&word.to_be_bytes());
    }
    // flags: able to speak TLS (2), wanting it (4); a login is expected next (3)
    let flags = if wants_tls { 6 } else { 2 };
    put(into, stream, Code::Protocol, body(&[(0, &VERSION.to_be_bytes()), (4, &[flags, 3])]), &[]);
}

/// Log in under this name.
pub fn put_login(into: &mut Vec<u8>, stream: u16, user: &str) {
    let mut name = [0; 8];
    user.bytes().take(8).enumerate().for_each(|(at, byte)| name[at] = byte);
    let process = std::process::id().to_be_bytes();
    // abilities: addresses of both kinds (8), a full url where we are sent (1); answers that come later (128), version 5
    let body = body(&[(0, &process), (4, &name), (13, &[9, 128 | 5])]);
    put(into, stream, Code::Login, body, &[b"?xrd.appname=pileup"]);
}

/// Say who we are, in a way (at most four letters) that a login asked for.
pub fn put_credentials(into: &mut Vec<u8>, stream: u16, way: &str, credentials: &[u8]) {
    let mut name = [0; 4];
    way.bytes().take(4).enumerate().for_each(|(at, byte)| name[at] = byte);
    put(into, stream, Code::Auth, body(&[(12, &name)]), &[credentials]);
}

/// Credentials of way `unix`: a name, believed as it is, and a group of the same name.
#[must_use]
pub fn unix(user: &str) -> Vec<u8> {
    [b"unix\0", user.as_bytes(), b" ", user.as_bytes(), b"\0"].concat()
}

/// Credentials of way `ztn`: a token. None: it is too long.
#[must_use]
pub fn ztn(token: &str) -> Option<Vec<u8>> {
    let length = u16::try_from(token.len() + 1).ok()?;
    Some([b"ztn\0\0T\0\0", &length.to_be_bytes()[..], token.as_bytes(), b"\0"].concat())
}

/// What a server says of itself (kXR_protocol).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Server {
    flags: u32,
}

impl Server {
    /// Whether it goes on in TLS now.
    #[must_use]
    pub fn goes_to_tls(self) -> bool {
        self.flags & 0x4000_0000 != 0
    }

    /// Whether it has pages with checksums.
    #[must_use]
    pub fn has_pages(self) -> bool {
        self.flags & 0x0020_0000 != 0
    }
}

/// Read the answer to kXR_protocol.
///
/// # Errors
/// When it is too short.
pub fn server(body: &[u8]) -> Parsed<Server> {
    Ok(Server { flags: u32::from_be_bytes(array(body, 4).ok_or("a short answer to what protocol it speaks")?) })
}

/// The ways of authentication that a login asks for; none: it is done (`&P=gsi,v:10000&P=unix` reads gsi, unix).
///
/// # Errors
/// When the answer is too short or is not understood.
pub fn login(body: &[u8]) -> Parsed<Vec<String>> {
    let asked = if body.is_empty() { body } else { body.get(16..).ok_or("a short answer to login")? };
    let text = std::str::from_utf8(trim(asked)).map_err(|_| "an answer to login that is not text")?;
    let names = text.split("&P=").skip(1).map(|way| way.split(',').next().unwrap_or_default());
    let names: Vec<String> = names.filter(|name| name.len() < 9 && is_word(name)).take(8).map(str::to_owned).collect();
    if names.is_empty() && !text.is_empty() {
        return Err("an answer to login that is not understood");
    }
    Ok(names)
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Read attributes (kXR_stat): `id size flags mtime`, more may follow. Flags: 2 is a folder, 4 neither folder nor file, 8 not online.
///
/// # Errors
/// When it is none of that.
pub fn attributes(body: &[u8]) -> Parsed<Attributes> {
    let wrong = "invalid attributes";
    let mut rest = trim(body).trim_ascii_start();
    let id = word(&mut rest);
    let (size, flags) = (number(&mut rest).ok_or(wrong)?, number(&mut rest).ok_or(wrong)?);
    let changed = seconds(rest).ok_or(wrong)?;
    let flags = u32::try_from(flags).ok().filter(|_| id.is_ascii()).ok_or(wrong)?;
    Ok(Attributes { size, flags, changed })
}

/// Take the word that is next, and the space behind it; empty at the end.
fn word<'a>(rest: &mut &'a [u8]) -> &'a [u8] {
    let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
    let (word, behind) = rest.split_at(end);
    *rest = behind.trim_ascii_start();
    word
}

/// Take the number in decimal digits that is next, and the space behind it; none for anything else.
fn number(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    let mut digits = 0;
    while let Some(byte) = rest.get(digits) {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            if byte.is_ascii_whitespace() {
                break;
            }
            return None;
        }
        number = number.checked_mul(10)?.checked_add(u64::from(digit))?;
        digits += 1;
    }
    *rest = rest[digits..].trim_ascii_start();
    (digits > 0).then_some(number)
}

/// The time that is next, in s since the epoch, or before it.
fn seconds(mut rest: &[u8]) -> Option<i64> {
    match rest.strip_prefix(b"-") {
        Some(mut before) => 0i64.checked_sub_unsigned(number(&mut before)?),
        None => number(&mut rest)?.try_into().ok(),
    }
}

/// The handle of an opened file, and its attributes when they were asked for and given.
///
/// # Errors
/// When the answer is too short, or the attributes are none.
pub fn opened(body: &[u8]) -> Parsed<([u8; 4], Option<Attributes>)> {
    let handle = array(body, 0).ok_or("a short answer to open")?;
    // a size of blocks and a kind of compression are between
    let rest = trim(body.get(12..).unwrap_or_default());
    Ok((handle, if rest.is_empty() { None } else { Some(attributes(rest)?) }))
}

/// Seconds to wait.
///
/// # Errors
/// When the answer is too short or the time negative.
pub fn wait(body: &[u8]) -> Parsed<u32> {
    let seconds = i32::from_be_bytes(array(body, 0).ok_or("a wait without a time")?);
    u32::try_from(seconds).map_err(|_| "a wait of a negative time")
}

/// Number and text of an error.
///
/// # Errors
/// When the answer is too short.
pub fn error(body: &[u8]) -> Parsed<(u32, String)> {
    let number = u32::from_be_bytes(array(body, 0).ok_or("an error without a number")?);
    Ok((number, String::from_utf8_lossy(trim(&body[4..])).into_owned()))
}

/// Where to ask instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// Host, without the brackets of IPv6.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Whether TLS is to be spoken there whatever was spoken here.
    pub tls: bool,
    /// What to add to paths there; empty: nothing.
    pub opaque: String,
}

/// Read a redirect: a port and `host[?opaque[?token]]`, or a port below 0 and a url.
///
/// # Errors
/// When there is no host or port.
pub fn redirect(body: &[u8]) -> Parsed<Redirect> {
    let wrong = "a redirect that leads nowhere";
    let port = i32::from_be_bytes(array(body, 0).ok_or(wrong)?);
    let text = std::str::from_utf8(trim(&body[4..])).map_err(|_| wrong)?;
    let (place, opaque) = text.split_once('?').unwrap_or((text, ""));
    let (tls, place, port) = if port < 0 {
        let (tls, rest) = match place.split_once("://") {
            Some(("root" | "xroot", rest)) => (false, rest),
            Some(("roots" | "xroots", rest)) => (true, rest),
            Some(_) => return Err("a redirect to another protocol"),
            None => return Err(wrong),
        };
        let authority = rest.split('/').next().unwrap_or_default();
        let (host, port) = split_port(authority.rsplit('@').next().unwrap_or_default()).ok_or(wrong)?;
        (tls, host, port.unwrap_or(1094))
    } else {
        (false, place, u16::try_from(port).map_err(|_| wrong)?)
    };
    let host = place.trim_start_matches('[').trim_end_matches(']');
    if host.is_empty() || port == 0 || !host.bytes().all(is_host) {
        return Err(wrong);
    }
    let opaque = opaque.trim_matches('&').split('?').next().unwrap_or_default();
    Ok(Redirect { host: host.to_owned(), port, tls, opaque: opaque.to_owned() })
}

fn is_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._:%".contains(&byte)
}

/// Host and port of an authority without a user; the port is none when none is given, and nothing is found when it is not a number.
#[must_use]
pub fn split_port(authority: &str) -> Option<(&str, Option<u16>)> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']')?;
            (host, if rest.is_empty() { None } else { Some(rest.strip_prefix(':')?) })
        }
        None => match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    match port {
        None => Some((host, None)),
        Some(port) => Some((host, Some(port.parse().ok().filter(|port| *port > 0)?))),
    }
}

/// What came unasked (kXR_attn): the head of the answer that follows within it, or nothing that matters.
///
/// # Errors
/// When an answer that was announced is none, or of another length than it says. `length` is that of the whole.
pub fn attention(first: [u8; 16], length: u32) -> Parsed<Option<Head>> {
    let [a, b, c, d, ..] = first;
    if u32::from_be_bytes([a, b, c, d]) != 5008 {
        return Ok(None);
    }
    let inner = head(array(&first, 8).ok_or("an empty message")?)?;
    if length.checked_sub(16) != Some(inner.length) || inner.status == Status::Attention {
        return Err("an answer within a message that does not fit it");
    }
    Ok(Some(inner))
}

/// The begin of an answer with checksums (kXR_status): what follows its head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checked {
    /// Whether more parts come.
    pub partial: bool,
    /// Bytes of data behind.
    pub length: u32,
    /// Where in the file they belong.
    pub offset: u64,
}

/// Bytes of `Checked` behind the head of the answer.
pub const CHECKED: usize = 24;

/// Read the begin of an answer with checksums, whose head named `stream`.
///
/// # Errors
/// When its own checksum is wrong, it answers something else, or its numbers are none.
pub fn checked(body: [u8; CHECKED], stream: u16, code: Code) -> Parsed<Checked> {
    let sum = u32::from_be_bytes([body[0], body[1], body[2], body[3]]);
    if crc32c::crc32c(&body[4..]) != sum {
        return Err("a head of pages with a wrong checksum");
    }
    if u16::from_be_bytes([body[4], body[5]]) != stream || u16::from(body[6]) + 3000 != code as u16 {
        return Err("pages that answer something else");
    }
    let length = i32::from_be_bytes([body[12], body[13], body[14], body[15]]);
    let offset = array(&body, 16).map_or(-1, i64::from_be_bytes);
    Ok(Checked {
        partial: body[7] == 1,
        length: u32::try_from(length).map_err(|_| "pages of a negative length")?,
        offset: u64::try_from(offset).map_err(|_| "pages at a negative place")?,
    })
}

/// The adler32 within the answer to a query of a checksum: `adler32 03da0195`. None: it is a sum of another kind.
///
/// # Errors
/// When the answer is none.
pub fn checksum(body: &[u8]) -> Parsed<(String, String)> {
    let wrong = "an invalid checksum";
    let text = std::str::from_utf8(trim(body)).map_err(|_| wrong)?;
    let (kind, sum) = text.trim().split_once(' ').ok_or(wrong)?;
    let sum = sum.trim();
    if !is_word(kind) || kind.len() > 16 || sum.is_empty() || !sum.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(wrong);
    }
    Ok((kind.to_owned(), sum.to_ascii_lowercase()))
}

/// The text without the zeros at its end.
#[must_use]
pub fn trim(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    &text[..end]
}

/// The bytes at a place, when there are that many.
fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

#[cfg(test)]
mod tests;
