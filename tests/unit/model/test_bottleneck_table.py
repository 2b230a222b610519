"""What limited the loads of a scan: a row for each point, not for each repeat."""

from dataclasses import replace

from pileup.model.bottleneck import BottleneckRow, LimitedBy
from pileup.model.bottleneck_table import bottlenecks_by_point
from tests.unit.builtin.reports import synthetic


def test_repeats_that_say_the_same_are_one_row() -> None:
    full = synthetic.scanned()
    rows = tuple(BottleneckRow(case.name, LimitedBy.CLIENTS, f"{case.repeat} /s", "more") for case in full.cases)
    found = bottlenecks_by_point(replace(full, bottlenecks=rows))
    assert len(full.cases) == 24
    assert [row.case for row in found] == [f"copy[{point.name}], 4 repeats" for point in full.points]
    assert {row.evidence for row in found} == {"In the first of them: 1 /s"}


def test_a_repeat_that_was_limited_otherwise_is_a_row_of_its_own() -> None:
    full = synthetic.scanned()
    first, *others = (case for case in full.cases if case.point == full.cases[0].point)
    rows = (
        BottleneckRow(first.name, LimitedBy.PILEUP, "it took 99 % of a core", "use more places"),
        *(BottleneckRow(case.name, LimitedBy.CLIENTS, "busy", "more") for case in others),
    )
    name = f"copy[{full.points[0].name}]"
    assert [(row.case, row.by, row.evidence) for row in bottlenecks_by_point(replace(full, bottlenecks=rows))] == [
        (f"{name}, 1 of 4 repeats", LimitedBy.PILEUP, "it took 99 % of a core"),
        (f"{name}, 3 of 4 repeats", LimitedBy.CLIENTS, "busy"),
    ]


def test_a_case_without_a_scan_stays_as_it_is() -> None:
    simple = synthetic.simple()
    assert bottlenecks_by_point(simple) == list(simple.bottlenecks)
