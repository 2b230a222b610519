"""Gates count a change once it is shown, and are unknown where nothing can be said."""

from dataclasses import replace

import pytest

from pileup.model.figures import Figure
from pileup.model.gate import parse
from pileup.stats.compare.gates import judge
from pileup.stats.compare.runs import compare_runs
from tests.unit.stats.contrasts import MS, case, operation, run


def compared(candidate, baseline=None):
    base = baseline or operation(20 * MS, failed=10)
    return compare_runs([run(case(base))], [[run(case(candidate), folder="/runs/two")]], 0.05)


def holds(found, text):
    (told,) = judge(found, [parse(text)])
    return told.holds


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("worse", True),
        ("worse > 60 %", False),
        ("p50 > 5 %", True),
        ("p50 > 60 %", False),
        ("p50 < -5 %", False),
        ("p50(copy) > 5 %", True),
        ("rate < -5 %", True),
        ("rate > 5 %", False),
        ("not_passed > 5 %", True),
        ("not_passed > 20 %", False),
        ("p99 > 5 %", None),  # too few
    ],
)
def test_a_shown_change_is_held_against_the_condition(text, wanted):
    found = compared(operation(30 * MS, rate=70.0, failed=100))
    assert holds(found, text) is wanted


def test_an_improvement_is_nothing_worse():
    found = compared(operation(10 * MS, rate=200.0, failed=10))
    assert holds(found, "worse") is False
    assert holds(found, "p50 < -5 %") is True


def test_a_change_that_is_not_shown_does_not_count():
    found = compared(operation(22 * MS, width=0.3), operation(20 * MS, width=0.3))
    assert holds(found, "p50 > 5 %") is False


def test_no_answer_where_there_was_one_is_worse_than_any_share():
    slow = operation(20 * MS)
    gone = {**slow.quantiles, 0.5: Figure(None, "time", None, 1000, "no answer", above=1000 * MS)}
    found = compared(replace(slow, quantiles=gone))
    assert holds(found, "p50 > 5 %") is True
    assert holds(found, "p50 > 90") is None, "by how much it is larger is not known"


def test_what_it_holds_by_is_named():
    (told,) = judge(compared(operation(30 * MS, rate=100.0, failed=10)), [parse("p50 > 5 %")])
    assert told.by == ("copy p50 +50.0 %",)


def test_a_condition_about_nothing_is_refused():
    with pytest.raises(ValueError, match="about no metric"):
        judge(compared(operation(30 * MS)), [parse("p50(nosuch) > 5 %")])
