"""Pauses before a case, drawn once from a law."""

from __future__ import annotations

import random

from pileup.model.law import Law


def draw(law: Law, seed: int) -> int:
    """Return one time in ns, the same for the same seed."""
    return law.draw(random.Random(seed))
