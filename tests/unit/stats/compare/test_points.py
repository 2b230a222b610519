"""The points of a scan compared, and criteria over points, out of run folders of known content."""

import json

import pytest

from pileup.model.record import Sample, SampleRow
from pileup.stats import results, to_json
from tests.manifests import plain, run_of
from tests.unit.stats import scans

MS = 10**6


def duration(point, repeat):
    """40 ms with 4 threads and 10 with 16; large buffers add 2 ms; every repeat is 1 ms slower than the one before."""
    return ({"4": 40, "16": 10}[point["se.threads"]] + 2 * (point["copy.buffer"] == "1 MiB") + repeat) * MS


def comparison(found, metric, operation=""):
    (one,) = [each for each in found.comparisons if (each.metric, each.operation) == (metric, operation)]
    return one


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return results(scans.scan(tmp_path_factory.mktemp("scan"), duration))


def test_points_are_named_in_the_order_of_the_scan(found):
    assert [point.name for point in found.points] == [
        "se.threads=4, copy.buffer=64 KiB",
        "se.threads=4, copy.buffer=1 MiB",
        "se.threads=16, copy.buffer=64 KiB",
        "se.threads=16, copy.buffer=1 MiB",
    ]
    assert {(case.repeat, case.visit) for case in found.cases} == {(1 + n // 4, n) for n in range(12)}


def test_every_metric_with_something_in_it_is_compared(found):
    of_tests = [each for each in found.comparisons if not each.monitor]
    assert [each.metric for each in of_tests] == ["rate", "throughput", "mean", "p50", "p90"]
    assert {each.test for each in of_tests} == {"copy"}
    assert comparison(found, "p50").repeats == ("1", "2", "3")


def test_differences_are_paired_within_a_repeat(found):
    p50 = comparison(found, "p50")
    assert [each.figure.value for each in p50.points] == pytest.approx([42e6, 44e6, 12e6, 14e6], rel=0.002)
    first = p50.points[0].figure
    assert first.interval.high - first.interval.low > 4e6, "repeats differ by a millisecond each"
    second, third, fourth = p50.differences
    assert second.difference.value == pytest.approx(2e6, rel=0.05)
    assert second.difference.interval.high - second.difference.interval.low < 0.3e6, "what repeats share is taken away"
    assert third.relative.value == pytest.approx(12 / 42 - 1, abs=0.002)
    assert [each.verdict for each in (second, third, fourth)] == ["larger", "smaller", "smaller"]
    assert all(each.p <= each.adjusted <= 3 * each.p for each in p50.differences)


def test_main_effects_are_means_over_the_other_axis(found):
    effects = comparison(found, "p50").effects
    assert [(each.axis, each.value) for each in effects] == [
        ("se.threads", "4"), ("se.threads", "16"), ("copy.buffer", "64 KiB"), ("copy.buffer", "1 MiB"),
    ]  # fmt: skip
    assert [each.figure.value for each in effects] == pytest.approx([43e6, 13e6, 27e6, 29e6], rel=0.002)
    assert effects[1].difference.difference.value == pytest.approx(-30e6, rel=0.01)
    assert effects[3].difference.difference.value == pytest.approx(2e6, rel=0.05)
    assert effects[0].difference is None


def test_one_repeat_gives_numbers_and_no_verdict(tmp_path):
    found = results(scans.scan(tmp_path, duration, repeats=1))
    p50 = comparison(found, "p50")
    assert {each.verdict for each in p50.differences} == {"too few"}
    assert p50.differences[1].difference.value == pytest.approx(-30e6, rel=0.01)
    assert p50.differences[1].difference.interval is None
    assert "too few" in p50.points[0].figure.note


def test_equal_points_show_no_difference(tmp_path):
    draws = iter([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3])
    found = results(scans.scan(tmp_path, lambda point, repeat: (20 + next(draws)) * MS, repeats=4))
    assert {each.verdict for each in comparison(found, "p50").differences} == {"no difference shown"}


def test_what_did_not_pass_is_compared_too(tmp_path):
    found = results(scans.scan(tmp_path, duration, failed=lambda point, repeat: 4 * (point["se.threads"] == "16")))
    wrong = comparison(found, "not passed")
    assert [each.figure.value for each in wrong.points] == pytest.approx([0, 0, 0.1, 0.1])
    assert wrong.differences[1].relative.value is None


def test_no_point_and_no_value_of_an_axis_takes_less_than_no_time(tmp_path):
    p50 = comparison(results(scans.scan(tmp_path, lambda _, repeat: (1 if repeat == 1 else 80) * MS, repeats=2)), "p50")
    assert {each.figure.interval.low for each in (*p50.points, *p50.effects)} == {0}


def test_a_case_that_was_not_run_leaves_its_pair_out(tmp_path):
    folder = scans.scan(tmp_path, duration)
    told = plain(folder)
    told["void"] = [[1, 0]]  # as if nobody had made it again
    folder.save(run_of(told))
    found = results(folder)
    p50 = comparison(found, "p50")
    assert p50.points[0].repeats[0] is None
    assert {each.difference.n for each in p50.differences} == {2}
    assert p50.notes == ("1 of 12 cases measured nothing.",)
    assert {each.figure.n for each in p50.effects} == {2}, "means over different combinations are not alike"


def test_an_attempt_that_was_broken_off_counts_nowhere(tmp_path):
    first = scans.rows_of(1, scans.START, 500 * MS, failed=30)
    again = scans.rows_of(1, scans.START + 10 * scans.SECOND, 20 * MS, place=1)
    told = scans.info([scans.case(1, "copy", scans.START + 10 * scans.SECOND)], axes={}, void=[[1, 0]])
    (case,) = results(scans.write(tmp_path, told, [first, again])).cases
    assert (case.iterations.counts.passed, case.iterations.counts.failed) == (scans.N, 0)
    assert case.iterations.response.largest < 21 * MS
    assert case.iterations.seconds == 4.0
    assert len(case.timeline.times) == 4


def judge(folder, check, at=()):
    criterion = {"id": "C", "says": "x", "check": check, "coverage": "full", "at": list(at)}
    folder.save(run_of({**plain(folder), "criteria": [criterion]}))
    (found,) = results(folder).criteria
    return found


@pytest.fixture
def folder(tmp_path):
    return scans.scan(tmp_path, duration)


def test_a_criterion_holds_when_it_holds_at_every_point(folder):
    found = judge(folder, "p50(copy) < 45 ms")
    assert (found.verdict, len(found.points)) == ("met", 4)
    assert found.reason == "at each of 4 points; nearest at se.threads=4, copy.buffer=1 MiB: 44 ms (44-44 ms)"
    assert found.figure.value == pytest.approx(44e6, rel=0.002)
    assert {point.figure.n for point in found.points} == {3 * scans.N}, "repeats are pooled"


def test_a_criterion_says_which_points_fail_with_what(folder):
    found = judge(folder, "p50(copy) < 43 ms")
    assert found.verdict == "not met"
    assert found.reason.startswith("it does not hold at 1 of 4 points: se.threads=4, copy.buffer=1 MiB: 44 ms")
    assert [point.verdict for point in found.points] == ["met", "not met", "met", "met"]
    worst = judge(folder, "p50(copy) < 1 ms")
    assert worst.figure.value == pytest.approx(44e6, rel=0.002)
    assert "at 4 of 4 points" in worst.reason


def test_at_names_the_points(folder):
    found = judge(folder, "p50(copy) < 20 ms", [{"se.threads": "16"}])
    assert (found.verdict, len(found.points)) == ("met", 2)
    one = judge(folder, "p50(copy) < 13 ms", [{"se.threads": "16", "copy.buffer": "1 MiB"}])
    assert one.verdict == "not met"
    assert one.reason.startswith("at se.threads=16, copy.buffer=1 MiB: p50(copy) is 14 ms")
    assert judge(folder, "p50(copy) < 20 ms", [{"se.threads": "5"}]).verdict == "unknown"


@pytest.mark.long
def test_rates_and_fractions_are_pooled_over_repeats(tmp_path):
    made = scans.scan(tmp_path, duration, failed=lambda point, repeat: 20 * (repeat == 1))
    assert judge(made, "fraction(copy.failed) == 0.5").points[0].figure.value == pytest.approx(20 / 120)
    rate = judge(made, "rate(copy) > 1 /s").points[0].figure
    assert rate.value == pytest.approx(100 / 12)
    assert rate.interval.low < rate.value < rate.interval.high
    moved = judge(made, "rate(copy.bytes) > 1 MB/s").points[0].figure
    assert moved.value == pytest.approx(100 * 2**20 / 12)
    assert judge(made, "sum(copy.bytes) > 1 MB").points[0].figure.value == 100 * 2**20
    assert judge(made, "rate(copy.failed) < 1 /s").figure.value == pytest.approx(20 / 12)


def test_monitors_are_looked_at_while_the_point_was_measured(folder):
    found = judge(folder, "max(node.load1) < 10")
    assert [(point.figure.value, point.verdict) for point in found.points] == [
        (4, "met"), (4, "met"), (16, "not met"), (16, "not met"),
    ]  # fmt: skip
    rest = judge(folder, "mean(cooldown.time_to_idle) < 2 s")
    assert [point.figure.value for point in rest.points] == [1e9, 1e9, 4e9, 4e9]
    assert {point.figure.n for point in rest.points} == {3}
    assert rest.verdict == "not met"


def test_single_rows_are_read_at_points(folder):
    assert judge(folder, "last(copy) < 16 ms", [{"se.threads": "16"}]).verdict == "met"
    assert judge(folder, "p90(copy.bytes) == 1 MiB").verdict == "met"


def test_all_of_it_is_plain_data(found):
    plain = to_json(found)
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["comparisons"][0]["differences"][0]["relative"]["dimension"] == "fraction"
    assert plain["cases"][0]["point"] == {"se.threads": "4", "copy.buffer": "64 KiB"}


def test_what_monitors_saw_is_compared_at_points(found):
    load, rest = [each for each in found.comparisons if each.monitor][::-1]
    assert (load.test, load.operation, load.metric, load.dimension) == ("node", "load1", "mean", "")
    assert [each.figure.value for each in load.points] == [4, 4, 16, 16]
    assert [each.verdict for each in load.differences] == ["no difference shown", "larger", "larger"]
    assert load.differences[1].relative.value == pytest.approx(3)
    assert (rest.test, rest.operation, rest.dimension) == ("cooldown", "time_to_idle", "time")
    assert [each.figure.value for each in rest.points] == [1e9, 1e9, 4e9, 4e9]


def test_samples_between_visits_belong_to_no_point(tmp_path):
    folder = scans.scan(tmp_path, duration, repeats=2)
    between = scans.START + 5 * scans.SECOND + scans.LONG + scans.SECOND * 9 // 10
    rows = [
        SampleRow(between, "node", "h", Sample("load1", 1e9)),
        SampleRow(between, "node", "h", Sample("quiet", 0.0)),
    ]
    folder.append_samples(rows)
    folder.close()
    found = [each for each in results(folder).comparisons if each.test == "node"]
    assert [each.operation for each in found] == ["load1"]
    assert found[0].points[0].figure.value == 4


def test_cases_of_which_a_quantile_had_no_answer_are_told():
    from dataclasses import replace

    from pileup.model.figures import Figure
    from pileup.stats.compare.points import comparisons, points
    from tests.unit.stats.contrasts import case, operation

    bound = Figure(None, "time", None, 1000, "", 1000 * MS)
    cases = []
    for repeat in (1, 2, 3):
        for threads in ("4", "16"):
            one = operation(20 * MS)
            if (threads, repeat) == ("16", 2):
                one = replace(one, quantiles={**one.quantiles, 0.9: bound})
            cases.append(case(one, point={"se.threads": threads}, repeat=repeat))
    found = comparisons(points(run_of({"points": [{"se.threads": "4"}, {"se.threads": "16"}]})), cases)
    notes = {each.metric: each.notes for each in found}
    assert notes["p90"] == ("p90 had no answer in 1 of 6 cases: these are slower than what is compared.",)
    assert notes["p50"] == ()


def grown(tmp_path, read=None):
    """Two repeats of two rows of `n` and `size`, crossed with two buffers; more of both takes longer by the row."""
    axes = {"n": ["1", "2"], "copy.buffer": ["64 KiB", "1 MiB"]}
    sizes = {"1": "1 GiB", "2": "2 GiB"}
    grid = [{"n": point["n"], "size": sizes[point["n"]], **point} for point in scans.points_of(axes)]
    folder = scans.scan(
        tmp_path,
        lambda point, repeat: int(
            8 * int(point["n"]) * (1.5 if point["copy.buffer"] == "1 MiB" else 1) * (0.5 + 0.5 * repeat) * MS
        ),
        axes={**axes, "size": ["1 GiB", "2 GiB"]},
        grid=grid,
        together=[["n", "size"]],
    )
    return results(folder)


def test_axes_that_are_varied_together_are_one_factor(tmp_path):
    found = grown(tmp_path)
    assert [point.name for point in found.points][:2] == [
        "n=1, size=1 GiB, copy.buffer=64 KiB",
        "n=1, size=1 GiB, copy.buffer=1 MiB",
    ]
    assert found.points[3].factors == {"n / size": "2 / 2 GiB", "copy.buffer": "1 MiB"}
    p50 = comparison(found, "p50")
    assert [(each.axis, each.value) for each in p50.effects] == [
        *[("n / size", "1 / 1 GiB"), ("n / size", "2 / 2 GiB")],
        *[("copy.buffer", "64 KiB"), ("copy.buffer", "1 MiB")],
    ]
    effect = p50.effects[1].difference
    assert effect.difference.value == pytest.approx(15e6, rel=0.01)
    assert effect.difference.n == 3


def test_differences_of_what_grows_together_are_paired(tmp_path):
    p50 = comparison(grown(tmp_path), "p50")
    gaps = [each.relative for each in p50.differences]
    assert [each.value for each in gaps] == pytest.approx([0.5, 1, 2], rel=0.01)
    assert {each.difference.n for each in p50.differences} == {3}
    for each in gaps:  # the third repeat takes twice the first, the ratios within them are alike
        assert each.interval.high - each.interval.low < 0.02
