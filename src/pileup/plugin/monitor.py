"""A monitor measures something at an interval for the life of the run."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from pileup.model.errors import PluginError
from pileup.model.record import Sample, ServerOperation
from pileup.plugin.options import assign
from pileup.plugin.target import Target


class Monitor:
    """Base of all monitors. Options are annotated fields; the docstring is the monitor's page.

    `sample` is called at each interval from one thread. Rates are made by the monitor from its own last call; the first
    call may return less. What it raises is recorded and shown; the monitor is called again at the next interval.
    """

    _framework: ClassVar[bool] = True
    name: ClassVar[str] = ""
    """Name under which it is registered."""
    of_daemons: ClassVar[bool] = False
    """Whether the option `target` names daemons of a server that pileup launched: `TARGET`, or `TARGET.DAEMON`."""
    instead_of_target: ClassVar[tuple[str, ...]] = ()
    """With `of_daemons`, options that choose the processes of a server that pileup did not launch; then `target` is
    left out. Without any of them the monitor is not covered there."""

    def __init__(self, **options: Any) -> None:
        assign(self, options)
        self.check()

    def check(self) -> None:
        """Refuse options that contradict each other: raise ValueError."""

    def attach(self, find: Callable[[], Target], daemons: Callable[[], Mapping[str, int]] | None = None) -> None:
        """Take what finds the target of the suite that the option `target` names, for monitors that have this option.

        It may be another one after its server was started again. It raises TargetError while there is none. `daemons`
        tells the processes of its server that run: name -> pid; it raises TargetError when pileup launched none.
        """
        self._find = find
        self._daemons = daemons

    def watched(self) -> Target:
        """Return the target that the option `target` names, as it is now. Raises PluginError, TargetError."""
        find: Callable[[], Target] | None = getattr(self, "_find", None)
        if find is None and getattr(self, "target", None) is None:
            raise PluginError("the option `target` is left out", "the name of a target of the suite")
        if find is None:
            raise PluginError("`target` names a target that is not known here", "a monitor without `host`")
        return find()

    def daemons(self) -> dict[str, int]:
        """Return the daemons that the option `target` names and that run now: name -> pid.

        Empty between the end of a server and its next start. Raises PluginError, TargetError.
        """
        tell: Callable[[], Mapping[str, int]] | None = getattr(self, "_daemons", None)
        if tell is None:
            raise PluginError("the daemons of `target` are not known here", "a monitor of a suite, without `host`")
        return dict(tell())

    def open(self) -> None:
        """Make ready; raise PluginError when it cannot measure here."""

    def lacks(self) -> str:
        """Return why some of what it measures cannot be had of what it watches; empty when all can.

        Asked once, after `open`. Criteria on what it has no samples of are not covered then.
        """
        return ""

    @abstractmethod
    def sample(self) -> Iterable[Sample]:
        """Measure once."""

    def operations(self) -> Iterable[ServerOperation]:
        """Return what a server says that it did since the last call; asked after each `sample`, from its thread.

        They stand in the record with `side` server. Those of a monitor on another host are not kept.
        """
        return ()

    def close(self) -> None:
        """Give back what `open` took."""
