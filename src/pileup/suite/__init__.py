"""From a suite file to a plan: reading, variables, schema, rules, order. All problems are reported at once.

`load` and `suite_schema` are imported when they are asked for: `pileup list suites` and completion need neither.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pileup.suite.loading import digest_of, load, suite_schema

__all__ = ["digest_of", "load", "suite_schema"]


def __getattr__(name: str) -> Any:
    """Import what is asked for."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from pileup.suite import loading  # noqa: PLC0415  it needs a third of a second

    return getattr(loading, name)
