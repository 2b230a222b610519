"""A load that is too short to see anything is reported from one that went wrong, by its record."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import check_passed, pileup, run_folder, unseen

SUITE = """
pileup: 1
title: Too short
tests:
  - {name: check, use: noop, load: {times: 2}}
  - {name: again, use: noop, load: {times: 2}}
  - {name: short, use: noop, load: {rate: 0.001 /s, arrivals: poisson, for: 50 ms}}
  - {name: needs, use: noop, after: [OTHER]}
  - {name: wrong, use: command, options: {command: "true"}}
"""


def results(folder: Path, text: str) -> dict[str, Any]:
    (folder / "s.yaml").write_text(text)
    done = pileup("run", "s.yaml", "--quiet", cwd=folder)
    found: dict[str, Any] = json.loads((run_folder(done) / "results.json").read_text())
    return found


def test_what_was_not_seen_is_let_pass_with_what_needs_it(tmp_path: Path) -> None:
    found = results(tmp_path, SUITE.replace("OTHER", "short"))
    assert unseen(found) == {"short"}
    assert [case["outcome"] for case in found["cases"]] == ["passed", "passed", "unknown", "not run", "passed"]
    check_passed(found)


def test_what_went_wrong_is_not(tmp_path: Path) -> None:
    found = results(tmp_path, SUITE.replace("OTHER", "short").replace('"true"', '"false"'))
    assert unseen(found) == {"short"}
    with pytest.raises(AssertionError, match="wrong: failed: "):
        check_passed(found)


def test_nor_are_more_than_half(tmp_path: Path) -> None:
    found = results(
        tmp_path, SUITE.replace("OTHER", "short").replace("use: noop, load: {times: 2}", "use: noop, after: [short]")
    )
    with pytest.raises(AssertionError, match="short: unknown: nothing was measured"):
        check_passed(found)
