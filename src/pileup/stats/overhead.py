"""What pileup itself costs, beside what was measured: told, and subtracted from nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pileup.model.units import format_time
from pileup.stats.cases import CaseData

KINDS = {"native": "a native iteration", "python": "a Python one"}
TINY = 0.0001
"""Shares below this are told as less than it."""


def overhead(info: dict[str, Any], cases: Sequence[CaseData]) -> str:
    """Return what an iteration that does nothing costs here, and the largest share of a median response that is.

    Empty where it was not calibrated. `info` is run.json.
    """
    cost = {kind: value for kind in KINDS if isinstance(value := (info.get("overhead") or {}).get(kind), int | float)}
    if not cost:
        return ""
    told = ", ".join(f"{KINDS[kind]} {format_time(value)}" for kind, value in cost.items())
    shares = [(share, data.info["name"]) for data in cases if (share := _share(data, cost)) is not None]
    if not shares:
        return f"{told}: that is what pileup itself costs here"
    share, name = max(shares)
    part = f"less than {100 * TINY:g} %" if share < TINY else f"{100 * share:.2g} %" if share < 1 else "all"
    return f"{told}: that is {part} of the median response of {name}{', the most' if len(shares) > 1 else ''}"


def _share(data: CaseData, cost: dict[str, float]) -> float | None:
    """Return the cost of an iteration of a case's kind as a share of its median response; None for what is a check."""
    own = cost.get(str(data.info.get("engine", "")))
    if own is None or data.is_check:
        return None
    medians = [response.quantile(0.5) for tally in data.measured.iterations() if (response := tally.response).count]
    return own / max(1, min(medians)) if medians else None
