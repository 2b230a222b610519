"""T1: what a server of 100/s does at 0.8, 1.2, 2 and 20 times that, by its own log."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import pileup
from tests.truth import conditions
from tests.truth.compared import Seen, bandwidth, counts, lines, rate, share, wrong
from tests.truth.conftest import Runs
from tests.truth.press import Pressed

pytestmark = pytest.mark.timed
CASES = [condition.name for offered in conditions.OFFERED for condition in conditions.overload(offered)]


def run_of(runs: Runs, name: str) -> Pressed:
    return runs[f"offered_{name.split('_')[1]}"]


@pytest.mark.parametrize("name", CASES)
def test_t1_the_rate_is_that_of_the_log_in_the_same_window(overloads: Runs, name: str) -> None:
    seen = Seen(run_of(overloads, name), name)
    line = rate(seen)
    assert line.agrees, line
    assert seen.told.rate.value < 1.05 * conditions.CAPACITY
    assert not wrong(iter([bandwidth(seen)]))


@pytest.mark.parametrize("name", CASES)
def test_every_iteration_that_was_due_is_counted_once(overloads: Runs, name: str) -> None:
    seen = Seen(run_of(overloads, name), name)
    assert not wrong(counts(seen))
    assert not wrong(iter([share(seen)]))


@pytest.mark.parametrize("name", CASES)
def test_quantiles_are_over_all_that_was_due(overloads: Runs, name: str) -> None:
    assert not wrong(lines(run_of(overloads, name), name))


def test_t1_operations_longer_than_the_window_have_an_interval_that_holds_the_truth(singles: Runs) -> None:
    seen = Seen(singles["long"], "open_long")
    found = seen.told.rate
    truth = len(seen.inside) / seen.seconds
    assert found.value
    assert found.interval is not None
    assert found.interval.low <= truth <= found.interval.high


def test_t1_a_rate_that_the_server_does_not_reach_is_no_gain(overloads: Runs, tmp_path: Path) -> None:
    """`compare` called 200 against 120 offered "28 % better": the server does 100 in both."""
    folders = [str(overloads[f"offered_{offered}"].folder) for offered in conditions.COMPARED]
    done = pileup("compare", *folders, "--format", "json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (found,) = [each for each in json.loads(done.stdout)["against"][0]["contrasts"] if is_rate(each)]
    assert not (found["matters"] and found["verdict"] == "better"), found
    assert abs(found["relative"]["value"]) < 0.02, found


def is_rate(contrast: dict[str, Any]) -> bool:
    return contrast["metric"] == "rate" and contrast["test"] == "load" and not contrast["operation"]
