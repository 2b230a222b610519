"""Histograms as bytes, from the worker that filled them to where they are added up: data, of which nothing is run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pileup.plugin.coordinator import Plain

if TYPE_CHECKING:
    from hist import Hist

_LENGTH = 4
"""Bytes of the length of the head."""


def packed(histograms: Mapping[str, Hist[Any]]) -> bytes:
    """Return histograms as bytes: a head (JSON, in the schema of UHI), and the arrays of their storage."""
    import numpy  # noqa: PLC0415  `pileup list` loads every plug-in
    from boost_histogram.serialization import to_uhi  # noqa: PLC0415

    arrays: list[bytes] = []

    def plain(value: Any) -> object:
        if isinstance(value, numpy.ndarray) and value.ndim == 1 and value.dtype.kind == "U":
            return value.tolist()
        if isinstance(value, numpy.ndarray):
            arrays.append(numpy.ascontiguousarray(value).tobytes())
            return {"array": value.dtype.str, "shape": value.shape}
        return value.item()  # the only other thing that is not JSON is a number of numpy

    whole = {name: {"uhi": to_uhi(each), **_raw(each)} for name, each in histograms.items()}
    head = json.dumps(whole, default=plain).encode()
    return len(head).to_bytes(_LENGTH, "little") + head + b"".join(arrays)


def _raw(histogram: Hist[Any]) -> Plain:
    """Return what UHI leaves out of a storage of means: the sums of squares, of which it makes variances."""
    view: Any = histogram.view(flow=True)
    return {"raw": {name: view[name] for name in view.dtype.names or () if name.startswith("_")}}


def _made(told: Any) -> Hist[Any]:
    import hist  # noqa: PLC0415
    from boost_histogram.serialization import from_uhi  # noqa: PLC0415

    made: Hist[Any] = hist.Hist(from_uhi(told["uhi"]))
    for name, values in told["raw"].items():
        made.view(flow=True)[name] = values
    return made


def unpacked(data: bytes) -> dict[str, Hist[Any]]:
    """Return the histograms in what `packed` gave. Raises ValueError when it is something else."""
    import numpy  # noqa: PLC0415

    size = _LENGTH + int.from_bytes(data[:_LENGTH], "little")
    at = size

    def whole(told: Any) -> Any:
        nonlocal at
        if "array" not in told:
            return told
        kind = numpy.dtype(told["array"])
        if kind.kind not in "iuf":
            raise ValueError(f"an array of {kind}")
        number = int(numpy.prod(told["shape"], dtype=numpy.int64))
        found = numpy.frombuffer(data, kind, number, at).reshape(told["shape"])
        at += number * kind.itemsize
        return found

    try:
        head = json.loads(data[_LENGTH:size], object_hook=whole)
        found = {str(name): _made(each) for name, each in head.items()}
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as problem:
        raise ValueError(f"these are no histograms: {problem}"[:200]) from problem
    if at != len(data):
        raise ValueError(f"histograms of {len(data)} bytes; expected {at}")
    return found
