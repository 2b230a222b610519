"""The packages of the extra `analysis`: whether they are there, without importing them."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

INSTALL = "pip install 'pileup[analysis]'"


TOGETHER = ("uproot", "awkward", "hist", "boost-histogram")
"""Packages of which all workers of a query need the same version: their histograms are added up."""


def versions() -> dict[str, str]:
    """Return the versions of these packages and of Python (without its last number) here."""
    found = {"Python": f"{sys.version_info[0]}.{sys.version_info[1]}"}
    for name in TOGETHER:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "none"
    return found


def require(*names: str) -> None:
    """Raise ImportError unless these packages are installed: plug-ins of a module that begins so are unavailable."""
    missing = [name for name in names if find_spec(name) is None]
    if missing:
        raise ImportError(
            f"it needs {', '.join(missing)}; expected {'it' if len(missing) == 1 else 'them'} to be "
            f"installed: {INSTALL}"
        )
