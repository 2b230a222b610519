"""The packages of the extra `analysis`: whether they are there, without importing them."""

from __future__ import annotations

from importlib.util import find_spec

INSTALL = "pip install 'pileup[analysis]'"


def require(*names: str) -> None:
    """Raise ImportError unless these packages are installed: plug-ins of a module that begins so are unavailable."""
    missing = [name for name in names if find_spec(name) is None]
    if missing:
        raise ImportError(
            f"it needs {', '.join(missing)}; expected {'it' if len(missing) == 1 else 'them'} to be "
            f"installed: {INSTALL}"
        )
