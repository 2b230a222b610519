"""pileup from Python: suites checked and run, run folders read. Beside the command line, a second front door.

May import all layers below. It prints nothing, and reads the environment as the command line does. `load` and `run` are
imported when they are asked for: who opens a run does not need what runs suites.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pileup.api.comparison import Comparison
from pileup.api.opened import Run, open_run
from pileup.api.rows import Rows

if TYPE_CHECKING:
    from pileup.api.running import load, run

open = open_run  # noqa: A001  pileup.open, as gzip.open

__all__ = ["Comparison", "Rows", "Run", "load", "open", "run"]


def __getattr__(name: str) -> Any:
    """Import what is asked for."""
    if name not in ("load", "run"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from pileup.api import running  # noqa: PLC0415  it needs a fifth of a second

    return getattr(running, name)
