"""Carries a plan out: suite and case as state machines, the runner, launched servers, the monitors' clock, the journal's use.

May import everything below: `suite`, `stats`, `fleet`, `record`, `plugin`, `model`, `_core`.
"""

from pileup.run.runner import Runner

__all__ = ["Runner"]
