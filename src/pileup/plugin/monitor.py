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

    `sample` is called at each interval, from one thread. For rates, the monitor remembers its last call; the first call
    may return fewer samples. Exceptions are recorded and shown; the monitor is called again at the next interval.
    """

    _framework: ClassVar[bool] = True
    name: ClassVar[str] = ""
    """Name under which it is registered."""
    of_daemons: ClassVar[bool] = False
    """Whether the option `target` names daemons of a server that pileup launched: `TARGET`, or `TARGET.DAEMON`."""
    records: ClassVar[bool] = False
    """Whether it records operations of a server (`record`), so that checks can use their figures."""
    resolution: ClassVar[int] = 0
    """With `records`, the steps of the clock that the recorded times are of, ns; 0: fine enough for any operation."""
    instead_of_target: ClassVar[tuple[str, ...]] = ()
    """With `of_daemons`, options that choose processes of a server that pileup did not launch; `target` is then left
    out. Without any of them the monitor is not covered there.
    """
    reads_proc: ClassVar[bool] = False
    """Whether it reads everything through `proc`: then a `host` needs only a POSIX shell, not pileup."""

    def __init__(self, **options: Any) -> None:
        assign(self, options)
        self.check()

    def check(self) -> None:
        """Refuse options that contradict each other: raise ValueError."""

    def attach(self, find: Callable[[], Target], daemons: Callable[[], Mapping[str, int]] | None = None) -> None:
        """Set how to find the target that the option `target` names, for monitors with this option.

        The target may differ after a restart of its server. Both raise TargetError while there is none. `daemons`
        returns the running processes of a launched server: name -> pid.
        """
        self._find = find
        self._daemons = daemons

    def watched(self) -> Target:
        """Return the current target that the option `target` names. Raises PluginError, TargetError."""
        find: Callable[[], Target] | None = getattr(self, "_find", None)
        if find is None and getattr(self, "target", None) is None:
            raise PluginError("the option `target` is left out", "the name of a target of the suite")
        if find is None:
            raise PluginError("`target` names a target that is not known here", "a monitor without `host`")
        return find()

    def daemons(self) -> dict[str, int]:
        """Return the running daemons that the option `target` names: name -> pid.

        Empty between the end of a server and its next start. Raises PluginError, TargetError.
        """
        tell: Callable[[], Mapping[str, int]] | None = getattr(self, "_daemons", None)
        if tell is None:
            raise PluginError("the daemons of `target` are not known here", "a monitor of a suite, without `host`")
        return dict(tell())

    def open(self) -> None:
        """Prepare; raise PluginError if it cannot measure here."""

    def lacks(self) -> str:
        """Return why some metrics cannot be measured on what it watches; empty if all can.

        Called once, after `open`. Criteria on metrics or labels without samples are then not covered.
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
        parent: int = 0,
        client: int = -1,
    ) -> None:
        """Record an operation of a server. Call it within `sample`; `records` must be true.

        `name` says what was done, the same for all operations of a kind, without values of users. `key` is the object:
        a client's operation with the same key at that time becomes the parent. If the server knows it, pass its id as
        `parent`, which HTTP carries in `X-Pileup-Id`, or the number of the client as `client`. Times are ns since the
        epoch by the clock of this host; `first_byte` 0: not known. `calls` is the amount of work; figures are broken
        down by `labels`. Raises ValueError for invalid times and names.
        """
        numbers = (start, end, first_byte, bytes, calls, int(outcome), parent, client)
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
        parent: Each = 0,
        client: Each = -1,
    ) -> None:
        """Record many operations as columns, each with a value for every operation, or one for all.

        Columns of numbers are taken as they are when they are numpy arrays of int64 (`calls` uint32, `outcome` uint8,
        `parent` uint64).
        Raises ValueError as `record` does, and for columns of different lengths.
        """
        times = {"start": start, "end": end, "first_byte": first_byte}
        numbers = {"bytes": bytes, "calls": calls, "outcome": outcome, "parent": parent, "client": client}
        self.recording.add_many(names, keys, error, labels, {**times, **numbers})

    def note(self, text: str) -> None:
        """Have an event of the run say something, once. Call it within `sample`; `records` must be true."""
        self.recording.note(text)

    @property
    def proc(self) -> Proc:
        """/proc of the measured machine: this machine, unless it is set before `open`."""
        found: Proc = getattr(self, "_proc", LOCAL)
        return found

    @proc.setter
    def proc(self, where: Proc) -> None:
        self._proc = where

    @property
    def recording(self) -> Recording:
        """Where it records; set by pileup. Raises PluginError for a monitor without `records`."""
        found: Recording | None = getattr(self, "_recording", None)
        if found is None:
            hint = "pileup.plugin.testing.MonitorRecord takes them in a unit test"
            raise PluginError(f"{type(self).__name__} records operations", "`records = True` in its class", hint)
        return found

    @recording.setter
    def recording(self, where: Recording) -> None:
        self._recording = where

    def close(self) -> None:
        """Release what `open` acquired."""
