"""Tests in Python that do nothing: what is left is what the harness costs."""

from __future__ import annotations

from pileup.plugin import Op, Test


class Paced(Test):
    """An iteration."""

    def run(self, op: Op) -> None:
        """Pass."""


class Timed(Test):
    """An iteration with one operation of its own."""

    def run(self, op: Op) -> None:
        """Time nothing."""
        with op("nothing"):
            pass


class Coroutine(Test):
    """An async iteration."""

    async def run(self, op: Op) -> None:
        """Pass."""


KINDS: dict[str, type[Test]] = {"paced": Paced, "with op()": Timed, "async": Coroutine}
