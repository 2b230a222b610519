"""The examples of the harness: checks that need one another, and a tuning study of known truth."""

import json
import math
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from tests.support import EXAMPLES, pileup, run_folder

SE_CHECKS = ("se-answers", "se-write", "se-stat", "se-read", "se-list", "se-delete")


def verdicts(folder: Path) -> dict[str, tuple[str, str]]:
    """Return case -> (what JUnit says of it, the message) of a run."""
    found = {}
    for case in ET.parse(folder / "junit.xml").iter("testcase"):
        inner = next((child for child in case if child.tag in ("failure", "error", "skipped")), None)
        found[case.get("name", "")] = ("passed", "") if inner is None else (inner.tag, inner.get("message", ""))
    return found


@pytest.mark.long
def test_an_installation_that_is_right_passes(tmp_path: Path) -> None:
    done = pileup("run", str(EXAMPLES / "installation-check.yaml"), "--quiet", cwd=tmp_path, drawn=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {kind for kind, _ in verdicts(run_folder(done)).values()} == {"passed"}


@pytest.mark.long
def test_what_needs_a_check_that_failed_is_not_run_and_says_so(tmp_path: Path) -> None:
    example = str(EXAMPLES / "installation-check.yaml")
    done = pileup("run", example, "--set", "python=9.9", "--quiet", cwd=tmp_path, drawn=True)
    assert done.returncode == 1, done.stdout + done.stderr
    found = verdicts(run_folder(done))
    assert found["python"] == ("failure", "failed: 'Python 9.9' is not in the output")
    assert found["se-answers"] == ("skipped", "not run: needs python, which failed")
    assert found["se-write"] == ("skipped", "not run: needs se-answers, which was not run")
    assert {name: kind for name, (kind, _) in found.items() if kind == "skipped"}.keys() == set(SE_CHECKS)
    assert found["disk-read"] == ("passed", "")


def truth(values: dict[str, str]) -> float:
    """Return the files per second at a point of the tuning study, from the settings of the server alone."""
    service = 0.020 * math.exp(0.3**2 / 2)
    parts = 256 // int(values["read.buffer"].split()[0])
    return min(32, int(values["se.threads"])) / (service * parts)


@pytest.fixture(scope="module")
def tuning(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("tuning")
    short = ("--set", "warm_up=300 ms", "--set", "length=1 s")
    done = pileup("run", str(EXAMPLES / "tuning.yaml"), "--quiet", *short, cwd=folder, timeout=400)
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads((run_folder(done) / "results.json").read_text())
    return found


@pytest.mark.timed
@pytest.mark.idle
def test_differences_between_points_agree_with_the_truth(tuning: dict[str, Any]) -> None:
    known = [truth(point["values"]) for point in tuning["points"]]
    rates = next(
        each
        for each in tuning["comparisons"]
        if (each["test"], each["operation"], each["metric"]) == ("read", "", "rate")
    )
    near = 0
    for difference in rates["differences"]:
        true = known[difference["point"]] - known[0]
        value, interval = difference["difference"]["value"], difference["difference"]["interval"]
        assert difference["verdict"] == "larger"
        half = max(value - interval["low"], 0.03 * true)  # 3 %: a busy machine serves a little later than it was set to
        assert abs(value - true) < 2 * half, (difference, true)
        near += abs(value - true) <= half
    assert near >= 3, "all five share the first point, so one bad visit there moves them together"


@pytest.mark.timed
@pytest.mark.idle
def test_each_point_was_visited_in_each_repeat_to_and_fro(tuning: dict[str, Any]) -> None:
    reads = [case for case in tuning["run"]["cases"] if case["test"] == "read"]
    order = [case["point"] for case in sorted(reads, key=lambda case: case["started"])]
    forth, back = order[:6], order[6:12]
    assert forth == [point["values"] for point in tuning["points"]]
    assert back == forth[::-1]
    assert order[12:] == forth + back
