"""Results of runs with known figures, for comparisons."""

import math

from pileup.model.exits import ExitCode
from pileup.model.figures import Counts, Distribution, Figure, Interval
from pileup.model.results import CaseResult, OperationResult, RunResults
from pileup.model.verdict import RunVerdict
from pileup.stats.intervals.confidence import wilson
from tests.manifests import run_of

MS = 10**6


def operation(median, width=0.02, *, rate=100.0, passed=1000, failed=0, missed=0, name="copy", iteration=True):
    """An operation whose every duration is a multiple of `median` ns; intervals are +- `width` of the value."""

    def figure(value, dimension="time"):
        return Figure(value, dimension, Interval(value * (1 - width), value * (1 + width)), passed)

    mean = figure(median * 1.1)
    response = Distribution(
        n=passed,
        mean=median * 1.1,
        smallest=1,
        largest=int(median * 10),
        quantiles={0.5: figure(median), 0.9: figure(median * 2), 0.99: Figure(None, "time", None, passed, "too few")},
        edges=(1.0, 2.0),
        counts=(passed,),
        ecdf=((1.0, 1.0),),
        box=(1.0, 1.0, 1.0, 1.0, 1.0),
        mean_interval=mean.interval,
    )
    due = passed + failed + missed
    share = Figure((failed + missed) / due, "fraction", wilson(failed + missed, due), due)
    return OperationResult(
        operation=name,
        iteration=iteration,
        counts=Counts(passed=passed, failed=failed, missed=missed),
        seconds=10.0,
        rate=figure(rate, "rate"),
        throughput=figure(rate * 1e6, "bandwidth"),
        bytes=passed,
        calls=passed,
        response=response,
        service=response,
        quantiles=response.quantiles,
        service_quantiles=response.quantiles,
        not_passed=share,
    )


def case(*operations, test="copy", point=None, repeat=1, number=1, outcome="passed", load="closed, 4 clients"):
    return CaseResult(
        id=number,
        name=f"{test}#{repeat}",
        test=test,
        use="noop",
        target="se",
        load=load,
        outcome=outcome,
        reason="",
        started=1,
        ended=2,
        operations=tuple(operations),
        timeline=None,
        stdout="",
        stderr="",
        point=point or {},
        repeat=repeat,
    )


def run(*cases, folder="/runs/one", limit="", limited=(), **info):
    known = {
        "title": "a",
        "ended": 2,
        "stopped": "",
        "suite": {"text": "pileup: 1\n", "digest": "d", "values": {}},
        "versions": {"pileup": "0.1.0"},
        "hosts": [{"name": "vm", "cpus": 2}],
        "targets": [{"name": "se", "kind": "posix", "url": "/data"}],
        "places": [{"number": 0, "host": "vm"}],
    }
    told = run_of({**known, **info})
    code, verdict = ExitCode.PASSED, RunVerdict.PASSED
    return RunResults(folder, told, tuple(cases), (), (), (), code, verdict, limit, limited=limited)


def metric(found, name, test="copy", operation="", point=""):
    """The one contrast of that name."""
    wanted = (test, point, operation, name)
    (one,) = [each for each in found.contrasts if (each.test, each.point, each.operation, each.metric) == wanted]
    return one


def near(interval, low, high):
    return math.isclose(interval.low, low, rel_tol=1e-9, abs_tol=1e-12) and math.isclose(
        interval.high, high, rel_tol=1e-9, abs_tol=1e-12
    )
