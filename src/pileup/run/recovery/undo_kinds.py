"""How each kind of open intent is cleaned up."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from pathlib import Path
from typing import Protocol

from pileup.model.errors import TargetError
from pileup.model.manifest import Manifest
from pileup.model.plan import Plan
from pileup.model.program import Program
from pileup.model.record import CaseOutcome
from pileup.plugin import FileTarget, Target
from pileup.plugin.catalogue import CatalogueTarget
from pileup.record import RunFolder
from pileup.run.recovery.delegations import UndoDelegations
from pileup.run.recovery.intents import Intent, open_intents
from pileup.run.recovery.jobs import UndoJobs
from pileup.run.recovery.objects import remove
from pileup.run.recovery.ownership import Trust
from pileup.run.recovery.reload import reload
from pileup.run.recovery.requests import REQUESTS, UndoRequests
from pileup.run.safety.kept_sets import deleting, left_alone
from pileup.run.safety.leaving import LEFT, end_ground, end_names
from pileup.run.safety.own_folders import GROUND, OWN, keeps, keeps_names
from pileup.run.safety.set_contents import ours, remove_folders
from pileup.run.servers import disks, processes, scratch
from pileup.run.servers.processes import Identity
from pileup.run.targets.setting_changers import changer_of
from pileup.suite import instances

GRACE = 5.0
"""Seconds that a server gets to end."""
ON_TARGETS = frozenset({"objects", OWN, GROUND, "jobs", "delegations"})
"""Kinds that stay on targets until their removal is requested, since they may be needed."""
ON_ASKING = frozenset({"setting", REQUESTS})
"""Kinds that nobody needs any more, but whose plug-ins are executed."""


class UndoReach(IntEnum):
    """How far cleaning up goes."""

    OWN = 0
    """What pileup has made and knows how to undo by itself."""
    SETTINGS = 1
    """Also what the suite says how to undo: its commands and plug-ins are executed. Stage requests, too."""
    ALL = 2
    """Also what stays on targets."""


def reach_of(what: str) -> UndoReach:
    """Return the reach that cleaning up a kind of intent needs."""
    if what in ON_TARGETS:
        return UndoReach.ALL
    return UndoReach.SETTINGS if what in ON_ASKING else UndoReach.OWN


@dataclass
class Context:
    """What kinds share: the run, and its plan when one needs it."""

    folder: RunFolder
    given: dict[str, str]
    trust: Trust
    tell: Callable[[str], None] = lambda line: None
    """Called with what will be executed from the suite, before it is."""
    _targets: dict[str, Target] = field(default_factory=dict)

    @cached_property
    def run(self) -> Manifest:
        """run.json."""
        return self.folder.manifest()

    @cached_property
    def plan(self) -> Plan:
        """The plan. Raises UsageError or SuiteError when the suite is not there any more as it was."""
        self.trust.check(self.folder, "nothing of its suite is executed")
        return reload(self.run, self.given, self.trust, records=False, tell=self.tell)

    def private(self, name: str) -> bool:
        """Whether a target went with the run: its server, or the folder that it was."""
        entry = next((target for target in self.run.targets if target.name == name), None)
        if entry is None or entry.private is None:
            return self.plan.suite.targets[name].url is None
        return entry.private

    def target(self, name: str) -> Target:
        """Return a target that was there before the run."""
        if name not in self._targets:
            self._targets[name] = instances.make_target(self.plan, name, self.plan.suite.targets[name].url or "")
        return self._targets[name]

    def outcome(self, case: str) -> CaseOutcome | None:
        """Return how a case ended."""
        return next((entry.outcome for entry in self.run.cases if entry.name == case), None)


class UndoKind(Protocol):
    """Cleans up one kind of intent."""

    failed: str
    """State of the journal when it could not be done; empty: nothing is noted."""

    def needed(self, intent: Intent, context: Context) -> bool:
        """Whether something is left to do or to report."""

    def told(self, intent: Intent, context: Context) -> str:
        """Return what is done, in words."""

    def mend(self, intent: Intent, context: Context) -> str | None:
        """Do it; return what stays for a person to remove, if anything does. Raises PileupError."""

    def state(self, intent: Intent, context: Context) -> str:
        """Return the state that closes it."""


class UndoServer:
    """Ends the processes of a launched server, and all that they have started."""

    failed = ""

    def needed(self, intent: Intent, context: Context) -> bool:
        """Look for them; those of another host cannot be seen."""
        leader = _leader(intent, context)
        return _elsewhere(intent) or bool((leader and leader.alive) or processes.marked(_mark(intent)))

    def told(self, intent: Intent, context: Context) -> str:
        """Name it with its pid."""
        entry = intent.entry
        pid = f" (pid {entry.pid})" if "pid" in entry.given else ""
        return f"the {entry.process or 'command'} of target {entry.target}{pid} is ended"

    def mend(self, intent: Intent, context: Context) -> None:
        """End the leader's session, then whatever has the mark."""
        _refuse_elsewhere(intent)
        leader = _leader(intent, context)
        if leader is not None:
            processes.end_leader(leader, _mark(intent), signal.SIGTERM, GRACE)
        processes.kill_marked(_mark(intent))

    def state(self, intent: Intent, context: Context) -> str:
        """It has ended."""
        return "ended"


