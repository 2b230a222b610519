"""Settings of targets: changed between the points of a scan, with nothing under way, and restored at the end.

A server that pileup launched is started again with other launch settings, at the same address. One that is there is
changed by commands of the suite (SettingSpec) or by its kind (`Target.change`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pileup.model.errors import TargetError
from pileup.model.plan import Plan
from pileup.record import RunFolder
from pileup.run.servers import Supervisor
from pileup.run.targets import Targets
from pileup.suite import instances


class Settings:
    """What the targets of a run are set to."""

    def __init__(self, plan: Plan, folder: RunFolder, targets: Targets, supervisor: Supervisor) -> None:
        self._plan = plan
        self._folder = folder
        self._targets = targets
        self._supervisor = supervisor

    def change(self, target: str, values: dict[str, Any]) -> None:
        """Bring a target to these settings and wait until it is healthy. Raises PileupError."""
        spec = self._plan.suite.targets[target]
        cls = instances.class_of_target(spec.kind, Path(self._plan.folder))
        launcher = cls.launcher({**(spec.launch or {}), **values}, self._folder.path / "servers" / target)
        if launcher is None:
            raise TargetError(f"target {target} cannot be launched", "a kind that pileup can start")
        self._supervisor.restart(target, launcher)

    def restore_all(self) -> None:
        """Set what was changed to what it was before."""
