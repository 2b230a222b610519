"""The cost of pileup itself: reported, and not subtracted from any figure."""

from __future__ import annotations

from collections.abc import Sequence

from pileup.model import self_metrics
from pileup.model.manifest import Manifest
from pileup.model.units import format_size, format_time
from pileup.stats.cases import CaseData
from pileup.stats.monitors import MetricSeries

KINDS = {"native": "a native iteration", "python": "a Python one"}
TINY = 0.0001
"""Smaller shares are shown as less than this."""


def overhead(run: Manifest, cases: Sequence[CaseData], series: Sequence[MetricSeries] = ()) -> str:
    """Return what an iteration that does nothing costs, and what pileup took of its hosts, in words.

    Empty where neither is known. `run` is run.json, `series` are all samples of the run.
    """
    return "; ".join(filter(None, (_of_iterations(run, cases), _taken(series))))


def _taken(series: Sequence[MetricSeries]) -> str:
    """Return the mean CPU of all places, with what they had started, and the most memory of one; "" if unknown."""
    mine = [each for each in series if each.monitor == self_metrics.MONITOR]
    cpu = [
        values.mean()
        for each in mine
        if each.metric == self_metrics.TOTAL and (values := each.between(None, None)).size
    ]
    rss = [
        values.max() for each in mine if each.metric == self_metrics.RSS and (values := each.between(None, None)).size
    ]
    if not cpu:
        return ""
    where = f" at {len(cpu)} places together" if len(cpu) > 1 else ""
    most = f", and at most {format_size(max(rss))} of memory{' at one' * (len(rss) > 1)}" if rss else ""
    return f"all in all pileup took {sum(cpu):.3g} % of a core on average{where}, commands it started included{most}"


def _of_iterations(run: Manifest, cases: Sequence[CaseData]) -> str:
    """Return what an iteration costs, and the largest share of a median response that is; "" if not calibrated."""
    cost = {kind: run.overhead[kind] for kind in KINDS if kind in run.overhead}
    if not cost:
        return ""
    told = ", ".join(f"{KINDS[kind]} {format_time(value)}" for kind, value in cost.items())
    shares = [(share, data.entry.name) for data in cases if (share := _share(data, cost)) is not None]
    if not shares:
        return f"{told}: that is what pileup itself costs here"
    share, name = max(shares)
    part = f"less than {100 * TINY:g} %" if share < TINY else f"{100 * share:.2g} %" if share < 1 else "all"
    return f"{told}: that is {part} of the median response of {name}{', the most' if len(shares) > 1 else ''}"


def _share(data: CaseData, cost: dict[str, float]) -> float | None:
    """Return the cost of an iteration of a case's kind as a share of its median response; None for what is a check."""
    own = cost.get(data.entry.engine)
    if own is None or data.is_check:
        return None
    medians = [response.quantile(0.5) for tally in data.measured.iterations() if (response := tally.response).count]
    return own / max(1, min(medians)) if medians else None
