"""Executes a plan: suite machine, runner, cases, launched servers, the monitors' clock, guard rails.

May import everything below: `suite`, `stats`, `fleet`, `record`, `plugin`, `model`, `_core`. The runner is imported
when it is asked for: where runs are, and whether one goes on, can be known without it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pileup.run.runner import Runner

__all__ = ["Runner"]


def __getattr__(name: str) -> Any:
    """Import what is asked for."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from pileup.run.runner import Runner  # noqa: PLC0415  with all that a run needs

    return Runner