class UndoFault(UndoServer):
    """Ends the command of a fault that was under way."""

    def needed(self, intent: Intent, context: Context) -> bool:
        """Look for it; faults of launched servers are undone with those."""
        return intent.entry.do == "command" and super().needed(intent, context)

    def told(self, intent: Intent, context: Context) -> str:
        """Say which load it broke."""
        return f"the command of a fault in the load of {intent.entry.test} is ended"


class UndoPause:
    """Lets a paused server go on."""

    failed = ""

    def needed(self, intent: Intent, context: Context) -> bool:
        """Look whether it is there."""
        leader = _leader(intent, context)
        return _elsewhere(intent) or bool(leader and processes.session(leader, _mark(intent)))

    def told(self, intent: Intent, context: Context) -> str:
        """Name it."""
        return f"the paused {intent.entry.process} of target {intent.entry.target} goes on"

    def mend(self, intent: Intent, context: Context) -> None:
        """Continue all of its session."""
        _refuse_elsewhere(intent)
        leader = _leader(intent, context)
        if leader is not None:
            processes.send(processes.session(leader, _mark(intent)), signal.SIGCONT)

    def state(self, intent: Intent, context: Context) -> str:
        """The pause has ended."""
        return "ended"


class UndoScratch:
    """Removes a folder for temporary files."""

    failed = ""

    def needed(self, intent: Intent, context: Context) -> bool:
        """Look whether it is there."""
        return _elsewhere(intent) or Path(intent.entry.path).exists()

    def told(self, intent: Intent, context: Context) -> str:
        """Name it."""
        whose = f"of target {intent.entry.target}" if intent.entry.target else "of this run"
        return f"the folder {intent.entry.path} {whose} is removed"

    def mend(self, intent: Intent, context: Context) -> None:
        """Remove it, if its name says that this run has made it: a journal may have been changed."""
        _refuse_elsewhere(intent)
        scratch.remove(Path(intent.entry.path), context.folder.nonce)

    def state(self, intent: Intent, context: Context) -> str:
        """It is removed."""
        return "removed"


class UndoDisk:
    """Unmounts the small disk of a server."""

    failed = ""

    def needed(self, intent: Intent, context: Context) -> bool:
        """Look whether it is there."""
        return _elsewhere(intent) or disks.mounted(Path(intent.entry.path))

    def told(self, intent: Intent, context: Context) -> str:
        """Name it."""
        return f"the disk {intent.entry.path} of target {intent.entry.target} is unmounted"

    def mend(self, intent: Intent, context: Context) -> None:
        """Unmount it, if it is one of this run's."""
        _refuse_elsewhere(intent)
        path = Path(intent.entry.path)
        inside = ".." not in path.parts and path.is_relative_to(context.folder.path)
        if not inside and not scratch.is_of(path, context.folder.nonce):
            raise TargetError(f"{path} is not a disk of this run", "one in a folder that the run has made")
        disks.unmount(path)

    def state(self, intent: Intent, context: Context) -> str:
        """It is removed."""
        return "removed"


