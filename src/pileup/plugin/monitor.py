"""A monitor measures something at an interval for the life of the run."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar

from pileup.model.record import Sample
from pileup.plugin.options import assign


class Monitor:
    """Base of all monitors. Options are annotated fields; the docstring is the monitor's page.

    `sample` is called at each interval from one thread. Rates are made by the monitor from its own last call; the first
    call may return less. What it raises is recorded and shown; the monitor is called again at the next interval.
    """

    _framework: ClassVar[bool] = True
    name: ClassVar[str] = ""
    """Name under which it is registered."""

    def __init__(self, **options: Any) -> None:
        assign(self, options)
        self.check()

    def check(self) -> None:
        """Refuse options that contradict each other: raise ValueError."""

    def open(self) -> None:
        """Make ready; raise PluginError when it cannot measure here."""

    @abstractmethod
    def sample(self) -> Iterable[Sample]:
        """Measure once."""

    def close(self) -> None:
        """Give back what `open` took."""
