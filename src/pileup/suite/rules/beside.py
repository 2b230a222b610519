"""Rules for roles, faults and cooldown."""

from __future__ import annotations

from pathlib import Path

from pileup.model import check as checks
from pileup.model.problem_codes import ProblemCode
from pileup.model.suite import FaultSpec, TargetSpec, TestSpec
from pileup.suite import instances
from pileup.suite.bind import BoundPart, Draft
from pileup.suite.formats.tree import Mapping, where
from pileup.suite.problems import Problems, near, parts, shown
from pileup.suite.rules.attached import is_attached


class BesideRules:
    """Checks roles, faults and the cooldown of a draft."""

    def __init__(self, draft: Draft, monitors: tuple[str, ...], folder: Path, problems: Problems) -> None:
        self._draft = draft
        self._monitors = monitors
        self._folder = folder
        self._problems = problems
        self._tests = {part.spec.name: part for part in draft.tests}
        self._names = draft.names("tests")

    def check(self) -> None:
        """Add every problem."""
        for test in self._draft.tests:
            for number, name in enumerate(test.spec.with_):
                self._check_with(test, name, number)
            if test.spec.with_:
                self._check_scopes(test)
        seen: set[str] = set()
        for fault in self._draft.faults:
            if not fault.left_out:
                self._check_fault(fault.spec, fault.node)
            if fault.spec.name in seen:
                told = f"a second fault {shown(fault.spec.name)}"
                at = where(fault.node, ("name",))
                self._problems.add(at, told, "names that differ", code=ProblemCode.DUPLICATE_NAME)
            seen |= {fault.spec.name} if fault.spec.name else set()
        self._check_cooldown()

    def _check_with(self, test: BoundPart[TestSpec], name: str, number: int) -> None:
        at = where(test.node, ("with", number))
        main = self._tests.get(name)
        if name == test.spec.name:
            self._problems.add(at, f"{shown(name)} runs alongside itself", "another test")
        elif main is None:
            if name not in self._names:
                others = [each for each in self._names if each != test.spec.name]
                self._problems.unknown(at, "test", name, others)
        elif main.spec.with_:
            self._problems.add(at, f"{shown(name)} is itself a role", "a test that has a load of its own end")
        elif self._needs(name, test.spec.name):
            told = f"{shown(name)} needs {shown(test.spec.name)}, which runs alongside it and ends with it"
            self._problems.add(at, told, "a test that does not need it")

    def _needs(self, name: str, wanted: str) -> bool:
        """Whether a test needs another, directly or by way of others."""
        seen, waiting = set(), [name]
        while waiting:
            part = self._tests.get(waiting.pop())
            for each in part.spec.after if part else ():
                if each == wanted:
                    return True
                if each not in seen:
                    seen.add(each)
                    waiting.append(each)
        return False

    def _check_scopes(self, test: BoundPart[TestSpec]) -> None:
        scopes = {self._tests[name].spec.scope for name in test.spec.with_ if name in self._tests}
        if len(scopes) > 1:
            at = where(test.node, ("with",))
            self._problems.add(at, f"it runs alongside tests of the scopes {' and '.join(sorted(scopes))}", "one scope")

    def _check_fault(self, fault: FaultSpec, node: Mapping) -> None:
        targets = self._draft.targets
        name, _, process = (fault.target or "").partition(".")
        if fault.target is not None and name not in self._draft.names("targets"):
            at = where(node, ("target",))
            self._problems.unknown(at, "target", name, targets)
        elif name in targets and fault.do != "command" and self._attached(targets[name].spec):
            pass  # it does not apply: names in it cannot be checked here
        elif name in targets and fault.do != "command" and targets[name].spec.launch is None:
            told = f"pileup did not launch target {shown(name)} and cannot {fault.do} it"
            self._problems.add(where(node, ("do",)), told, "do: command, run: COMMAND", "or a target with `launch`")
        elif process and name in targets and process not in (known := self._daemons(targets[name].spec)):
            told = f"the server of target {shown(name)} has no process {shown(process)}"
            self._problems.add(where(node, ("target",)), told, near(process, known))
        elif fault.do == "fill" and name in targets and targets[name].spec.disk is None:
            told = f"target {shown(name)} has no disk of its own, and others' is not filled"
            self._problems.add(where(node, ("do",)), told, f"`disk: SIZE` of {shown(name)}, e.g. `disk: 32 MiB`")
        for number, name in enumerate(fault.during):
            if name not in self._names:
                at = where(node, ("during", number))
                self._problems.unknown(at, "test", name, self._names)
        if not fault.during and not any(map(_may_be_sustained, self._draft.tests)):
            self._problems.add(node.at, "no test has a sustained load for this fault", "`during: [TEST]`")

    def _attached(self, spec: TargetSpec) -> bool:
        try:
            return is_attached(spec, self._folder)
        except Exception:  # reported where its kind is checked
            return True

    def _daemons(self, spec: TargetSpec) -> list[str]:
        return instances.daemons_of(spec, self._folder)

    def _check_cooldown(self) -> None:
        suite, node = self._draft.suite, self._draft.tree.entries.get("cooldown")
        if suite is None or suite.cooldown is None or suite.cooldown.until is None or not isinstance(node, Mapping):
            return
        try:
            resolved = checks.resolve(checks.parse(suite.cooldown.until), (), self._monitors)
            if resolved.kind != "monitor":
                raise ValueError("it names no monitor; expected e.g. last(node.load1) < 1")
        except ValueError as problem:
            what, expected = parts(str(problem))
            self._problems.add(where(node, ("until",)), f"`until`: {what}", expected)


def _may_be_sustained(test: BoundPart[TestSpec]) -> bool:
    """Whether a test has a sustained load of its own, or one that could not be read."""
    return ("load" in test.left_out or test.spec.load.sustained) and not test.spec.with_
