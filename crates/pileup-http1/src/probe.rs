//! All parsers on any bytes: what a fuzzer calls. Nothing here is used by a client.
//!
//! They must neither panic, nor stand still, nor need more memory than the bytes have and their limits allow.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use pileup_net::stream::Rest;
use tokio::io::{AsyncRead, ReadBuf};

use crate::check::digest;
use crate::multipart::{self, Multipart, Next, Span};
use crate::redirect;
use crate::upload::Upload;
use crate::wire::{Duplex, Wanted, Wire};

/// A connection that gives these bytes, so many at a time, and takes anything.
struct Memory<'a> {
    rest: &'a [u8],
    step: usize,
}

impl AsyncRead for Memory<'_> {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let length = this.step.min(this.rest.len()).min(buffer.remaining());
        let (piece, rest) = this.rest.split_at(length);
        buffer.put_slice(piece);
        this.rest = rest;
        Poll::Ready(Ok(()))
    }
}

impl Duplex for Memory<'_> {
    fn poll_write(&mut self, _: &mut Context<'_>, one: &[u8], other: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(one.len() + other.len()))
    }

    fn poll_readable(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn rest(&mut self, _: &mut Context<'_>, _: &mut [u8]) -> Rest {
        Rest::Closed
    }

    fn unacknowledged(&self) -> u64 {
        0
    }

    fn wake_at(&mut self, bytes: usize) {
        assert!(bytes > 0, "never woken");
    }

    fn say_end(&mut self, _: &mut Context<'_>) {}
}

/// Take bytes as what a server sends on a connection: one answer after another, as far as one can follow. The first byte says how many come at
/// a time, the second which of the answers have no body. Returns how many answers there were and how many bytes their bodies had.
///
/// # Panics
/// When the parsers do not do as they should.
#[must_use]
pub fn answers(bytes: &[u8]) -> (usize, usize) {
    let [step, bodiless, bytes @ ..] = bytes else { return (0, 0) };
    let mut wire = Wire::new(Memory { rest: bytes, step: usize::from(*step) * 16 + 1 });
    let mut context = Context::from_waker(Waker::noop());
    let (mut count, mut body) = (0, 0);
    loop {
        let wanted = Wanted { bodiless: bodiless >> (count % 8) & 1 == 1, keeps: &[] };
        wire.begin(|head| head.extend_from_slice(b"GET"), Upload::Empty, wanted, false);
        let Poll::Ready(Ok(head)) = wire.poll_head(&mut context) else { break };
        let headers = head.headers.unwrap_or_default();
        let _ = (digest(&headers), head.stated);
        for value in headers.values() {
            let _ = (Span::parse(value.as_bytes()), multipart::boundary(value.as_bytes()));
            let _ = value.to_str().map(|text| redirect::destination(text, true, "/a/b"));
        }
        count += 1;
        while let Poll::Ready(Some(Ok(piece))) = wire.poll_piece(&mut context) {
            assert!(piece.0 < piece.1, "a piece without a byte");
            body += wire.bytes(piece).len();
        }
        if !wire.is_over() {
            break;
        }
    }
    assert!(body <= bytes.len(), "more bodies than bytes");
    (count, body)
}

/// Take bytes as the body of an answer with several ranges; the first byte says how many come at a time. Returns how many parts there were.
///
/// # Panics
/// When the parser does not do as it should.
#[must_use]
pub fn parts(bytes: &[u8]) -> usize {
    let [step, bytes @ ..] = bytes else { return 0 };
    let (mut multipart, mut count, mut data) = (Multipart::new(b"x"), 0, 0);
    for mut there in bytes.chunks(usize::from(*step) + 1) {
        loop {
            let (skipped, next) = multipart.next(there);
            there = &there[skipped..];
            match next {
                Next::Part(span) => {
                    assert!(span.first <= span.last, "a part without a byte");
                    count += 1;
                }
                Next::Data(length) => {
                    assert!(length > 0 && count > 0, "data of no part");
                    data += length;
                    there = &there[length..];
                }
                Next::More => break,
                Next::End | Next::Wrong(_) => return count,
            }
        }
    }
    assert!(data <= bytes.len(), "more data than bytes");
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_right_server_sends_is_read_to_its_end() {
        let text = b"\0\x02HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n\
            HTTP/1.1 206 x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n\r\nto the end";
        for step in [0, 1, 255] {
            let mut text = text.to_vec();
            text[0] = step;
            assert_eq!(answers(&text), (4, 15));
        }
        let two = b"\x05--x\r\nContent-Range: bytes 0-1/9\r\n\r\nab\r\n--x\r\nContent-Range: bytes 5-5/9\r\n\r\nc\r\n--x--\r\n";
        assert_eq!(parts(two), 2);
    }

    #[test]
    fn nothing_is_nothing() {
        assert_eq!((answers(b""), answers(b"\0\0"), parts(b"")), ((0, 0), (0, 0), 0));
    }
}
