"""The target that is not there."""

from __future__ import annotations

from typing import ClassVar

from pileup.plugin import ClientSpec, Target


class NoopTarget(Target):
    """Nothing: every operation passes at once.

    Shows what pileup itself costs. Takes no url.
    """

    kind = "noop"
    needs_url: ClassVar[bool] = False

    def client(self) -> ClientSpec:
        """Return the client that does nothing."""
        return ClientSpec("noop")

    def probe(self) -> str:
        """Say that it does nothing."""
        return "noop: does nothing"
