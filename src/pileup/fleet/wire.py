"""The messages between a fleet and its places: framed, of JSON and bytes, limited in size.

A message is its length (u32, little endian), the length of its head (u32), the head (JSON, UTF-8) and the blobs whose
lengths the head gives. Everything that comes from a place is data: nothing of it is unpickled or run.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from pileup._core._native import Histogram
from pileup.model.ending import Ending, EndingKind
from pileup.model.errors import PileupError
from pileup.model.record import Frame, FrameRow
from pileup.record.frames import LIMITS

PROTOCOL = 5
"""Version of this protocol; part of hello."""
LARGEST = 64 << 20
"""Bytes of the largest message."""
CHUNK = 1 << 20
"""Bytes of a piece of something large."""
HELLO = b"\x00PILEUP-PLACE\n"
"""Comes before the first message: what a login shell prints before it is stepped over."""
LONGEST_BANNER = 256 << 10
_HEAD = struct.Struct("<II")
_BLOBS = "blobs"
_BYTES = ("response", "service")


class WireError(PileupError):
    """The received bytes are not a message."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message: what it `is`, its plain fields, and bytes beside."""

    kind: str
    fields: dict[str, object]
    blobs: tuple[bytes, ...] = ()

    def __getitem__(self, name: str) -> Any:
        """Return a field. Raises WireError when it is not there."""
        try:
            return self.fields[name]
        except KeyError:
            raise WireError(
                f"the message {self.kind!r} has no {name!r}", "a message as this version sends it"
            ) from None

    def number(self, name: str) -> int:
        """Return a field that is a whole number of 64 bits. Raises WireError when it is not one."""
        return whole(self[name], name)

    def text(self, name: str) -> str:
        """Return a field that is text. Raises WireError when it is not one."""
        value = self[name]
        if not isinstance(value, str):
            raise WireError(f"{name} of the message {self.kind!r} is {value!r}", "text")
        return value

    def blob(self, number: int = 0) -> bytes:
        """Return one of the blobs. Raises WireError when it is not there."""
        if not 0 <= number < len(self.blobs):
            raise WireError(f"the message {self.kind!r} has {len(self.blobs)} blobs", f"number {number}")
        return self.blobs[number]


def whole(value: object, name: str) -> int:
    """Return a value that is a whole number of 64 bits. Raises WireError when it is not one."""
    if not isinstance(value, int) or isinstance(value, bool) or not -(2**63) <= value < 2**64:
        raise WireError(f"{name} is {value!r}"[:200], "a whole number of 64 bits")
    return value


def encode(kind: str, plain: Mapping[str, object] | None = None, blobs: Sequence[bytes] = ()) -> bytes:
    """Return a message as bytes. Raises WireError when it is too large."""
    head = json.dumps({"is": kind, _BLOBS: [len(blob) for blob in blobs], **(plain or {})}).encode()
    length = _HEAD.size - 4 + len(head) + sum(map(len, blobs))
    if length > LARGEST:
        raise WireError(f"a message {kind!r} of {length} bytes is too large", f"at most {LARGEST}")
    return _HEAD.pack(length, len(head)) + head + b"".join(blobs)


def decode(data: bytes) -> Message:
    """Return the message in what follows its length. Raises WireError when it is not one."""
    size = int.from_bytes(data[:4], "little")
    if len(data) < 4 or size > len(data) - 4:
        raise WireError("a message ends within its head", "a whole one")
    try:
        plain = json.loads(data[4 : 4 + size])
        kind, lengths = plain.pop("is"), plain.pop(_BLOBS)
        sizes = [whole(length, _BLOBS) for length in lengths]
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as problem:
        raise WireError(f"a message has no head: {problem}"[:200], "JSON as pileup sends it") from problem
    if min(sizes, default=0) < 0 or 4 + size + sum(sizes) != len(data) or not isinstance(kind, str):
        raise WireError(f"a message {kind!r} lacks the blobs that it announces"[:200], "a whole one")
    blobs, at = [], 4 + size
    for length in sizes:
        blobs.append(data[at : at + length])
        at += length
    return Message(kind, plain, tuple(blobs))


