"""Histograms as bytes: they come back as they were, and nothing else is taken for some."""

import hist
import numpy as np
import pytest

from pileup.builtin.analysis.carried import packed, unpacked


def filled(storage: object) -> "hist.Hist":
    made = hist.Hist(
        hist.axis.Regular(4, 0, 1, name="x", label="a length"),
        hist.axis.StrCategory(["a"], growth=True, name="kind"),
        hist.axis.Variable([1.0, 2.0, 5.5], name="y"),
        storage=storage,
    )
    more = {"sample": [1.0, 2.0, 3.0]} if isinstance(storage, hist.storage.Mean | hist.storage.WeightedMean) else {}
    return made.fill(x=[0.1, 0.6, 7.0], kind=["a", "b", "b"], y=[1.5, 3.0, 9.0], **more)


@pytest.mark.parametrize("kind", ["Int64", "Double", "Weight", "Mean", "WeightedMean", "Unlimited"])
def test_they_come_back_as_they_were(kind):
    known = {"one": filled(getattr(hist.storage, kind)()), "other": hist.Hist(hist.axis.Integer(0, 3))}
    found = unpacked(packed(known))
    assert list(found) == ["one", "other"]
    for name, each in found.items():
        assert each.axes == known[name].axes
        assert np.array_equal(each.view(flow=True), known[name].view(flow=True))
    assert [axis.name for axis in found["one"].axes] == ["x", "kind", "y"]
    twice = known["one"] + known["one"]
    assert np.array_equal((found["one"] + known["one"]).view(flow=True), twice.view(flow=True))


def test_none_is_none():
    assert unpacked(packed({})) == {}


GOOD = packed({"x": hist.Hist(hist.axis.Regular(4, 0, 1))})


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00",
        b"\xff\xff\xff\xff",
        GOOD[:-1],
        GOOD + b"x",
        GOOD[:3],
        GOOD.replace(b'"lower"', b'"loser"'),
        GOOD.replace(b"<f8", b"|O8"),
        GOOD.replace(b"[6]", b"[7]"),
        b"\x02\x00\x00\x00[]",
        b'\x09\x00\x00\x00{"a": []}',
    ],
)
def test_other_bytes_are_refused(data):
    with pytest.raises(ValueError, match="histograms"):
        unpacked(data)
