"""Client software set up as a shell would: the variables that sourcing a file leaves behind."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

from pileup.model.errors import TargetError
from pileup.model.suite import Environment

WITHIN = 120.0
"""Seconds that sourcing may take: software on a network file system comes slowly the first time."""


def variables(environment: Environment, folder: Path) -> dict[str, str]:
    """Return every variable of the environment; a relative file to source is one beside the suite, in `folder`.

    Raises TargetError when the file cannot be sourced.
    """
    found = dict(os.environ)
    if environment.source is not None:
        found = _sourced(environment.source, folder)
    return found | environment.set_


def _sourced(source: str, folder: Path) -> dict[str, str]:
    path = folder / source
    script = f"source {shlex.quote(str(path))} >&2 && env -0"
    hint = f"try `source {source}` in a shell"
    command = ["bash", "-c", script]
    try:
        done = subprocess.run(
            command, capture_output=True, cwd=folder, stdin=subprocess.DEVNULL, timeout=WITHIN, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise TargetError(f"environment: {source} cannot be sourced: {problem}", "a shell file", hint) from problem
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()[-300:] or "nothing"
        told = f"environment: sourcing {source} ended with code {done.returncode} and said: {said}"
        raise TargetError(told, "a file that bash can source", hint)
    parts = (part.decode(errors="surrogateescape").partition("=") for part in done.stdout.split(b"\0") if part)
    return {name: value for name, _, value in parts}