class UndoSetting:
    """Sets a setting back."""

    failed = ""

    def needed(self, intent: Intent, context: Context) -> bool:
        """Those that are never restored need nothing."""
        return intent.entry.before is not None

    def told(self, intent: Intent, context: Context) -> str:
        """Name the value."""
        entry = intent.entry
        return f"the setting {entry.setting} of target {entry.target} is set back to {entry.before}"

    def mend(self, intent: Intent, context: Context) -> None:
        """Set it as the suite, or the kind of target, says."""
        entry = intent.entry
        name = entry.target
        if entry.before is None:
            return
        changer = changer_of(context.plan, context.target(name), name, entry.setting)
        context.tell(f"executes {changer.words(entry.before)}")
        changer.set(entry.before)

    def state(self, intent: Intent, context: Context) -> str:
        """It is restored, or kept as it is."""
        return "restored" if intent.entry.before is not None else "kept"


class UndoObjects:
    """Removes what a case has made on a target, unless the suite keeps it."""

    failed = "left"

    def needed(self, intent: Intent, context: Context) -> bool:
        """What was on a private server or folder went with it."""
        return not context.private(intent.entry.target or "")

    def told(self, intent: Intent, context: Context) -> str:
        """Name the case, and why it is kept when it is."""
        entry = intent.entry
        what = f"what {entry.case} has made on target {entry.target}"
        if wanted(intent, context):
            return f"{what} is removed"
        return f"{what} is kept: its clean-up is `{entry.cleanup}`"

    def mend(self, intent: Intent, context: Context) -> None:
        """Remove each object by its name."""
        entry = intent.entry
        if not wanted(intent, context):
            return
        plan, name = context.plan, entry.target
        timeout = next(case.test.timeout for case in plan.cases if case.name == entry.case)
        target = context.target(name)
        if entry.own is False and isinstance(target, FileTarget):
            found = ours(context.folder, target, entry, later=True)
            problem = remove(plan, name, target, deleting(found.names), timeout) if found.names else ""
            problems = [problem, remove_folders(target, found.folders), left_alone(found.others)]
        else:
            problems = [remove(plan, name, target, entry.remove or Program(()), timeout)]
        if any(problems):
            raise TargetError("; ".join(filter(None, problems)))

    def state(self, intent: Intent, context: Context) -> str:
        """It is removed or kept."""
        gone = context.private(intent.entry.target or "")
        return "removed" if gone or wanted(intent, context) else "kept"


def wanted(intent: Intent, context: Context) -> bool:
    """Whether the suite wants removed what a case has made."""
    cleanup = intent.entry.cleanup
    return cleanup == "always" or (cleanup == "passed" and context.outcome(intent.entry.case) is CaseOutcome.PASSED)


