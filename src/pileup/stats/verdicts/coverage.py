"""Criteria that are not covered, or only in part, because something was missing.

The record says what fell away where pileup did not start a system. A monitor with `watches: TARGET` speaks of the host
of that target. Without `host` it measures this machine, which is that host only where pileup launched the target here,
or where its url leads here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_address
from urllib.parse import urlsplit

from pileup.model.check import Selected
from pileup.model.event import FAULT
from pileup.model.manifest import Manifest
from pileup.model.not_covered import Uncovered
from pileup.model.program import CHECKSUM, NOT_STATED
from pileup.stats.cases import CaseData


@dataclass(frozen=True, slots=True)
class Coverage:
    """The parts of a run that are not covered."""

    lacks: tuple[Uncovered, ...] = ()

    def of(self, selected: Selected) -> Uncovered | None:
        """Return what a check lacks, as a whole or in part; None for one that is covered."""
        if selected.name == FAULT:
            return self._of_fault(dict(selected.labels))
        mine = [each for each in self.lacks if each.name == selected.name and each.what not in ("fault", "launch")]
        return min(mine, key=lambda each: not each.whole, default=None)

    def _of_fault(self, labels: dict[str, str]) -> Uncovered | None:
        """Return what a check on a fault lacks: that fault; without a name the faults of the test, or any of them."""
        faults = [each for each in self.lacks if each.what == "fault"]
        if "fault" in labels:
            return next((each for each in faults if each.name == labels["fault"]), None)
        tests = [each for each in self.lacks if each.what == "test" and each.name == labels.get("test")]
        if "test" in labels:
            return tests[0] if tests else None
        return replace(faults[0], whole=False) if faults else None


def of(run: Manifest) -> Coverage:
    """Return what is not covered, by run.json."""
    away = [Uncovered("monitor", name, reason) for name, reason in elsewhere(run).items()]
    return Coverage((*run.not_covered, *away))


def elsewhere(run: Manifest) -> dict[str, str]:
    """Return name of a monitor -> why it did not measure the host of the target that it watches, by run.json.

    Monitors that measured it, or that watch no target, are not in it; nor is one of a target that was never opened.
    """
    targets = {target.name: target for target in run.targets}
    here = [host.name for host in run.hosts]
    found = {}
    for monitor in run.monitors:
        target = targets.get(monitor.watches)
        if target is None or monitor.host or target.launched:
            continue
        host = host_of(target.url)
        if not is_here(host, here):
            told = f"{monitor.name} measured this machine, and target {target.name} is on {host}"
            found[monitor.name] = f'{told}; it takes `host: "ssh://USER@{host}"` of the monitor'
    return found


def not_stated(cases: Iterable[CaseData], selected: Selected) -> Uncovered | None:
    """Return what a check on checksums lacks where the storage stated none, or none for some of the files."""
    if selected.kind != "test" or selected.operation != CHECKSUM:
        return None
    mine = [data.measured for data in cases if data.entry.test == selected.name]
    if not any(measured.named(NOT_STATED) for measured in mine):
        return None
    stated = any(measured.named(CHECKSUM) for measured in mine)
    told = "for some of the files the storage states no checksum" if stated else "the storage states no checksums"
    return Uncovered("operation", CHECKSUM, told, whole=not stated)


def host_of(url: str) -> str:
    """Return the host of a url, empty for one without: a folder, a system of this machine."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def is_here(host: str, names: Sequence[str]) -> bool:
    """Return whether a host is this machine, which has these names; what is not a url is here."""
    if host in ("", "localhost", *(name.lower() for name in names)):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
