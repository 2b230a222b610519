"""The drawing library that every page carries: made once for each version of it, then kept in the user's cache."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from functools import cache
from importlib.metadata import version
from pathlib import Path

import vl_convert

EXPORTED = "window.vegaEmbed = vegaEmbed;"
"""What the page uses of it."""


@cache
def bundle() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script that needs no network and does not end a script element."""
    script = kept(_folder())
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def kept(folder: Path | None) -> str:
    """Return the script from a folder, or make it, which takes a second of CPU, and keep it there.

    The first line of the file is the digest of the rest: a file that was cut off is made again.
    """
    path = folder / f"vega-{version('vl-convert-python')}.js" if folder is not None else None
    if path is not None and (found := _read(path)) is not None:
        return found
    script: str = vl_convert.javascript_bundle(EXPORTED)
    if path is not None:
        with contextlib.suppress(OSError):  # no room, no right: it is made each time
            _write(path, script)
    return script


def _folder() -> Path | None:
    try:
        return Path.home() / ".cache" / "pileup"
    except RuntimeError:  # a user without a home
        return None


def _read(path: Path) -> str | None:
    try:
        if path.stat().st_uid != os.getuid():
            return None  # what a page runs comes from its user alone
        digest, _, script = path.read_bytes().decode().partition("\n")
    except (OSError, UnicodeDecodeError):
        return None
    return script if digest == _digest(script) else None


def _write(path: Path, script: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(f"{_digest(script)}\n{script}".encode())
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


def _digest(script: str) -> str:
    return hashlib.sha256(f"{EXPORTED}{script}".encode()).hexdigest()
