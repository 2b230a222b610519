"""The command line: one file per command. Only here pileup prints, reads the environment and exits."""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code (see model.exits)."""
    from pileup.cli.app import run_app

    return run_app(arguments)
