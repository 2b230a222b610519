"""Runs against a baseline, with figures whose effects are known."""

import math
from dataclasses import replace

import pytest

from pileup.model.contrast_words import change_words, plain_words
from pileup.model.figures import Figure, Interval
from pileup.model.results import FoundLevel, SoughtCondition
from pileup.stats.compare.runs import compare_runs
from tests.unit.stats.contrasts import MS, case, metric, operation, run


def against(baseline, candidate, smallest=0.05):
    groups = [each if isinstance(each, list) else [each] for each in (baseline, candidate)]
    (found,) = compare_runs(groups[0], [groups[1]], smallest).against
    return found


def test_slower_is_worse_and_a_lower_rate_too():
    found = against(run(case(operation(20 * MS))), run(case(operation(25 * MS, rate=80.0)), folder="/runs/two"))
    for name, relative in (("rate", -0.2), ("throughput", -0.2), ("mean", 0.25), ("p50", 0.25), ("p90", 0.25)):
        one = metric(found, name)
        assert (one.verdict, one.matters) == ("worse", True), name
        assert one.relative.value == pytest.approx(relative)
        assert one.relative.interval.low < relative < one.relative.interval.high
        assert one.difference.value == pytest.approx(one.candidate.value - one.baseline.value)
    assert metric(found, "p99").verdict == "too few"
    assert {each.metric for each in found.worse} == {"rate", "throughput", "mean", "p50", "p90"}
    assert not found.better


def test_faster_is_better():
    found = against(run(case(operation(20 * MS))), run(case(operation(15 * MS, rate=130.0))))
    assert {each.metric for each in found.better} == {"rate", "throughput", "mean", "p50", "p90"}


def test_equal_runs_show_no_difference():
    found = against(run(case(operation(20 * MS))), run(case(operation(20.1 * MS))))
    shown = {each.verdict for each in found.contrasts if each.metric != "p99"}
    assert shown == {"no difference shown"}
    assert all(each.alike for each in found.contrasts if each.metric != "p99")
    wide = against(run(case(operation(20 * MS, width=0.2))), run(case(operation(20.1 * MS, width=0.2))))
    assert not any(each.alike for each in wide.contrasts)


def _searched(level, low, high, *, by="rate", beyond="", operations=()):
    told = FoundLevel(
        check="p90(copy) < 50 ms", conditions=(SoughtCondition("p90(copy) < 50 ms", "p90(copy)", "time", 50e6),),
        not_passed=0.01, by=by, level=low if operations else None, limit=level, low=low, high=high, beyond=beyond,
        measured=low if operations else None, trials=(),
    )  # fmt: skip
    return replace(case(*operations), found=told)


def test_what_searches_found_is_compared_by_its_interval():
    one = run(_searched(200.0, 190.0, 210.0, operations=[operation(20 * MS)]))
    other = run(_searched(150.0, 145.0, 155.0, operations=[operation(20 * MS, rate=75.0)]), folder="/runs/two")
    found = against(one, other)
    assert [each.metric for each in found.contrasts][:2] == ["found", "rate"]
    level = metric(found, "found")
    assert (level.verdict, level.matters, level.dimension) == ("worse", True, "rate")
    assert level.relative.value == pytest.approx(-0.25)
    assert level.relative.interval.low < -0.25 < level.relative.interval.high < -0.15
    told = "copy was measured at 190 /s in the baseline and at 145 /s in the candidate"
    assert any(told in each for each in found.warnings)
    assert not any("was measured at" in each for each in against(one, one).warnings)


def test_searches_that_measured_nothing_are_compared_too():
    found = against(run(_searched(4.0, 4.0, 5.0, by="clients")), run(_searched(None, None, None, by="clients")))
    assert [(each.metric, each.verdict) for each in found.contrasts] == [("found", "too few")]
    highest = _searched(1000.0, 990.0, 1000.0, beyond="above")
    assert metric(against(run(highest), run(highest)), "found").baseline.interval is None


def test_a_tiny_certain_difference_is_told_and_does_not_matter():
    found = against(run(case(operation(20 * MS, width=1e-4))), run(case(operation(20.4 * MS, width=1e-4))))
    one = metric(found, "p50")
    assert (one.verdict, one.matters, one.alike) == ("worse", False, True)
    assert not found.worse
    assert against(run(case(operation(20 * MS, 1e-4))), run(case(operation(20.4 * MS, 1e-4))), smallest=0.01).worse


def test_failures_that_were_not_there_matter():
    found = against(run(case(operation(20 * MS))), run(case(operation(20 * MS, failed=20))))
    one = metric(found, "not passed")
    assert (one.verdict, one.matters) == ("worse", True)
    assert one.relative.value is None
    assert one.difference.interval.low > 0
    few = against(run(case(operation(20 * MS))), run(case(operation(20 * MS, failed=1))))
    assert metric(few, "not passed").verdict == "no difference shown"
    missed = against(run(case(operation(20 * MS))), run(case(operation(20 * MS, missed=1000))))
    assert metric(missed, "not passed").candidate.value == pytest.approx(0.5)


def test_operations_and_points_are_compared_with_their_like():
    def made(factor):
        opened = operation(2 * MS * factor, name="open", iteration=False)
        first = case(operation(20 * MS), opened, point={"se.threads": "4"})
        return run(first, case(operation(10 * MS), opened, point={"se.threads": "16"}))

    found = against(made(1), made(2))
    assert metric(found, "p50", operation="open", point="se.threads=4").verdict == "worse"
    assert metric(found, "p50", point="se.threads=16").verdict == "no difference shown"
    assert metric(found, "p50", point="se.threads=16").baseline.value == 10 * MS


