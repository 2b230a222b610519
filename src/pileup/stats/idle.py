"""Whether samples seen so far fulfil a check on a monitor: what a cooldown waits for."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from pileup.model import check as checks
from pileup.model.record import SampleRow
from pileup.stats.evaluate import of_values, to_base
from pileup.stats.monitors import whole_series


def holds(text: str, samples: Iterable[SampleRow], monitors: Collection[str]) -> bool:
    """Return whether a check on a monitor holds for samples in the order of their times; every series must fulfil it.

    False while there is no sample of that metric. Raises ValueError for a check that is none on a monitor.
    """
    check = checks.parse(text)
    selected = checks.resolve(check, (), monitors)
    wanted = (selected.name, selected.metric)
    series = [
        each for each in whole_series(samples) if (each.monitor, each.metric) == wanted and each.has(selected.labels)
    ]
    figures = [of_values(check, *to_base(each.between(None, None), each.unit)) for each in series]
    return bool(figures) and all(figure.value is not None and check.holds(figure.value) for figure in figures)
