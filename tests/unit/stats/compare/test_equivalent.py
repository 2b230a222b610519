"""Tests that must give equal answers: verdicts point by point, and ratios of their times whose truth is known."""

import dataclasses

import pytest

from pileup.model.answers import ANSWER, answer_of, file_of
from pileup.model.exits import ExitCode
from pileup.model.record import Sample, SampleRow
from pileup.stats import results
from pileup.stats.compare import equivalent
from tests.unit.stats import scans

SECOND = scans.SECOND
A, B = 3.0, 2.0**48 - 1


def run(tmp_path, answers, *, groups=(("copy", "read"),), points=("1", "2"), repeats=2, missing=()):
    """A scan in which `copy` takes 20 ms and `read` 5 ms; `answers(test, point, repeat)` are their digests."""
    axes = {"se.threads": list(points)}
    cases, tables, samples, dropped = [], [], [], []
    for repeat in range(1, repeats + 1):
        for place, point in enumerate(points):
            for test in ("copy", "read"):
                number = len(cases) + 1
                begin = scans.START + number * 5 * SECOND
                visit = (repeat - 1) * len(points) + place
                told = {"repeat": repeat, "visit": visit, "test": test}
                made = scans.case(number, f"{test}[{point}]#{repeat}", begin, {"se.threads": point}, **told)
                cases.append(made)
                if (test, point) in missing:
                    dropped.append(made)
                    continue
                drift = 1 + 0.01 * repeat * place
                took = int((20 if test == "copy" else 5) * drift * 1e6)
                tables.append(scans.rows_of(number, begin, took, first=number * scans.N))
                for digest in answers(test, point, repeat):
                    samples.append(SampleRow(begin + SECOND, test, "h", Sample(ANSWER, digest)))
    samples.append(SampleRow(scans.START + 6 * SECOND, "copy", "h", Sample("entries", 1.0)))
    told = scans.info(cases, axes, equivalent=[list(group) for group in groups])
    for each in dropped:
        each.update(started=None, ended=None, outcome="not run")
    return results(scans.write(tmp_path, told, tables, samples))


def test_equal_answers_pass_and_times_are_compared_within_each_repeat(tmp_path):
    found = run(tmp_path, lambda test, point, repeat: [A if point == "1" else B], repeats=3)
    (group,) = found.equivalences
    assert (group.tests, group.verdict, group.reason) == (("copy", "read"), "passed", "")
    assert [(each.test, each.point) for each in group.ratios] == [("read", "se.threads=1"), ("read", "se.threads=2")]
    for each in group.ratios:
        assert each.figure.value == pytest.approx(0.25, rel=0.01)
        assert each.figure.interval.low < 0.25 < each.figure.interval.high
        assert each.figure.n == 3
        assert (each.calls, each.bytes) == (1.0, 1.0)
    assert found.exit_code == ExitCode.PASSED


def test_the_digests_are_no_samples_of_the_report(tmp_path):
    found = run(tmp_path, lambda *_: [A])
    assert {(each.monitor, each.metric) for each in found.series} == {("copy", "entries")}
    assert not [each for each in found.comparisons if ANSWER in each.operation]


def test_another_answer_at_one_point_fails(tmp_path):
    found = run(tmp_path, lambda test, point, repeat: [B if (test, point, repeat) == ("read", "2", 2) else A])
    (group,) = found.equivalences
    assert group.verdict == "failed"
    assert group.reason == "answers differ: copy[2]#2: 000000000003; read[2]#2: ffffffffffff"
    assert found.exit_code == ExitCode.CRITERION_NOT_MET
    assert found.verdict == "failed"


def test_a_test_that_is_answered_differently_from_time_to_time_fails(tmp_path):
    found = run(tmp_path, lambda test, point, repeat: [A, B] if test == "read" else [A])
    (group,) = found.equivalences
    assert group.verdict == "failed"
    assert "read[1]#1: 000000000003 and ffffffffffff" in group.reason
    assert group.reason.endswith("; and 1 more")


def test_an_answer_that_is_missing_is_unknown(tmp_path):
    found = run(tmp_path, lambda test, point, repeat: [A] if test == "copy" else [])
    (group,) = found.equivalences
    assert (group.verdict, found.exit_code) == ("unknown", ExitCode.UNKNOWN)
    assert group.reason.startswith("no answer: read[1]#1; read[2]#1; read[1]#2")


def test_a_test_that_was_not_run_is_unknown_and_a_difference_elsewhere_outweighs_it(tmp_path):
    found = run(tmp_path / "a", lambda *_: [A], missing={("read", "2")})
    assert found.equivalences[0].verdict == "unknown"
    found = run(tmp_path / "b", lambda test, *_: [A if test == "copy" else B], missing={("read", "2")})
    assert found.equivalences[0].verdict == "failed"


def test_one_repeat_has_the_interval_of_two_means(tmp_path):
    found = run(tmp_path, lambda *_: [A], repeats=1, points=("1",))
    (ratio,) = found.equivalences[0].ratios
    assert ratio.figure.value == pytest.approx(0.25, rel=0.01)


