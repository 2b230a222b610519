"""How one setting of a server that pileup did not launch is changed: by commands of the suite, or by its kind."""

from __future__ import annotations

import shlex
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from pileup.model.errors import PileupError, TargetError
from pileup.model.plan import Plan
from pileup.model.suite import SettingSpec
from pileup.model.units import format_time
from pileup.plugin import Target
from pileup.run.servers import commands
from pileup.suite import instances
from pileup.suite.scan import text_of

__all__ = ["NAP", "Changer", "changer_of", "text_of"]

NAP = 0.1
"""Seconds between two looks whether something is in force."""
KIND_WITHIN = 60 * 10**9
"""Time in which a target that its kind has changed must be healthy, ns."""


class Changer(Protocol):
    """Changes one setting of one target."""

    @property
    def within(self) -> int:
        """Time in which a value must be in force, ns."""

    def before(self) -> str | None:
        """Return the value to restore; None when it must not be restored. Raises PileupError."""

    def set(self, value: str) -> None:
        """Set it and wait until it is in force. Raises PileupError."""

    def words(self, value: str) -> str:
        """Return in words what `set` would execute."""


@dataclass(frozen=True, slots=True)
class ByCommand:
    """Runs the commands of a SettingSpec, in the folder of the suite."""

    spec: SettingSpec
    whose: str
    """The setting and its target, for messages."""
    words_: dict[str, str]
    """The values of words in braces, except {value}."""
    folder: Path

    @property
    def within(self) -> int:
        """Time that each command may take, and all looks together, ns."""
        return self.spec.within

    def before(self) -> str | None:
        """Ask for the current value, or take that of the suite."""
        if self.spec.restore == "never":
            return None
        if self.spec.get is None:
            return self.spec.default
        done = self._run(self.spec.get, {}, self.within)
        value = done.output.strip()
        if done.good and value:
            return value
        if self.spec.default is not None:
            return self.spec.default
        raise TargetError(f"the value of {self.whose} cannot be read: `get` {done.told()}", "the value, on its stdout")

    def set(self, value: str) -> None:
        """Run `set`, then `ready` until the value is in force."""
        deadline = time.monotonic() + self.within / 1e9
        done = self._run(self.spec.set_, {"value": value}, self.within)
        if not done.good:
            raise TargetError(f"{self.whose} cannot be set to {value}: the command {done.told()}", "code 0")
        if self.spec.ready is None:
            return
        while not self._in_force(done := self._run(self.spec.ready, {"value": value}, self.within), value):
            if time.monotonic() > deadline:
                raise TargetError(
                    f"{self.whose} was set to {value}, and `ready` {done.told()}",
                    f"the value in force within {format_time(self.within)}",
                )
            time.sleep(NAP)

    def words(self, value: str) -> str:
        """Return the command."""
        return shlex.join(commands.words_of(self.spec.set_, {**self.words_, "value": value}))

    def _in_force(self, done: commands.Finished, value: str) -> bool:
        asked = "{value}" in (self.spec.ready or "")
        return done.good and (not asked or not done.output.strip() or value in done.output)

    def _run(self, text: str, more: dict[str, str], within: int) -> commands.Finished:
        return commands.run(commands.words_of(text, {**self.words_, **more}), within, folder=self.folder, whole=True)


@dataclass(frozen=True, slots=True)
class ByKind:
    """Asks the target itself."""

    target: Target
    name: str
    whose: str
    within: int = KIND_WITHIN

    def before(self) -> str | None:
        """Ask for the current value."""
        found = self._said(self.target.setting)
        return None if found is None else str(found)

    def set(self, value: str) -> None:
        """Let the kind change it."""
        self._said(self.target.change, value)

    def words(self, value: str) -> str:
        """Return what the target is asked for."""
        return f"what its kind does to set {self.whose} to {value}"

    def _said(self, act: Any, *arguments: str) -> Any:
        try:
            return act(self.name, *arguments)
        except PileupError:
            raise
        except Exception as problem:  # the code of a plug-in: whatever it raises is its answer
            raise TargetError(f"{self.whose}: {type(problem).__name__}: {problem}", "a setting that works") from problem


def changer_of(plan: Plan, target: Target, name: str, setting: str) -> Changer:
    """Return how a setting of the target of that name is changed. Raises TargetError when nothing says how."""
    spec = plan.suite.targets[name].settings.get(setting)
    whose = f"{setting} of target {name}"
    if spec is not None:
        return ByCommand(spec, whose, _words(target.url, name), Path(plan.folder))
    if setting in instances.settings_of(plan.suite.targets[name], Path(plan.folder)):
        return ByKind(target, setting, whose)
    raise TargetError(f"nothing says how to change {whose}", "`settings` of the target in the suite, or `launch`")


def _words(url: str, name: str) -> dict[str, str]:
    parts = urlsplit(url)
    try:
        port = str(parts.port or "")
    except ValueError:
        port = ""
    return {"url": url, "host": parts.hostname or "", "port": port, "target": name}
