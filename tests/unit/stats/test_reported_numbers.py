"""Criteria on numbers that a test has reported, and on monitors that gave nothing."""

import pytest

from pileup.model.record import Sample, SampleRow
from pileup.stats import results
from tests.manifests import run_of

SECOND = 10**9


def judged(golden, tmp_path, check, numbers):
    """`numbers`: (second of the run, metric, value, unit) reported by the test `copy`."""
    folder = golden.make(tmp_path, "running")
    info = golden.info("ended")
    info["criteria"] = [{"id": "N", "says": "so", "check": check, "coverage": "full"}]
    info["monitors"].append({"name": "silent", "use": "command", "every": SECOND})
    folder.save(run_of(info))
    folder.append_samples(
        [
            SampleRow(golden.START + int(second * SECOND), "copy", "host", Sample(metric, value, unit))
            for second, metric, value, unit in numbers
        ]
    )
    folder.close()
    (criterion,) = results(folder).criteria
    return criterion


@pytest.mark.parametrize(
    ("check", "verdict", "value"),
    [
        ("min(copy.entries) >= 3", "met", 4.0),
        ("max(copy.entries) < 5", "not met", 6.0),
        ("max(copy.depth) < 3 s", "met", 2e9),
        ("last(copy.entries) == 6", "met", 6.0),
    ],
)
def test_numbers_of_a_test_are_judged(golden, tmp_path, check, verdict, value):
    numbers = [(3, "entries", 4.0, ""), (5, "entries", 6.0, ""), (5, "depth", 2000.0, "ms")]
    criterion = judged(golden, tmp_path, check, numbers)
    assert (criterion.verdict, criterion.figure.value) == (verdict, value)


@pytest.mark.parametrize(
    ("check", "unit", "wanted"),
    [
        ("max(copy.speed) < 4 /s", "/min", ("met", 3.0)),
        ("max(copy.speed) < 200 /min", "/min", ("met", 3.0)),
        ("max(copy.speed) < 1441 Mbit/s", "MB/s", ("met", 180e6)),
        ("max(copy.speed) < 200", "/min", ("unknown", 3.0)),
        ("max(copy.speed) < 200", "files/s", ("met", 180.0)),
        ("max(copy.speed) < 200 /s", "files/s", ("unknown", 180.0)),
    ],
)
def test_a_rate_may_be_judged_in_any_unit_of_its_dimension(golden, tmp_path, check, unit, wanted):
    criterion = judged(golden, tmp_path, check, [(3, "speed", 180.0, unit)])
    assert (criterion.verdict, pytest.approx(criterion.figure.value)) == wanted


def test_a_number_with_the_name_of_an_operation_is_told_by_its_unit(golden, tmp_path):
    criterion = judged(golden, tmp_path, "max(copy.read) < 5", [(3, "read", 4.0, "")])
    assert (criterion.verdict, criterion.figure.value) == ("met", 4.0)


def test_a_number_that_was_never_reported_is_unknown(golden, tmp_path):
    criterion = judged(golden, tmp_path, "max(copy.speed) < 3 s", [(3, "entries", 4.0, "")])
    assert (criterion.verdict, criterion.figure.value) == ("unknown", None)


def test_a_monitor_that_gave_nothing_is_told(golden, tmp_path):
    criterion = judged(golden, tmp_path, "max(silent.power) < 3", [])
    assert (criterion.verdict, criterion.reason) == ("unknown", "silent gave no samples")
