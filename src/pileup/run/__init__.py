"""Executes a plan: suite machine, runner, cases, launched servers, the monitors' clock, guard rails.

May import everything below: `suite`, `stats`, `fleet`, `record`, `plugin`, `model`, `_core`.
"""

from pileup.run.runner import Runner

__all__ = ["Runner"]
