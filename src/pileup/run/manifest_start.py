"""The head of the record: what is run, by which versions, on which machine."""

from __future__ import annotations

import os
import platform
import socket
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import psutil

from pileup._core import _native
from pileup.model.criterion import CriterionSpec
from pileup.model.plan import Case, Plan
from pileup.model.suite import Load, Suite
from pileup.model.words import load_words

FORMAT = 1
LONGEST = 2**63
CRITERION = {"id", "says", "check", "coverage", "remark", "at"}
LIBRARIES = ("numpy", "duckdb", "pydantic", "altair")


def first_info(plan: Plan, started: int) -> dict[str, Any]:
    """Return run.json as it stands when a run begins (docs/record.md); `started` in ns since the epoch."""
    suite = plan.suite
    return {
        "format": FORMAT,
        "title": suite.title,
        "about": suite.about,
        "labels": suite.labels,
        "seed": suite.seed,
        "state": "running",
        "started": started,
        "ended": None,
        "sessions": [{"started": started, "ended": None}],
        "suite": {
            "source": plan.source,
            "folder": plan.folder,
            "text": plan.text,
            "digest": plan.digest,
            "values": plan.values,
        },
        "versions": versions(),
        "hosts": [host()],
        "targets": [],
        "places": [],
        "void": [],
        "scan": {axis: list(dict.fromkeys(point[axis] for point in plan.points)) for axis in suite.scan},
        "points": list(plan.points),
        "repeat": suite.repeat,
        "loop": suite.loop,
        "cases": [_case(case) for case in plan.cases],
        "monitors": _monitors(suite),
        "equivalent": [list(names) for names in suite.equivalent],
        "criteria": [_criterion(criterion, suite.confidence) for criterion in suite.criteria],
        "longest": min(plan.totals()["longest"], suite.limits.duration or LONGEST),
        "not_covered": [each.told() for each in plan.uncovered],
        "fault_problems": [],
        "stopped": "",
        "exit_code": None,
        "verdict": None,
        "debug_build": _native.DEBUG,
        "overhead": {},
        "results": None,
    }


def _criterion(criterion: CriterionSpec, confidence: str) -> dict[str, Any]:
    told: dict[str, Any] = criterion.model_dump(include=CRITERION)
    return told | {"confidence": criterion.confidence or confidence}


def _case(case: Case) -> dict[str, Any]:
    return {
        "id": case.id,
        "name": case.name,
        "test": case.test.name,
        "use": case.test.use,
        "target": case.test.target or "",
        "load": load_words(case.load),
        "load_kind": case.load.kind,
        "rate": case.asked,
        "clients": case.load.clients,
        "for": case.load.for_,
        "times": case.load.times,
        "spans": case.load.spans,
        **_steered(case.load),
        **_replayed(case),
        "point": case.point,
        "repeat": case.repeat,
        "loop": case.loop,
        "visit": case.visit,
        "role": case.role,
        "scope": case.test.scope,
        "after": list(case.after),
        "timeout": case.test.timeout,
        "fail_when": case.test.fail_when,
        "longest": case.longest,
        "outcome": None,
        "reason": "",
        "started": None,
        "ended": None,
        "cut": False,
        "notes": [],
    }


def _steered(load: Load) -> dict[str, Any]:
    """Return what is said of a load that holds something, or looks for a level, in base units."""
    if load.find is not None:
        find = load.find
        told = {"raise": find.raise_, "while": find.while_, "not_passed": find.not_passed}
        told |= {"between": list(find.between), "within": find.within, "trial": find.trial, "settle": find.settle}
        return {"find": told | {"trials": []}}
    if load.hold is None:
        return {}
    hold = load.hold
    told = {"metric": hold.metric, "dimension": hold.check.dimension, "at": hold.set_point, "half": hold.half}
    return {"hold": told | {"by": hold.by, "between": list(hold.between), "settle": hold.settle, "every": hold.every}}


def _replayed(case: Case) -> dict[str, Any]:
    """Return what is said of a load that replays a record; its digest comes when it is pressed."""
    if case.replay is None or case.load.replay is None:
        return {}
    found = case.replay
    told = {"run": found.source, "case": found.case, "speed": case.load.replay.speed, "recorded": found.recorded}
    return {"replay": {**told, "starts": found.count, "last": found.last, "digest": ""}}


def _monitors(suite: Suite) -> list[dict[str, Any]]:
    return [
        {
            "name": monitor.name or monitor.use,
            "use": monitor.use,
            "every": monitor.every,
            "host": monitor.host or "",
            "watches": monitor.watches or "",
        }
        for monitor in suite.monitors
    ]


def versions() -> dict[str, str]:
    """Return the versions that matter for a figure: pileup, its engine, Python, the libraries behind the record."""
    found = {"pileup": _native.VERSION, "engine source": _native.SOURCE_HASH[:12], "python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def host() -> dict[str, Any]:
    """Return what this machine is: name, system, CPUs, memory in bytes, limits that a load meets first."""
    return {
        "name": socket.gethostname(),
        "system": _system(),
        "kernel": platform.release(),
        "machine": platform.machine(),
        "cpu": _cpu_model(),
        "cpus": os.cpu_count() or 0,
        "memory": psutil.virtual_memory().total,
        "open_files": psutil.Process().rlimit(psutil.RLIMIT_NOFILE)[0],
        "congestion_control": _read("/proc/sys/net/ipv4/tcp_congestion_control"),
        "load1": os.getloadavg()[0],
    }


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
