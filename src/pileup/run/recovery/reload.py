"""The plan of a run that is there, from its suite, when that is what the run began with.

A suite is code: its plug-ins are imported when it is loaded. So nothing of it is loaded before its bytes, and those of
its plug-ins, are found to be what the run began with.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path

from pileup.model.errors import UsageError
from pileup.model.hidden import HIDDEN
from pileup.model.manifest import Manifest, ReplayEntry, SuiteSource
from pileup.model.plan import Plan
from pileup.model.suite import Suite
from pileup.run.recovery.ownership import Trust
from pileup.suite import digest_of, load

CHANGED = "`pileup run` it again"


def reload(
    run: Manifest,
    given: Mapping[str, str],
    trust: Trust,
    records: bool = True,
    tell: Callable[[str], None] = lambda line: None,
) -> Plan:
    """Return the plan that run.json reports on. `given` are values of the suite that the record hides.

    Without `records` the records that its loads replay are not read: such a plan must not be run. `tell` is called with
    what will be executed, before it is. Raises UsageError when a secret is missing or the suite or a plug-in of it has
    changed, SuiteError when it cannot be read.
    """
    told = _told(run)
    values = {name: value for name, value in told.values.items() if value != HIDDEN} | dict(given)
    hidden = sorted(set(told.values) - set(values))
    if hidden:
        names = " ".join(f"--set {name}=…" for name in hidden)
        raise UsageError(f"the record does not keep secrets: {', '.join(hidden)}", names, "give the same as before")
    source = Path(told.folder) / Path(told.source).name
    wanted = {told.digest, trust.entry.digest if trust.entry else told.digest}
    if wanted != {digest_of(source, values)}:
        raise UsageError(f"{source} has changed since this run began", "the same suite and values", CHANGED)
    plugins = trust.entry.plugins if trust.entry else {}
    for name, digest in plugins.items():
        if _sum(Path(name)) != digest:
            raise UsageError(
                f"{name}, a plug-in of {source}, has changed since this run began", "the same file", CHANGED
            )
    tell(f"loads the suite {source}" + "".join(f", executes {name}" for name in plugins))
    plan = load(source, values, records, servers=not run.simulated)
    if records:
        _check_replays(run, plan)
    return plan


def _told(run: Manifest) -> SuiteSource:
    """Return what run.json reports on the suite. Raises UsageError when it is not what pileup writes."""
    told = run.suite
    if not (told.folder and told.source) or any("\0" in name for name in (told.folder, told.source, told.digest)):
        raise UsageError("run.json does not contain its suite", "`suite` as pileup writes it", "`pileup verify` it")
    return told


def plugin_sums(suite: Suite, folder: Path) -> dict[str, str]:
    """Return file -> SHA-256 of the plug-ins that a suite names by a file."""
    named = [each.use for each in suite.tests] + [each.use for each in suite.monitors]
    named += [each.kind for each in suite.targets.values()]
    files = {str((folder / name.rpartition(":")[0]).resolve()) for name in named if ".py:" in name}
    return {name: _sum(Path(name)) for name in sorted(files)}


def _sum(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def _check_replays(run: Manifest, plan: Plan) -> None:
    """Raise UsageError when a record that a load replays has other starts than the run began with."""
    told = {case.id: case.replay for case in run.cases}
    for case in plan.cases:
        before = told.get(case.id) or ReplayEntry()
        if case.replay and (before.recorded, before.last) != (case.replay.recorded, case.replay.last):
            what = f"{case.replay.source}, which {case.name} replays, has changed since this run began"
            raise UsageError(what, "the same record", "`pileup run` the suite again")
