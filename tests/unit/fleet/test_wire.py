"""Messages between a fleet and its places: whole or refused, bounded, frames without loss."""

import contextlib
import io
import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pileup._core._native import Histogram
from pileup.fleet.wire import (
    LARGEST,
    Message,
    WireError,
    decode,
    encode,
    pack_frames,
    receive,
    unpack_claims,
    unpack_ending,
    unpack_frames,
)
from pileup.model.ending import Ending, EndingKind
from pileup.model.record import Frame, FrameRow

PLAIN = st.dictionaries(
    st.text(max_size=8).filter(lambda name: name not in ("is", "blobs")),
    st.one_of(st.integers(-(2**63), 2**63), st.text(max_size=20), st.booleans(), st.none()),
    max_size=5,
)


def read_of(data: bytes) -> Message | None:
    return receive(io.BytesIO(data).read)


def histogram(*values: int) -> bytes:
    made = Histogram()
    for value in values:
        made.record(value)
    return made.encode()


def frame(place: int = 1) -> Frame:
    counters = dict.fromkeys(("passed", "failed", "refused", "ambiguous", "unfinished", "lost", "bytes", "calls"), 3)
    row = FrameRow("read", True, 3, **counters, response=histogram(5, 10**9), service=b"")
    return Frame(10**18, 10**9, place, 7, 3, 5, 2, 1, 4, 10**6, histogram(70), (row, row))


@given(PLAIN, st.lists(st.binary(max_size=50), max_size=4))
def test_a_message_comes_as_it_was_sent(plain: dict[str, object], blobs: list[bytes]) -> None:
    assert read_of(encode("word", plain, blobs)) == Message("word", plain, tuple(blobs))


@given(st.binary(max_size=200))
def test_nonsense_is_refused_or_ends_and_never_more(data: bytes) -> None:
    with contextlib.suppress(WireError):
        read_of(data)


@given(st.data())
def test_a_message_with_one_byte_changed_is_a_message_or_refused(data: st.DataObject) -> None:
    good = bytearray(encode("frames", {"part": 1}, (b"abc",)))
    good[data.draw(st.integers(4, len(good) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(WireError):
        assert isinstance(read_of(bytes(good)), Message)


def test_what_is_cut_short_is_the_end() -> None:
    whole = encode("word", {"a": 1}, (b"xyz",))
    assert all(read_of(whole[:length]) is None for length in range(len(whole)))


def test_a_length_beyond_the_limit_is_refused_before_it_is_read() -> None:
    with pytest.raises(WireError, match="claims"):
        read_of(struct.pack("<I", LARGEST + 1))


@pytest.mark.parametrize(
    "head",
    [
        {"is": "x"},
        {"blobs": []},
        {"is": 5, "blobs": []},
        {"is": "x", "blobs": [-1]},
        {"is": "x", "blobs": [9]},
        [],
        "x",
    ],
)
def test_a_head_that_is_wrong_is_refused(head: object) -> None:
    text = json.dumps(head).encode()
    with pytest.raises(WireError):
        decode(struct.pack("<I", len(text)) + text)


def test_a_head_nested_deeply_is_refused() -> None:
    text = b"[" * 100_000
    with pytest.raises(WireError):
        decode(struct.pack("<I", len(text)) + text)


def test_frames_come_with_their_histograms_as_those_of_the_place() -> None:
    plain, blobs = pack_frames([frame(), frame()])
    assert unpack_frames(json.loads(json.dumps(plain)), blobs, 1) == [frame(), frame()]
    assert [each.place for each in unpack_frames(plain, blobs, 9)] == [9, 9]


@pytest.mark.parametrize("spoil", ["number", "missing", "extra", "histogram", "bytes", "list", "text"])
def test_frames_that_are_none_are_refused(spoil: str) -> None:
    plain, blobs = pack_frames([frame()])
    row = plain[0]["rows"][0]
    match spoil:
        case "number":
            row["passed"] = "many"
        case "missing":
            del row["service"]
        case "extra":
            plain[0]["surprise"] = 1
        case "histogram":
            row["response"] = 99
        case "bytes":
            blobs[0] = b"no histogram"
        case "list":
            plain = {}  # type: ignore[assignment]
        case "text":
            plain[0]["rows"] = ["row"]
    with pytest.raises(WireError):
        unpack_frames(plain, blobs, 1)


@pytest.mark.parametrize(
    ("name", "number"), [("started", 2**40), ("time", 2**63), ("clients", -1), ("phase", 2**32), ("measured_to", 2**63)]
)
def test_s21_a_number_that_no_column_of_the_record_takes_is_refused(name: str, number: int) -> None:
    plain, blobs = pack_frames([frame()])
    with pytest.raises(WireError, match=name):
        unpack_frames([plain[0] | {name: number}], blobs, 1)
    row = plain[0]["rows"][0]
    with pytest.raises(WireError, match="failed"):
        unpack_frames([plain[0] | {"rows": [row | {"failed": -1}]}], blobs, 1)


def test_claims_come_as_they_were_sent() -> None:
    sent = [(5, "job-1", "12", "job"), (6, "alice", "", "delegation")]
    assert unpack_claims(json.loads(json.dumps(sent))) == sent


@pytest.mark.parametrize(
    "nonsense", [{}, "text", [1], [["now", "a", "b", "job"]], [[1, "a", "b"]], [[True, "a", "b", "c"]]]
)
def test_claims_that_are_none_are_refused(nonsense: object) -> None:
    with pytest.raises(WireError):
        unpack_claims(nonsense)


@pytest.mark.parametrize("kind", list(EndingKind))
def test_an_ending_comes_as_it_was_sent(kind: EndingKind) -> None:
    sent = read_of(encode("over", {"part": 1, "ending": kind, "why": "so"}))
    assert sent is not None
    assert unpack_ending(sent) == Ending(kind, "so")


@pytest.mark.parametrize("ending", ["", "limit: 7 errors in a row", 3, None])
def test_what_is_no_ending_is_refused(ending: object) -> None:
    with pytest.raises(WireError):
        unpack_ending(Message("over", {"part": 1, "ending": ending, "why": "so"}))
