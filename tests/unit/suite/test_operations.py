"""Checks on operations that a native test does not have are mistakes of the suite (T14)."""

from pathlib import Path

import pytest

from pileup import suite
from pileup.model.errors import SuiteError

HEAD = """
pileup: 1
title: T14
tests: [{name: a, use: noop, load: LOAD}]
criteria: [{id: C, says: x, check: CHECK}]
"""


def validated(folder: Path, check: str, load: str = "{clients: 1, for: 1 s}") -> None:
    path = folder / "suite.yaml"
    path.write_text(HEAD.replace("LOAD", load).replace("CHECK", f'"{check}"'))
    suite.load(path)


def test_t14_an_operation_that_there_is_not_is_named_with_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="test 'a' has no operation 'nosuch'"):
        validated(tmp_path, "p90(a.nosuch) < 1 s")


@pytest.mark.parametrize("check", ["p90(a.noop) < 1 s", "p90(a) < 1 s", "p90(a.iteration.service) < 1 s"])
def test_operations_that_there_are_are_known(tmp_path: Path, check: str) -> None:
    validated(tmp_path, check)


def test_what_is_held_is_no_operation(tmp_path: Path) -> None:
    hold = "{hold: {metric: in_flight(a), at: 4, band: 50 %, by: rate, between: [1 /s, 9 /s], settle: 1 s}, for: 9 s}"
    validated(tmp_path, "min(a.held_value) > 0", hold)
