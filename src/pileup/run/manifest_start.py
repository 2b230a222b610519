"""The head of the record: the suite, versions and the machine."""

from __future__ import annotations

import os
import platform
import socket
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil

from pileup._core import _native
from pileup.model import check as checks
from pileup.model.criterion import CriterionSpec
from pileup.model.loads.find import Find
from pileup.model.loads.hold import Hold
from pileup.model.manifest import (
    CaseEntry,
    CriterionEntry,
    FindEntry,
    HoldEntry,
    Host,
    Manifest,
    MonitorEntry,
    ReplayEntry,
    Session,
    SuiteSource,
)
from pileup.model.plan import Case, Plan
from pileup.model.suite import MonitorSpec, Suite
from pileup.model.words import load_words
from pileup.run.relays.relays import added
from pileup.run.system_clock import clock_error
from pileup.suite import instances

LONGEST = 2**63
LIBRARIES = ("numpy", "duckdb", "pydantic", "altair")


def first_manifest(plan: Plan, started: int) -> Manifest:
    """Return run.json as it is when a run begins (docs/record.md); `started` in ns since the epoch."""
    suite, totals = plan.suite, plan.totals()
    return Manifest(
        title=suite.title,
        about=suite.about,
        labels=suite.labels,
        seed=suite.seed,
        started=started,
        sessions=(Session(started),),
        suite=SuiteSource(plan.source, plan.folder, plan.text, plan.digest, plan.values),
        versions=versions(),
        hosts=(host(),),
        scan={axis: tuple(dict.fromkeys(point[axis] for point in plan.points)) for axis in suite.scan},
        points=plan.points,
        together=plan.together,
        repeat=suite.repeat,
        loop=suite.loop,
        cases=tuple(_case(case, suite) for case in plan.cases),
        monitors=tuple(_monitor(spec, Path(plan.folder)) for spec in suite.monitors),
        equivalent=tuple(map(tuple, suite.equivalent)),
        criteria=tuple(_criterion(criterion, suite.confidence) for criterion in suite.criteria),
        expected=min(totals.expected, LONGEST),
        longest=min(totals.longest, LONGEST),
        not_covered=plan.uncovered,
        debug_build=_native.DEBUG,
    )


def _criterion(spec: CriterionSpec, confidence: str) -> CriterionEntry:
    return CriterionEntry(
        spec.id,
        spec.says,
        checks.parse(spec.check) if spec.check else None,
        spec.coverage,
        spec.remark,
        spec.at,
        spec.confidence or confidence,
        spec.at_least or 0,
        spec.during,
    )


def _case(case: Case, suite: Suite) -> CaseEntry:
    test, load = case.test, case.load
    return CaseEntry(
        id=case.id,
        name=case.name,
        test=test.name,
        use=test.use,
        target=test.target or "",
        targets=test.targets,
        latency=dict(added(case, suite)),
        load=load_words(load, test.places),
        load_kind=load.kind,
        rate=case.asked,
        clients=load.clients,
        for_=load.for_,
        times=load.times,
        spans=load.spans,
        pacing=load.pacing,
        levels=load.levels,
        find=None if load.find is None else _find(load.find),
        hold=None if load.hold is None or load.find is not None else _hold(load.hold),
        replay=_replay(case),
        point=case.point,
        repeat=case.repeat,
        loop=case.loop,
        visit=case.visit,
        role=case.role,
        scope=test.scope,
        after=case.after,
        timeout=test.timeout,
        fail_when=test.fail_when,
        expected=case.expected,
        longest=case.longest,
    )


def _find(find: Find) -> FindEntry:
    return FindEntry(find.raise_, find.while_, find.between, find.not_passed, find.within, find.trial, find.settle)


def _hold(hold: Hold) -> HoldEntry:
    """Return what is said of a load that holds something, in base units."""
    return HoldEntry(
        hold.metric,
        hold.check.dimension,
        hold.set_point,
        hold.half,
        hold.by,
        hold.between,
        hold.settle,
        hold.every,
    )


def _replay(case: Case) -> ReplayEntry | None:
    """Return what is said of a load that replays a record; its digest comes when it is pressed."""
    if case.replay is None or case.load.replay is None:
        return None
    found = case.replay
    return ReplayEntry(found.source, found.case, case.load.replay.speed, found.recorded, found.count, found.last)


def _monitor(spec: MonitorSpec, folder: Path) -> MonitorEntry:
    kind = instances.class_of_monitor(spec.use, folder)
    where = (spec.host or "", spec.watches or "")
    return MonitorEntry(spec.name or spec.use, spec.use, spec.every, *where, kind.records, kind.resolution)


def versions() -> dict[str, str]:
    """Return the versions that matter for a figure: pileup, its engine, Python, the libraries behind the record."""
    found = {"pileup": _native.VERSION, "engine source": _native.SOURCE_HASH[:12], "python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def host() -> Host:
    """Return what this machine is: name, system, CPUs, memory in bytes, limits that a load meets first."""
    return Host(
        name=socket.gethostname(),
        system=_system(),
        kernel=platform.release(),
        machine=platform.machine(),
        cpu=_cpu_model(),
        cpus=os.cpu_count() or 0,
        memory=psutil.virtual_memory().total,
        open_files=psutil.Process().rlimit(psutil.RLIMIT_NOFILE)[0],
        congestion_control=_read("/proc/sys/net/ipv4/tcp_congestion_control"),
        load1=os.getloadavg()[0],
        clock_error=clock_error(),
    )


def _system() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    except OSError:
        return platform.system()


def _cpu_model() -> str:
    for line in _read("/proc/cpuinfo").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return platform.processor()


def _read(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""
