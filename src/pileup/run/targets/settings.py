"""Settings of targets: changed between the points of a scan, with nothing under way, and restored at the end.

A server that pileup launched is started again with other launch settings, at the same address. An existing one is
changed by commands of the suite (SettingSpec) or by its kind (`Target.change`), which may change a launched one, too.
Before the first change of a setting that must be restored the journal holds its value: a crash is cleaned up by `undo`.
"""

from __future__ import annotations

import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from pileup._core._native import now
from pileup.model.errors import PileupError, RecordError, TargetError
from pileup.model.plan import Plan
from pileup.model.units import format_time
from pileup.plugin import Target
from pileup.record import RunFolder
from pileup.run.servers.supervisor import Supervisor
from pileup.run.targets.asking import asked, probe
from pileup.run.targets.opening import Targets
from pileup.run.targets.setting_changers import NAP, Changer, changer_of, text_of
from pileup.suite import instances
from pileup.suite.scan import of_path

HEALTHY_WITHIN = 60 * 10**9
"""Time in which a target that pileup started again must answer its kind's probe, ns."""
Key = tuple[str, str]
"""Target and setting."""


class Settings:
    """What the targets of a run are set to."""

    def __init__(self, plan: Plan, folder: RunFolder, targets: Targets, supervisor: Supervisor) -> None:
        self._plan = plan
        self._folder = folder
        self._targets = targets
        self._supervisor = supervisor
        self._launched: dict[str, dict[str, str]] = {}
        """Target -> launch settings of the server that runs, as texts; {} after a start that failed."""
        self._in_force: dict[Key, str] = {}
        self._before: dict[Key, tuple[int, str | None]] = {}
        """Entry of the journal, and the value to restore (None: never)."""

    def change(self, target: str, values: dict[str, object]) -> None:
        """Bring a target to these settings and wait until it is healthy.

        What it has already stays untouched. Raises PileupError when a value cannot be set, or the target does not
        become healthy with it; the next call begins afresh.
        """
        if problem := self._targets.problem(target):
            raise TargetError(problem)
        path = {word: value for name, value in values.items() if (word := of_path(name))}
        by_launch = self._by_launch(target, {name: value for name, value in values.items() if not of_path(name)})
        if by_launch:
            self._relaunch(target, by_launch)
        if path:
            self._targets.relays.change(target, path)
        for name, value in values.items():
            if name not in by_launch and not of_path(name):
                self._change_one(target, name, text_of(value))

    def _by_launch(self, target: str, values: dict[str, object]) -> dict[str, object]:
        """Return those that only another start of the server brings about: it was launched, and its kind cannot."""
        spec = self._plan.suite.targets[target]
        if spec.launch is None:
            return {}
        own = instances.settings_of(spec, Path(self._plan.folder))
        return {name: value for name, value in values.items() if name not in own}

    def restore_all(self) -> None:
        """Set what was changed to what it was before, the last one first. Raises TargetError for what could not be.

        Launched servers are left as they are: they end.
        """
        problems = [self._restore(*key) for key in reversed(list(self._before))]
        self._before.clear()
        if told := "; ".join(problem for problem in problems if problem):
            raise TargetError(told, "targets as they were before the run", "set them by hand")

    def _relaunch(self, target: str, values: dict[str, object]) -> None:
        launch = self._plan.suite.targets[target].launch or {}
        wanted = {**launch, **values}
        texts = {name: text_of(value) for name, value in wanted.items()}
        known = self._launched.setdefault(target, {name: text_of(value) for name, value in launch.items()})
        if texts == known and self._supervisor.alive(target):
            return
        self._launched[target] = {}
        told = {name: text_of(value) for name, value in values.items()}
        entry = self._folder.journal("launch settings", "begun", target=target, values=told)
        begin = now()
        try:
            self._start_again(target, values)
        except BaseException as problem:
            self._close("launch settings", "failed", of=entry, problem=str(problem))
            raise
        self._launched[target] = texts
        self._close("launch settings", "changed", of=entry)
        for name, text in told.items():
            if text != known.get(name):
                self._tell(target, name, text, begin)

    def _start_again(self, target: str, values: dict[str, object]) -> None:
        folder = self._folder.path / "servers" / target
        with asked(target, "launcher", "settings that it takes"):
            launcher = instances.make_launcher(self._plan, target, folder, **values)
        url = self._supervisor.restart(target, launcher)
        self._await_healthy(self._targets.renew(target, url), target, HEALTHY_WITHIN)

    def _change_one(self, target: str, name: str, text: str) -> None:
        key = (target, name)
        if self._in_force.get(key) == text:
            return
        changer = self._changer(target, name)
        self._in_force.pop(key, None)
        if key not in self._before and self._plan.suite.targets[target].launch is None:
            self._before[key] = self._note_before(changer, target, name, text)
        begin = now()
        changer.set(text)
        self._await_healthy(self._targets.open_target(target), target, changer.within)
        self._in_force[key] = text
        self._tell(target, name, text, begin)

    def _note_before(self, changer: Changer, target: str, name: str, text: str) -> tuple[int, str | None]:
        before = changer.before()
        entry = self._folder.journal("setting", "changed", target=target, setting=name, value=text, before=before)
        return entry, before

    def _restore(self, target: str, name: str) -> str:
        """Restore one setting; return what went wrong."""
        entry, before = self._before[target, name]
        if before is None:
            self._close("setting", "kept", of=entry)
            return ""
        begin = now()
        try:
            self._changer(target, name).set(before)
        except PileupError as problem:
            return f"{name} of target {target} was {before} and could not be restored: {problem}"
        self._close("setting", "restored", of=entry)
        self._tell(target, name, before, begin, restored=True)
        return ""

    def _changer(self, target: str, name: str) -> Changer:
        return changer_of(self._plan, self._targets.open_target(target), target, name)

    def _tell(self, target: str, name: str, text: str, begin: int, restored: bool = False) -> None:
        told = f"{target}.{name} is {text}" + (" again" if restored else "")
        with suppress(RecordError):
            self._folder.event("setting", told, target=target, setting=name, value=text, begin=begin, end=now())

    def _close(self, what: str, state: str, **fields: Any) -> None:
        with suppress(RecordError):  # of a full disk: `undo` finds nothing left to do, which does no harm
            self._folder.journal(what, state, **fields)

    def _await_healthy(self, target: Target, name: str, within: int) -> None:
        deadline = time.monotonic() + within / 1e9
        while True:
            try:
                self._targets.caller.call(partial(probe, name, target))
            except PileupError as problem:
                if time.monotonic() > deadline:
                    told = f"target {name} is not healthy {format_time(within)} after its settings were changed"
                    raise TargetError(f"{told}: {problem}", "one that answers") from problem
                time.sleep(NAP)
            else:
                return