class UndoGround:
    """Cleans up a folder that the run worked in: removes the run's own, and the marker of any other."""

    failed = "left"

    def needed(self, intent: Intent, context: Context) -> bool:
        """What was on a private server or folder went with it."""
        return not context.private(intent.entry.target)

    def told(self, intent: Intent, context: Context) -> str:
        """Name it, and why it is kept when it is."""
        entry = intent.entry
        if _is_catalogue(context, entry.target):
            what = f"what begins with {entry.folder} on target {entry.target}"
            return f"{what} is kept: the suite keeps it" if self._kept(intent, context) else f"{what} is removed"
        what = f"the folder /{entry.folder} on target {entry.target}"
        if intent.what == GROUND:
            return f"{what} is free again"
        return f"{what} is kept: the suite keeps what is in it" if _keeps(context) else f"{what} is removed"

    def mend(self, intent: Intent, context: Context) -> str:
        """Remove what is the run's in it."""
        entry, target = intent.entry, context.target(intent.entry.target)
        if isinstance(target, CatalogueTarget):
            state, problem = end_names(target, entry.folder, kept=self._kept(intent, context))
            if state == LEFT:
                raise TargetError(problem)
            return ""
        if not isinstance(target, FileTarget):
            raise TargetError(f"target {entry.target} keeps no files now", "the kind that it was")
        own = intent.what == OWN
        marker = entry.marker.encode()
        kept = own and _keeps(context)
        state, problem = end_ground(target, entry.folder, marker, entry.levels, own=own, kept=kept)
        if state == LEFT:
            raise TargetError(problem)
        return problem

    def state(self, intent: Intent, context: Context) -> str:
        """It is removed, or kept."""
        return "kept" if intent.what == OWN and self._kept(intent, context) else "removed"

    def _kept(self, intent: Intent, context: Context) -> bool:
        name = intent.entry.target
        return keeps_names(context.plan, name) if _is_catalogue(context, name) else _keeps(context)


def _is_catalogue(context: Context, name: str) -> bool:
    spec = context.plan.suite.targets[name]
    return issubclass(instances.class_of_target(spec.kind, Path(context.plan.folder)), CatalogueTarget)


def _keeps(context: Context) -> bool:
    """Whether something in the run's own folder stays, by what was done or by what is going to be."""
    open_ = [each for each in open_intents(context.folder) if each.what == "objects" and each.entry.own]
    return keeps(context.folder) or any(not wanted(each, context) for each in open_)


class TellBegun:
    """Reports what a test has begun once for its run, and not ended: only its `end_run` knows what that is."""

    failed = ""

    def needed(self, intent: Intent, context: Context) -> bool:
        """It is reported once."""
        return True

    def told(self, intent: Intent, context: Context) -> str:
        """Name the test."""
        return f"end_run() of test {intent.entry.test} was not called: what its begin_run() has made may still be there"

    def mend(self, intent: Intent, context: Context) -> None:
        """Do nothing: it is for a person to look."""

    def state(self, intent: Intent, context: Context) -> str:
        """It was reported."""
        return "told"


UNDO_KINDS: dict[str, UndoKind] = {
    "server": UndoServer(),
    "fault": UndoFault(),
    "pause": UndoPause(),
    "scratch": UndoScratch(),
    "disk": UndoDisk(),
    "setting": UndoSetting(),
    "objects": UndoObjects(),
    OWN: UndoGround(),
    GROUND: UndoGround(),
    "jobs": UndoJobs(),
    "delegations": UndoDelegations(),
    REQUESTS: UndoRequests(),
    "begin_run": TellBegun(),
}


def _mark(intent: Intent) -> str:
    return intent.entry.mark


def _leader(intent: Intent, context: Context) -> Identity | None:
    """Return who leads, if it is surely the one that the run has started: number, tick, boot, namespace and mark."""
    entry = intent.entry
    if not entry.given >= {"pid", "ticks", "boot", "namespace"}:
        return None
    leader = Identity(entry.pid, entry.ticks, entry.boot, entry.namespace)
    log = context.folder.server_log(entry.target, entry.process)
    return leader if leader.known and processes.bears(leader.pid, _mark(intent), log) else None


def _elsewhere(intent: Intent) -> bool:
    return intent.host != socket.gethostname() or intent.namespace not in (0, processes.namespace())


def _refuse_elsewhere(intent: Intent) -> None:
    if intent.host != socket.gethostname():
        raise TargetError(f"it is on host {intent.host}, this is {socket.gethostname()}", "`pileup clean` there")
    if _elsewhere(intent):
        raise TargetError("it is in another container of this host", "`pileup clean` in that one, while it is there")
