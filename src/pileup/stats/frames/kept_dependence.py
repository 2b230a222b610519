"""The dependence of values as data, for the record, because computing it reads every row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pileup.stats.cases import CaseData
from pileup.stats.intervals.correlated import Dependence, Inflation
from pileup.stats.intervals.shares import Bursts

Known = Mapping[int, Mapping[tuple[str, bool], Dependence]]
"""Case -> (operation, whether iterations) -> what is known of it."""
VERSION = 1
"""Version of the method: results of an earlier one are computed again."""


def plain(cases: Iterable[CaseData]) -> object:
    """Return what is known of these cases as data for JSON."""
    rows = [_plain(data.entry.id, *key, found) for data in cases for key, found in data.dependence.items()]
    return {"version": VERSION, "operations": rows}


def _plain(case: int, operation: str, iteration: bool, found: Dependence) -> object:
    return {
        "case": case,
        "operation": operation,
        "iteration": iteration,
        "mean": found.mean,
        "error": found.error,
        "factors": [(share, each.factor, each.careful) for share, each in found.factors.items()],
        "not_passed": (found.not_passed.factor, found.not_passed.shown),
        "outcomes": {name: (each.factor, each.shown) for name, each in found.outcomes.items()},
        "count": found.count,
        "moved": found.moved,
    }


def read(kept: Any) -> Known | None:
    """Return what was kept; None where it is not as this version writes it."""
    known: dict[int, dict[tuple[str, bool], Dependence]] = {}
    try:
        if kept["version"] != VERSION:
            return None
        for row in kept["operations"]:
            known.setdefault(int(row["case"]), {})[str(row["operation"]), bool(row["iteration"])] = _read(row)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    return known


def _read(row: Any) -> Dependence:
    low, high = row["mean"]
    return Dependence(
        mean=(float(low), float(high)),
        error=float(row["error"]),
        factors={float(share): Inflation(float(factor), float(careful)) for share, factor, careful in row["factors"]},
        not_passed=_bursts(row["not_passed"]),
        outcomes={str(name): _bursts(each) for name, each in row["outcomes"].items()},
        count=None if row["count"] is None else float(row["count"]),
        moved=None if row["moved"] is None else float(row["moved"]),
    )


def _bursts(pair: Any) -> Bursts:
    factor, shown = pair
    return Bursts(float(factor), bool(shown))