def test_a_test_that_is_done_once_is_compared_at_every_point(tmp_path):
    found = run(tmp_path, lambda test, point, repeat: [A])
    once = [case for case in found.cases if case.test == "copy"][:1]
    once = [dataclasses.replace(case, point={}, visit=-1, name="copy") for case in once]
    cases = [*once, *(case for case in found.cases if case.test == "read")]

    def told(last):
        return [
            equivalent.MetricSeries("copy", ANSWER, "", "", "h", [once[0].started], [A]),
            equivalent.MetricSeries(
                "read", ANSWER, "", "", "h", [case.started for case in cases[1:]], [A] * (len(cases) - 2) + [last]
            ),
        ]

    (group,) = equivalent.equivalences([["copy", "read"]], cases, told(A), str)
    assert group.verdict == "passed"
    assert [each.point for each in group.ratios] == ["se.threads=1", "se.threads=2"]
    (group,) = equivalent.equivalences([["copy", "read"]], cases, told(B), str)
    assert group.verdict == "failed"


def test_nothing_is_said_where_nothing_is_asked(tmp_path):
    assert run(tmp_path, lambda *_: [A, B], groups=()).equivalences == ()


def test_tests_that_never_ran_are_unknown():
    (group,) = equivalent.equivalences([["a", "b"]], [], [], str)
    assert (group.verdict, group.reason) == ("unknown", "no answer: a (not run), b (not run)")


def test_the_first_row_that_differs_is_named_from_what_the_tests_left(tmp_path):
    answers = {"copy": answer_of([("a", 1), ("b", 2)]), "read": answer_of([("a", 1), ("c", 2)])}
    found = run(tmp_path, lambda test, *_: [float(answers[test].digest)], repeats=1, points=("1",))
    assert "row" not in found.equivalences[0].reason  # nothing was kept
    cases = [
        dataclasses.replace(case, artefacts=(f"output/{case.test}/artefacts/0/{file_of(answers[case.test].digest)}",))
        for case in found.cases
    ]
    kept = {case.artefacts[0]: answers[case.test].to_json() for case in cases}
    series = [
        equivalent.MetricSeries(case.test, ANSWER, "", "", "h", [case.started], [answers[case.test].digest])
        for case in cases
    ]
    (group,) = equivalent.equivalences([["copy", "read"]], cases, series, kept.__getitem__)
    assert group.reason.endswith('; row 2 is in copy[1]#1 alone: ["b", 2]')


def test_round_trips_are_the_slope_of_time_over_distance(tmp_path):
    found = run(tmp_path, lambda *_: [A], repeats=3)
    near, far = 0, 100 * 10**6
    cases = []
    for case in found.cases:
        added = far if case.point["se.threads"] == "2" else near
        (iterations,) = case.operations
        trips = 4 if case.test == "copy" else 1
        response = dataclasses.replace(iterations.response, mean=5e6 + trips * added + 1e5 * case.repeat)
        operations = (dataclasses.replace(iterations, response=response),)
        cases.append(dataclasses.replace(case, added=added, operations=operations))
    (group,) = equivalent.equivalences([["copy", "read"]], cases, [], str)
    for each, trips in zip(group.round_trips, (4, 1), strict=True):
        assert (each.test, each.point) == ("copy" if trips == 4 else "read", "")
        assert each.figure.value == pytest.approx(trips)
        assert each.figure.interval.low < trips < each.figure.interval.high
        assert each.figure.interval.high - each.figure.interval.low < 0.01
    assert not equivalent.equivalences([["copy", "read"]], found.cases, [], str)[0].round_trips


def test_round_trips_and_what_requests_explain_are_taken_within_each_repeat(tmp_path):
    """A server that takes another time in each repeat, more than the distance adds: pairs see through it."""
    found = run(tmp_path, lambda *_: [A], repeats=4)
    added, cases = 100 * 10**6, []
    for case in found.cases:
        far = added if case.point["se.threads"] == "2" else 0
        (iterations,) = case.operations
        trips, lost = (4, 0.0) if case.test == "copy" else (1, 0.1)
        own = 200e6 * case.repeat**2
        mean = (own + trips * far) * (1 + lost * (far > 0))
        response = dataclasses.replace(iterations.response, mean=mean)
        calls = trips * iterations.counts.ended
        operations = (dataclasses.replace(iterations, response=response, calls=calls),)
        cases.append(dataclasses.replace(case, added=far, operations=operations))
    (group,) = equivalent.equivalences([["copy", "read"]], cases, [], str)
    copy, read = group.round_trips
    assert (copy.requests, read.requests) == (4, 1)
    assert copy.figure.value == pytest.approx(4)
    assert copy.figure.interval.high - copy.figure.interval.low < 0.5
    assert copy.explained.value == pytest.approx(1)
    assert copy.ratio is None
    assert read.explained.value == pytest.approx(1.1)
    assert read.explained.interval.low > 1.09
    assert read.ratio.value == pytest.approx(1.1)
    assert read.ratio.n == 4


def test_what_asks_for_nothing_is_not_explained(tmp_path):
    found = run(tmp_path, lambda *_: [A])
    cases = [dataclasses.replace(case, added=10**6 * int(case.point["se.threads"])) for case in found.cases]
    none = [
        dataclasses.replace(case, operations=tuple(dataclasses.replace(one, calls=0) for one in case.operations))
        for case in cases
    ]
    (group,) = equivalent.equivalences([["copy", "read"]], none, [], str)
    assert [(each.requests, each.explained, each.ratio) for each in group.round_trips] == [(0, None, None)] * 2
