"""What a worker must have: the Python and the pileup of here."""

import sys
from typing import Any

import pytest

from pileup._core._native import VERSION
from pileup.fleet.dask.cluster import version_problem

OURS = ".".join(map(str, sys.version_info[:3])) + ".final.0"


@pytest.mark.parametrize(
    ("packages", "told"),
    [
        ({"python": OURS, "pileup": VERSION}, None),
        ({"python": "3.4.1.final.0", "pileup": VERSION}, "Python 3.4"),
        ({"python": OURS, "pileup": "0.0.9"}, "pileup 0.0.9"),
        ({"python": OURS, "pileup": None}, "no pileup"),
        ({}, "Python unknown"),
    ],
)
def test_another_version_is_told_with_the_one_that_is_right(packages: dict[str, Any], told: str | None) -> None:
    found = version_problem({"packages": packages})
    assert (found and found[0]) == told
    assert found is None or "as here" in found[1]
