"""Pauses before a case, drawn once from a law."""

from __future__ import annotations

import random
from typing import Any

from pileup.model.law import Law


def draw(law: Law, seed: int) -> int:
    """Return one time in ns, the same for the same seed."""
    source = random.Random(seed)
    given: Any = getattr(law, law.kind)
    match law.kind, given:
        case "uniform", (low, high):
            return source.randint(low, high)
        case "exponential", mean:
            return int(source.expovariate(1 / mean)) if mean else 0
        case "normal", (mean, deviation):
            return max(0, int(source.gauss(mean, deviation)))
        case "lognormal", (median, sigma):
            return int(median * source.lognormvariate(0, sigma))
        case "bimodal", (fast, slow, share):
            return int(slow if source.random() < share else fast)
        case _:
            return int(given)
