"""pileup: load, stress and performance tests for distributed scientific data systems.

    import pileup

    run = pileup.run("suite.yaml", set={"clients": 10})   # or pileup.open("runs/…")
    run.figures().df()

Only what is used is imported: `import pileup` alone takes no time.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pileup.api import Comparison, Rows, Run, load, open, run  # noqa: A004  pileup.open, as gzip.open
    from pileup.model.errors import (
        DamagedRecord,
        NotARun,
        PileupError,
        PluginError,
        RecordError,
        SuiteError,
        TargetError,
        UsageError,
    )

__all__ = [
    "Comparison",
    "DamagedRecord",
    "NotARun",
    "PileupError",
    "PluginError",
    "RecordError",
    "Rows",
    "Run",
    "SuiteError",
    "TargetError",
    "UsageError",
    "load",
    "open",
    "run",
]
_ERRORS = frozenset(name for name in __all__ if name.endswith("Error") or name in ("DamagedRecord", "NotARun"))


class _Package(ModuleType):
    """`pileup.run` is the function for everybody, also once the package of that name was imported."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in __all__ and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module("pileup.model.errors" if name in _ERRORS else "pileup.api"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
