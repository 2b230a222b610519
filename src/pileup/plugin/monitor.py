"""A monitor measures something at an interval for the life of the run."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from pileup.model.errors import PluginError
from pileup.model.record import Labels, Outcome, Sample
from pileup.plugin.options import assign
from pileup.plugin.proc import LOCAL, Proc
from pileup.plugin.recording import Each, Recording
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
    records: ClassVar[bool] = False
    """Whether it records operations of a server (`record`): then checks may ask for their figures."""
    instead_of_target: ClassVar[tuple[str, ...]] = ()
    """With `of_daemons`, options that choose the processes of a server that pileup did not launch; then `target` is
    left out. Without any of them the monitor is not covered there."""
    reads_proc: ClassVar[bool] = False
    """Whether it reads all that it measures through `proc`: then a `host` needs no pileup, a POSIX shell will do."""

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

    def record(
        self,
        name: str,
        key: str = "",
        *,
        start: int,
        end: int,
        outcome: Outcome = Outcome.PASSED,
        bytes: int = 0,
        calls: int = 0,
        first_byte: int = 0,
        error: str = "",
        labels: Labels | None = None,
    ) -> None:
        """Record an operation that a server says it did. To be called within `sample`; `records` must be true.

        `name` is what was done, alike for all acts of a kind: no values of users in it. `key` is the object: where an
        operation of a client that has the same key goes on at that time, it is the parent of this one. Times are ns
        since the epoch by the clock of this host; `first_byte` 0: not known. `calls` is how much the work was, `labels`
        what figures are broken down by. Raises ValueError for times that are none and names that cannot be.
        """
        numbers = (start, end, first_byte, bytes, calls, int(outcome))
        self.recording.add(name, key, error, labels, numbers)

    def record_many(
        self,
        names: Sequence[str] | str,
        keys: Sequence[str] | str = "",
        *,
        start: Sequence[int],
        end: Sequence[int],
        outcome: Each = Outcome.PASSED,
        bytes: Each = 0,
        calls: Each = 0,
        first_byte: Each = 0,
        error: Sequence[str] | str = "",
        labels: Sequence[Labels] | Labels | None = None,
    ) -> None:
        """Record many operations as columns: of each a value for every operation, or one for all.

        Columns of numbers are taken as they are when they are numpy arrays of int64 (`calls` uint32, `outcome` uint8).
        Raises ValueError as `record` does, and for columns of different lengths.
        """
        times = {"start": start, "end": end, "first_byte": first_byte}
        self.recording.add_many(
            names, keys, error, labels, {**times, "bytes": bytes, "calls": calls, "outcome": outcome}
        )

    @property
    def proc(self) -> Proc:
        """What the kernel of the measured machine says below /proc; of this machine until it is set, before `open`."""
        found: Proc = getattr(self, "_proc", LOCAL)
        return found

    @proc.setter
    def proc(self, where: Proc) -> None:
        self._proc = where

    @property
    def recording(self) -> Recording:
        """Where it records; set by what samples it. Raises PluginError for one that does not say that it `records`."""
        found: Recording | None = getattr(self, "_recording", None)
        if found is None:
            hint = "pileup.plugin.testing.MonitorRecord takes them in a unit test"
            raise PluginError(f"{type(self).__name__} records operations", "`records = True` in its class", hint)
        return found

    @recording.setter
    def recording(self, where: Recording) -> None:
        self._recording = where

    def close(self) -> None:
        """Give back what `open` took."""