def receive(read: Callable[[int], bytes]) -> Message | None:
    """Return the next message from `read(n)`, which gives n bytes, less at the end; None at the end.

    Raises WireError when what comes is not a message.
    """
    start = read(4)
    if len(start) < 4:
        return None
    length = int.from_bytes(start, "little")
    if not 4 <= length <= LARGEST:
        raise WireError(f"a message claims {length} bytes", f"at most {LARGEST}")
    data = read(length)
    return None if len(data) < length else decode(data)


def pack_frames(frames: Sequence[Frame]) -> tuple[list[dict[str, object]], list[bytes]]:
    """Return frames as plain data beside their histograms."""
    blobs: list[bytes] = []

    def number(data: bytes) -> int:
        if data:
            blobs.append(data)
        return len(blobs) if data else 0

    plain = []
    for frame in frames:
        head = {each.name: getattr(frame, each.name) for each in fields(Frame) if each.name not in ("rows", "late")}
        rows = []
        for row in frame.rows:
            told = {each.name: getattr(row, each.name) for each in fields(FrameRow) if each.name not in _BYTES}
            rows.append(told | {name: number(getattr(row, name)) for name in _BYTES})
        plain.append(head | {"late": number(frame.late), "rows": rows})
    return plain, blobs


def unpack_frames(plain: object, blobs: Sequence[bytes], place: int) -> list[Frame]:
    """Return frames from what `pack_frames` gave, as frames of `place`. Raises WireError when they are not."""

    def histogram(number: object) -> bytes:
        at = whole(number, "histogram")
        if not 0 <= at <= len(blobs):
            raise WireError(f"there is no histogram {at}", f"at most {len(blobs)}")
        if at:
            Histogram.decode(blobs[at - 1])
        return blobs[at - 1] if at else b""

    def row(told: dict[str, Any]) -> FrameRow:
        plain = {
            name: value for name, value in told.items() if name not in {"operation", "iteration", "labels", *_BYTES}
        }
        kept: dict[str, Any] = {name: _fitting(value, name) for name, value in plain.items()}
        kept |= {name: histogram(told[name]) for name in _BYTES}
        kept |= {"labels": str(told["labels"])}
        return FrameRow(operation=str(told["operation"]), iteration=bool(told["iteration"]), **kept)

    def frame(told: dict[str, Any]) -> Frame:
        head: dict[str, Any] = {
            name: _fitting(value, name) for name, value in told.items() if name not in {"rows", "late"}
        }
        return Frame(**(head | {"place": place}), late=histogram(told["late"]), rows=tuple(map(row, told["rows"])))

    if not isinstance(plain, list):
        raise WireError("frames are not a list", "a list")
    try:
        return [frame(each) for each in plain]
    except (TypeError, KeyError, ValueError, AttributeError) as problem:
        raise WireError(f"this is not a frame: {problem}"[:200], "frames as pileup sends them") from problem


def _fitting(value: object, name: str) -> int:
    """Return a number that its column of the record takes. Raises WireError when it is not one."""
    number = whole(value, name)
    low, high = LIMITS.get("phase" if name == "row_phase" else name, (0, 2**63 - 1))
    if not low <= number <= high:
        raise WireError(f"{name} is {number}", f"{low} to {high}")
    return number


def unpack_ending(message: Message) -> Ending:
    """Return how a load ended. Raises WireError when the message has no ending that is known."""
    kind = message.text("ending")
    if kind not in list(EndingKind):
        raise WireError(f"a load ended as {kind!r}"[:100], f"one of {', '.join(EndingKind)}")
    return Ending(EndingKind(kind), message.text("why"))


def unpack_claims(plain: object) -> list[tuple[int, str, str, str]]:
    """Return claims: (ns since the epoch, name, id, what). Raises WireError when they are not."""
    if not isinstance(plain, list):
        raise WireError("claims are not a list", "a list")
    try:
        return [(whole(time, "time"), str(name), str(number), str(what)) for time, name, number, what in plain]
    except (TypeError, ValueError) as problem:
        raise WireError(f"this is not a claim: {problem}"[:200], "time, name, id and what") from problem
