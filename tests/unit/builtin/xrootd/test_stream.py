"""Packets of XRootD's detailed monitoring: as 5.5.3 sends them, with gaps, cut, and rubbish."""

import struct
from collections.abc import Iterator

import pytest

from pileup.builtin.xrootd.stream import SECOND, Decoder, Served

BEGAN = 0x6B07F830
SID = bytes.fromhex("0003a830cff09de6")
LOGIN = b"xroot/p7.27344:64334533167582@127.0.0.1"
TRACE = bytes.fromhex(  # as sent: a mark, an open, a read of 6 bytes, a close, a mark
    "e0003a830cff09de6b07f8306b07f831"
    "80000000000000060000000000000002"
    "00000000000000000000000600000002"
    "c0000000000000060000000000000002"
    "e0003a830cff09de6b07f8326b07f832"
)


def packet(kind: str, number: int, body: bytes) -> bytes:
    return struct.pack(">cBHi", kind.encode(), number % 256, 8 + len(body), BEGAN) + body


def mapped(kind: str, number: int, which: int, text: bytes) -> bytes:
    return packet(kind, number, struct.pack(">I", which) + text)


def fstat(number: int, *records: bytes) -> bytes:
    time = struct.pack(">BBHHHii", 2, 1, 24, 0, len(records), BEGAN + 1, BEGAN + 2) + SID
    return packet("f", number, time + b"".join(records))


def opened(file: int, user: int, path: bytes) -> bytes:
    body = struct.pack(">qI", 6, user) + path + b"\0" * (4 - len(path) % 4)
    return struct.pack(">BBHI", 1, 1, 8 + len(body), file) + body


def closed(file: int, read: int, readv: int, write: int, calls: tuple[int, int, int]) -> bytes:
    body = struct.pack(">qqq", read, readv, write) + struct.pack(">iii", *calls) + bytes(36)
    return struct.pack(">BBHI", 0, 2, 8 + len(body), file) + body


def whole() -> Iterator[bytes]:
    yield mapped("u", 1, 1, LOGIN + b"\n&R=v5.5.3")
    yield mapped("d", 2, 2, LOGIN + b"\n/data/f1")
    yield packet("t", 3, TRACE)
    yield fstat(0, opened(2, 1, b"/data/f1"), closed(2, 6, 10, 20, (1, 2, 3)))


def taken(*packets: bytes) -> tuple[Decoder, list[Served]]:
    decoder = Decoder()
    return decoder, [each for one in packets for each in decoder.take("a:1", one)]


def test_both_streams_become_operations_with_users_and_bytes() -> None:
    decoder, found = taken(*whole())
    start, end = (BEGAN + 1) * SECOND, (BEGAN + 2) * SECOND
    assert found == [
        Served("open", "/data/f1", "p7", start, end, 0),
        Served("read", "/data/f1", "p7", start, end, 6),
        Served("close", "/data/f1", "p7", start, end, 0),
        Served("file", "/data/f1", "p7", start, end + SECOND, 36, 6),
    ]
    assert (decoder.lost, decoder.malformed, decoder.unpaired, decoder.widest) == (0, 0, 0, SECOND)


def test_a_negative_length_is_a_write_and_a_vector_read_has_its_bytes() -> None:
    mark, last = TRACE[:16], TRACE[-16:]
    write = struct.pack(">qiI", 0, -4096, 2)
    vector = bytes([0x90, 1, 0, 3, 0, 0, 0, 0]) + struct.pack(">iI", 300, 2)
    _, found = taken(packet("t", 0, mark + write + vector + last))
    assert [(each.name, each.bytes) for each in found] == [("write", 4096), ("readv", 300)]


@pytest.mark.parametrize("missing", [1, 3, 127])
def test_a_missing_number_is_a_lost_packet(missing: int) -> None:
    decoder, _ = taken(mapped("u", 250, 1, LOGIN), mapped("u", 251 + missing, 2, LOGIN))
    assert decoder.lost == missing


def test_a_late_packet_is_not_lost() -> None:
    decoder, _ = taken(*(mapped("u", number, 1, LOGIN) for number in (254, 255, 1, 0, 2)))
    assert decoder.lost == 0


@pytest.mark.parametrize("together", [True, False])
def test_the_fstat_stream_has_a_sequence_of_its_own_or_the_common_one(together: bool) -> None:
    numbers = iter(range(1000))
    packets = []
    for _ in range(10):
        packets.append(mapped("u", next(numbers), 1, LOGIN))
        packets.append(fstat(next(numbers) if together else len(packets) // 2))
    decoder, _ = taken(*packets)
    assert decoder.lost == 0
    decoder, _ = taken(*packets[:6], *packets[7:])
    assert decoder.lost == 1


def test_the_repeated_identification_is_no_gap() -> None:
    ident = mapped("=", 0, 0, b"/root.1:2@vm")
    decoder, _ = taken(ident, mapped("u", 1, 1, LOGIN), ident, mapped("u", 2, 1, LOGIN))
    assert decoder.lost == 0


def test_servers_are_told_apart() -> None:
    decoder = Decoder()
    for number in range(3):
        for sender in ("a:1", "b:1"):
            decoder.take(sender, mapped("u", number + (100 if sender == "b:1" else 0), 1, LOGIN))
    assert decoder.lost == 0


def test_a_close_without_an_open_is_counted() -> None:
    decoder, found = taken(fstat(0, closed(9, 1, 1, 1, (1, 1, 1))))
    assert (found, decoder.unpaired) == ([], 1)


def test_what_comes_before_a_malformed_part_is_kept() -> None:
    good = fstat(0, opened(2, 1, b"/f"), closed(2, 6, 0, 0, (1, 0, 0)))[8:]
    decoder, found = taken(packet("f", 0, good + b"\0\0\0\1"))
    assert ([each.bytes for each in found], decoder.malformed) == ([6], 1)


@pytest.mark.parametrize("cut", range(0, 120, 3))
def test_every_cut_is_counted(cut: int) -> None:
    for one in whole():
        if cut < len(one):
            decoder, found = taken(one[:cut])
            assert (found, decoder.malformed) == ([], 1)


def test_times_before_2001_are_malformed() -> None:
    """No monitor may record them."""
    early = struct.pack(">i", 554_170_417)
    decoder, found = taken(packet("t", 0, TRACE[:12] + early + TRACE[16:]))
    assert (found, decoder.malformed) == ([], 1)
    body = fstat(1, opened(2, 1, b"/f"))[8:]
    decoder, found = taken(packet("f", 1, body[:8] + early + body[12:]))
    assert (found, decoder.malformed) == ([], 1)
