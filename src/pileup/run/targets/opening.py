"""The targets of a run: launched where asked, reached once before the load, or unavailable with a reason."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from shutil import rmtree
from urllib.parse import urlsplit

from pileup.model.errors import PileupError, RecordError, TargetError
from pileup.model.manifest import TargetEntry
from pileup.model.plan import Plan
from pileup.model.program import Keys
from pileup.model.suite import Credentials, IssuerSpec
from pileup.plugin import Target
from pileup.record import RunFolder
from pileup.run.relays.relays import Relays, added, remark
from pileup.run.servers import scratch
from pileup.run.servers.supervisor import Supervisor
from pileup.run.targets.asking import asked, probe
from pileup.run.targets.calls import Caller
from pileup.suite import instances


class Targets:
    """Opens every target that the plan uses, in the order of the suite."""

    def __init__(self, plan: Plan, folder: RunFolder, supervisor: Supervisor, caller: Caller | None = None) -> None:
        self.caller = caller or Caller()
        """Makes calls of targets that a second Ctrl-C need not wait for."""
        self._plan = self._given = plan
        self._folder = folder
        self._supervisor = supervisor
        used = self._used()
        issuers = {self._issuer(name) for name in used} - {""}
        names = [name for name in plan.suite.targets if name in used | issuers]
        self._names = sorted(names, key=lambda name: name not in issuers)
        """Issuers first: others need their tokens to be opened."""
        self._issuers: dict[str, IssuerSpec] = {}
        """Target -> who gives pileup its tokens there, where that is another target, by its address."""
        self.relays = Relays(folder, supervisor, plan.suite.seed)
        """Those before targets with a `path`."""
        self._open: dict[str, Target] = {}
        self._problems: dict[str, str] = {}
        self._scratch: list[tuple[Path, int]] = []
        """Folders made, each with its entry in the journal."""

    def _used(self) -> set[str]:
        """Return which a test is for or names, the scan sets something of, or a fault is done to."""
        used = {(fault.target or "").partition(".")[0] for fault in self._plan.suite.faults}
        for case in self._plan.cases:
            used |= {*case.settings, *case.test.aims}
        return used

    def _issuer(self, name: str) -> str:
        """Return the target that gives pileup its tokens for a target of this name; empty for none."""
        spec = self._plan.suite.targets.get(name)
        issuer = spec.credentials.issuer if spec is not None else None
        return issuer.target or "" if issuer is not None else ""

    def open(self) -> tuple[TargetEntry, ...]:
        """Launch and reach the targets; return what run.json says of them."""
        return tuple(self._open_one(name) for name in self._names)

    def get(self, name: str | None) -> Target | None:
        """Return an open target; None when the test needs none."""
        return self._open.get(name) if name else None

    def files(self, name: str | None) -> Target | None:
        """Return an open target for calls of the runner, which are called off when the run ends at once."""
        return self.caller.files(self.get(name))

    def open_target(self, name: str) -> Target:
        """Return an open target. Raises TargetError when it is unavailable, or used by no test."""
        if problem := self.problem(name):
            raise TargetError(problem)
        if name not in self._open:
            raise TargetError(f"target {name} is used by no test", "a target that a test uses")
        return self._open[name]

    def urls(self) -> dict[str, str]:
        """Return name -> url of every open target, launched and scratch ones too."""
        return {name: target.url for name, target in self._open.items()}

    @property
    def plan(self) -> Plan:
        """The plan, with the credentials of launched servers."""
        return self._plan

    def where(self) -> str:
        """Return what places must know of the targets, as one text that changes with it: addresses and credentials."""
        launched = [name for name in self._open if self._plan.suite.targets[name].launch is not None]
        return json.dumps([self.urls(), {name: self._supervisor.credentials(name) for name in launched}])

    def renew(self, name: str, url: str) -> Target:
        """Return the target of a server that was started again: another one if it came back with another address.

        Raises TargetError when that is another port, or when the target is not open.
        """
        target = self.open_target(name)
        if urlsplit(url).netloc != urlsplit(target.url).netloc:
            raise TargetError(
                f"target {name} came back at {url}, it was at {target.url}",
                "the same address after a restart",
                "its launcher should use {port}",
            )
        before = self._plan
        self._let_in(name)
        if url != target.url or self._plan != before:
            self._open[name] = self._make(name, url)
        return self._open[name]

    def problem(self, name: str | None) -> str:
        """Return why a target is unavailable, empty when it is not."""
        return self._problems.get(name, "") if name else ""

    def gone(self, name: str) -> str:
        """Return which processes of a target's private server have ended by themselves; empty for none."""
        return self._supervisor.gone(name)

    def notice(self) -> None:
        """Note in the record which servers and relays have ended by themselves."""
        self._supervisor.notice()

    def index(self, name: str | None) -> int:
        """Return the place of a target in run.json's list; 0 for none."""
        return self._names.index(name) if name else 0

    def made_before(self) -> Iterator[tuple[str, Keys]]:
        """Yield target and names of what earlier sessions of this run have made there, by the journal."""
        for entry in self._folder.journal_entries():
            if (entry.what, entry.state) == ("objects", "made") and entry.remove is not None:
                for step in entry.remove.steps:
                    yield entry.target, step.keys

    def close(self) -> None:
        """Remove the scratch folders that were made."""
        for folder, entry in self._scratch:
            rmtree(folder, ignore_errors=True)
            with suppress(RecordError):
                self._folder.journal("scratch", "removed", of=entry)

    def _open_one(self, name: str) -> TargetEntry:
        spec = self._plan.suite.targets[name]
        entry = TargetEntry(name, spec.kind, spec.url or "", spec.launch is not None, spec.url is None)
        try:
            entry = replace(entry, url=spec.url or self._make_url(name))
            relayed = self._relay(name, entry.url)
            target = self._make(name, entry.url)
            entry = replace(entry, about=self.caller.call(partial(probe, name, target)))
            with asked(name, "remarks", "a list of texts"):
                entry = replace(entry, remarks=(*relayed, *target.remarks()))
            self._open[name] = target
            for remark in entry.remarks:
                self._folder.event("target", f"target {name}: {remark}")
        except (PileupError, OSError) as problem:
            self._problems[name] = str(problem)
            entry = replace(entry, about=f"unavailable: {problem}")
            self._folder.event("target", f"target {name} is unavailable: {problem}")
        return entry

    def _relay(self, name: str, url: str) -> tuple[str, ...]:
        """Start the relay before a target with a `path`, and have clients connect to it; return what to say of it."""
        path = self._plan.suite.targets[name].path
        if path is None:
            return ()
        trips = {trip for case in self._plan.cases for target, trip in added(case, self._plan.suite) if target == name}
        if path.at is None:
            with asked(name, "endpoint", "host and port of its server"):
                to = self._make(name, url).endpoint()
            at = self.relays.open(name, path, to)
            self._change(name, path=path.model_copy(update={"at": at}))
        return (remark(path, trips),)

    def _change(self, name: str, **words: object) -> None:
        """Put something that is known now into what the plan says of a target."""
        spec = self._plan.suite.targets[name].model_copy(update=words)
        targets = {**self._plan.suite.targets, name: spec}
        self._plan = replace(self._plan, suite=self._plan.suite.model_copy(update={"targets": targets}))

    def _make(self, name: str, url: str) -> Target:
        """Return a target, which knows the folder of the server that was launched for it."""
        if (issuer := self._issuer(name)) and name not in self._issuers:
            self._know_issuer(name, self.open_target(issuer).url)
        with asked(name, "__init__", "a target of its options"):
            target = instances.make_target(self._plan, name, url)
        if self._plan.suite.targets[name].launch is not None:
            target.folder = self._folder_of(name)
        return target

    def _folder_of(self, name: str) -> Path:
        return self._folder.path / "servers" / name

    def _let_in(self, name: str) -> None:
        """Use the credentials of a launched server, unless the suite has its own."""
        given = self._given.suite.targets[name].credentials
        self._know(name, given.beside(self._supervisor.credentials(name)))

    def _know_issuer(self, name: str, url: str) -> None:
        """Use the address of the target that is the issuer of another."""
        given = self._plan.suite.targets[name].credentials
        if given.issuer is not None:
            self._issuers[name] = given.issuer.model_copy(update={"url": url, "target": None})
            self._know(name, given)

    def _know(self, name: str, credentials: Credentials) -> None:
        if issuer := self._issuers.get(name):
            credentials = credentials.model_copy(update={"issuer": issuer})
        self._change(name, credentials=credentials)

    def _make_url(self, name: str) -> str:
        """Start the target's private server, or give it a folder of its own where its kind lives in one."""
        folder = self._folder_of(name)
        with asked(name, "launcher", "a Launcher, or None"):
            launcher = instances.make_launcher(self._plan, name, folder)
        if launcher is not None:
            url = self._supervisor.launch(name, launcher, folder, self._plan.suite.targets[name].disk or 0)
            self._let_in(name)
            return url
        kind = self._plan.suite.targets[name].kind
        if not instances.class_of_target(kind, Path(self._plan.folder)).scratch:
            return ""
        made = scratch.make(self._folder.nonce)
        self._scratch.append((made, self._folder.journal("scratch", "made", target=name, path=str(made))))
        return str(made)