def test_repeats_are_compared_by_how_they_vary():
    def made(*medians):
        return run(*(case(operation(median * MS), repeat=number) for number, median in enumerate(medians, 1)))

    noisy = against(made(20, 26, 17, 23), made(24, 20, 28, 22))
    one = metric(noisy, "p50")
    assert one.over_runs
    assert one.baseline.n == 4
    assert one.baseline.value == pytest.approx(21.5 * MS)
    assert one.verdict == "no difference shown"
    assert metric(against(made(20, 20.2, 19.9), made(24, 24.3, 24.1)), "p50").verdict == "worse"
    # within itself each is known to 2 %, so single cases would have shown a difference
    assert metric(against(made(20), made(24)), "p50").verdict == "worse"


def _answered(number, *, above=None, high=None):
    one = operation(20 * MS)
    found = (
        Figure(None, "time", None, 1000, "", above) if above else Figure(20 * MS, "time", Interval(19 * MS, high), 9)
    )
    return case(replace(one, quantiles={**one.quantiles, 0.9: found}), repeat=number)


@pytest.mark.parametrize(("above", "words"), [(1000 * MS, "> 1 s"), (math.inf, "no answer")])
def test_a_quantile_that_is_known_from_below_alone_is_said_to_be_so(above, words):
    one = metric(against(run(case(operation(20 * MS))), run(_answered(1, above=above))), "p90")
    assert (one.verdict, one.p, one.matters, one.alike) == ("no answer", None, False, False)
    assert plain_words(one.candidate) == words
    assert plain_words(one.baseline) == "40 ms"
    assert change_words(one) == "-"
    # with others that had one: to compare those alone would compare survivors
    several = run(_answered(1, high=21 * MS), _answered(2, above=above), _answered(3, high=21 * MS))
    one = metric(against(several, several), "p90")
    assert (one.verdict, one.over_runs) == ("no answer", False)
    assert one.baseline.above == pytest.approx((40 * MS + above) / 3)


def test_an_interval_without_an_upper_limit_is_told_in_words():
    one = metric(against(run(case(operation(30 * MS))), run(_answered(1, high=math.inf))), "p90")
    assert one.verdict == "no difference shown" or one.difference.value < 0
    assert "inf" not in change_words(one)
    assert "nan" not in change_words(one)
    assert change_words(one).endswith("or more)")


def test_runs_are_grouped():
    group = [run(case(operation(20 * MS * scale)), folder=f"/runs/{scale}") for scale in (1, 1.01, 0.99)]
    found = compare_runs(group, [[run(case(operation(25 * MS)))]], 0.05)
    assert found.baseline.name == "1 and 2 more"
    assert metric(found.against[0], "p50").verdict == "worse"
    assert found.verdict == "worse"
    assert not any("One case" in each for each in found.against[0].warnings)


@pytest.mark.long
def test_one_in_twenty_equal_runs_shows_anything():
    import numpy as np

    rng, shown, tries = np.random.default_rng(3), 0, 300
    for _ in range(tries):
        names = [f"t{number}" for number in range(6)]

        def made(names=names):
            noise = [20 * MS * (1 + rng.normal(0, 0.01)) for _ in names]
            return run(*(case(operation(one, width=0.0196), test=name) for name, one in zip(names, noise, strict=True)))

        shown += any(each.verdict in {"better", "worse"} for each in against(made(), made(), 0.0).contrasts)
    assert shown / tries < 0.08


def test_sessions_of_a_run_that_was_taken_up_again_are_no_more_places():
    def placed(*places):
        found = [{"number": number, "host": host, "session": session} for number, (host, session) in enumerate(places)]
        return run(case(operation(20 * MS)), places=found, folder="/runs/one")

    once, resumed = placed(("vm", 1)), placed(("vm", 1), ("vm", 2))
    assert against(once, resumed).differs == ()
    (more,) = against(once, placed(("vm", 1), ("other", 1), ("vm", 2))).differs
    assert (more.what, more.baseline, more.candidate) == ("places", "1 on vm", "2 on vm, other or 1 on vm")


def test_what_is_not_alike_is_told():
    old = run(case(operation(20 * MS)), versions={"pileup": "0.1.0"}, folder="/runs/old")
    new = run(
        case(operation(20 * MS), load="closed, 8 clients"),
        case(operation(20 * MS), test="extra"),
        versions={"pileup": "0.2.0"},
        hosts=[{"name": "other", "cpus": 64}],
        targets=[{"name": "se", "kind": "posix", "url": "/elsewhere"}],
        suite={"text": "pileup: 1\ntitle: x\n# why\n", "digest": "e", "values": {"clients": "8"}},
        debug_build=True,
        ended=None,
        limit="copy: pileup was the bottleneck (it took 99 % of a core)",
        limited=("copy",),
        folder="/runs/new",
    )
    found = against(old, new)
    told = {each.what: (each.baseline, each.candidate) for each in found.differs}
    assert told == {
        "version pileup": ("0.1.0", "0.2.0"),
        "host": ("vm", "other"),
        "host cpus": ("2", "64"),
        "target se": ("posix /data", "posix /elsewhere"),
        "value clients": ("", "8"),
        "build": ("release", "debug"),
        "load copy": ("closed, 4 clients", "closed, 8 clients"),
        "suite": ("", "title: x"),
    }
    words = " ".join(found.warnings)
    for part in ("debug build", "goes on, or has crashed", "pileup was the bottleneck", "suites differ", "extra"):
        assert part in words
    assert against(old, old).differs == ()
    assert [each.split(":")[0] for each in against(old, old).warnings] == ["One case on each side"]
