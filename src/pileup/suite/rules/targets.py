"""Rules about targets: kinds, addresses, options, settings of launched servers, and what tests need of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import urlsplit

from pileup.model.errors import PileupError, TargetError
from pileup.model.suite import TargetSpec, TestSpec
from pileup.plugin import Target, Test
from pileup.plugin.options import named_targets
from pileup.suite import instances
from pileup.suite import kinds as schemes
from pileup.suite.bind import BoundPart, Draft, plain
from pileup.suite.formats.tree import Mapping, Scalar, Sequence, where
from pileup.suite.problems import Position, near, parts, shown
from pileup.suite.rules.plugin_options import Plugins
from pileup.suite.scan import aims, axis_of


class TargetRules:
    """Checks the targets of a draft, then tests against them."""

    def __init__(self, draft: Draft, plugins: Plugins) -> None:
        self._draft = draft
        self._plugins = plugins
        self._problems = plugins.problems
        self._classes: dict[str, type[Target]] = {}

    def check(self) -> None:
        """Add every problem of the targets."""
        for name, target in self._draft.targets.items():
            if not target.spec.kind:
                if "kind" not in target.left_out:
                    expected = "what kind of system: a name from `pileup list targets`, or a url that says it"
                    self._problems.add(target.node.at, "the word `kind` is missing", expected)
                continue
            cls = self._plugins.find(instances.class_of_target, target.spec.kind, target.node, "kind")
            if cls is None:
                continue
            self._classes[name] = cls
            self._check_address(name, target, cls)
            if schemes.check_scheme(name, target.node, self._problems):
                self._check_url(target, cls)
            self._check_like(name, target)
            given = target.node.entries.get("options")
            options = given if isinstance(given, Mapping) else Mapping({}, target.node.at)
            self._plugins.check_options(cls, options, target.node.at)
            self._check_launch(target, cls)
            self._check_disk(name, target, cls)

    def _check_address(self, name: str, target: BoundPart[TargetSpec], cls: type[Target]) -> None:
        spec, node = target.spec, target.node
        if spec.url is not None and spec.launch is not None:
            self._problems.add(node.keys["launch"], f"target {shown(name)} has a url and is launched", "one of the two")
        nowhere = spec.url is None and spec.launch is None and not {"url", "launch"} & target.left_out
        if nowhere and cls.needs_url and not cls.scratch:
            self._problems.add(
                node.at, f"target {shown(name)} has no url", "`url`, or `launch` where pileup can start it"
            )
        if spec.url is not None and _has_password(spec.url):
            expected = "credentials: {user: …, password: …}"
            self._problems.add(where(node, ("url",)), "a password in a url", expected, "urls are shown and recorded")

    def _check_url(self, target: BoundPart[TargetSpec], cls: type[Target]) -> None:
        """Check that a kind of target can be at such an address."""
        spec = target.spec
        if not spec.url or "url" in target.left_out or _has_password(spec.url):
            return
        at = where(target.node, ("url",))
        try:
            cls.check_url(spec.url)
        except TargetError as problem:
            self._problems.add(at, problem.what, problem.expected, problem.hint or "correct the url")
        except ValueError as problem:
            self._problems.add(at, *parts(str(problem)), "correct the url")

    def _check_like(self, name: str, target: BoundPart[TargetSpec]) -> None:
        node = target.node.entries.get("like")
        if target.spec.like is None or not isinstance(node, Scalar):
            return
        others = [each for each in self._draft.names("targets") if each != name]
        if node.variables:
            self._problems.add(node.at, f"`like` is made from ${min(node.variables)}", "the name of a target itself")
        elif target.spec.like not in others:
            told = f"target {shown(name)} is like {shown(target.spec.like)}"
            self._problems.add(node.at, told, near(target.spec.like, others, "the name of another target"))

    def _check_launch(self, target: BoundPart[TargetSpec], cls: type[Target]) -> None:
        settings = target.spec.launch
        node = target.node.entries.get("launch")
        if settings is None or not isinstance(node, Mapping):
            return

        def start() -> None:
            if cls.launcher(settings, self._plugins.folder) is None:
                raise ValueError(f"kind {shown(target.spec.kind)} cannot be started by pileup; expected a url")

        self._plugins.attempt(cls, start, node, "launch", cls.launch_settings)

    def _check_disk(self, name: str, target: BoundPart[TargetSpec], cls: type[Target]) -> None:
        """A disk of its own is for a server that pileup starts, of a kind that knows what to put there."""
        if target.spec.disk is None:
            return
        at = target.node.keys["disk"]
        if target.spec.launch is None:
            self._problems.add(at, f"target {shown(name)} has a `disk` and is not launched", "`launch`, or no `disk`")
            return
        with suppress(Exception):  # wrong settings are told where they stand
            launcher = cls.launcher(target.spec.launch, self._plugins.folder)
            if launcher is not None and not launcher.disk:
                told = f"kind {shown(target.spec.kind)} has no folder for a disk of its own"
                self._problems.add(at, told, "a kind that has one, or no `disk`")

    def check_target_of(self, test: BoundPart[TestSpec], cls: type[Test] | None) -> None:
        """Check that a test has a target, and one that it can use."""
        names = self._draft.names("targets")
        wanted = test.spec.target
        if wanted is not None and wanted not in names:
            expected = near(wanted, names, "" if names else "`targets` in the suite")
            self._problems.add(where(test.node, ("target",)), f"there is no target {shown(wanted)}", expected)
        if cls is None or not cls.needs or "target" in test.left_out:
            return
        scanned = [item for node in self._scanned(test) for item in node.items if isinstance(item, Scalar)]
        for item in scanned:
            if item.text in names:
                self._check_fit(test, cls, item.text, item.at)
        if scanned:
            return
        if wanted is None and len(names) != 1:
            expected = f"`target`, one of {', '.join(names)}" if names else "`targets` in the suite"
            self._problems.add(test.node.at, f"test {shown(test.spec.name)} names no target", expected)
            return
        self._check_fit(test, cls, wanted or names[0])

    def _scanned(self, test: BoundPart[TestSpec]) -> Iterator[Sequence]:
        """Yield the axes of the scan that say which target a test is for."""
        scan = self._draft.tree.entries.get("scan")
        for name, node in scan.entries.items() if isinstance(scan, Mapping) else ():
            if isinstance(node, Sequence) and aims(axis_of(name, (), {test.spec.name}, set()), test.spec):
                yield node

    def check_second(self, cls: type[Test], options: Mapping) -> bool:
        """Check that the targets that a test names in its options are there, and keep files; return if it names any."""
        names, named = self._draft.names("targets"), named_targets(cls, plain(options))
        for word, name in named.items():
            at = where(options, (word,))
            if name not in names:
                self._problems.add(at, f"there is no target {shown(name)}", near(name, names, "`targets` in the suite"))
            elif name in self._classes and "files" not in self._offers(name):
                kind = self._draft.targets[name].spec.kind
                self._problems.add(at, f"{shown(name)} of kind {shown(kind)} keeps no files", "a target that does")
        return bool(named)

    def check_steps(self, test: BoundPart[TestSpec], made: Test, second: bool = False) -> None:
        """Check that the client chosen for a target can do what a native test does there; `second`: the engine too."""
        names = self._draft.names("targets")
        name = test.spec.target or (names[0] if len(names) == 1 and made.needs else "")
        target = self._chooser(name, second) if made.native() else None
        if target is None:
            return
        problem = next(filter(None, map(target.problem_of, made.program().steps)), "")
        if problem:
            what, expected = parts(problem)
            self._problems.add(test.node.at, f"test {shown(test.spec.name)} on target {shown(name)}: {what}", expected)

    def _chooser(self, name: str, always: bool) -> Target | None:
        """Return a target, `always`, when its users choose between clients, and when the engine has none for it.

        None for those with problems.
        """
        cls = self._classes.get(name)
        if cls is None or (cls.problem_of is Target.problem_of and cls.client is not Target.client and not always):
            return None
        spec = self._draft.targets[name].spec
        with suppress(PileupError, ValueError):
            return cls(spec.url or "", spec.credentials, **spec.options)
        return None

    def _check_fit(self, test: BoundPart[TestSpec], cls: type[Test], name: str, at: Position | None = None) -> None:
        if name not in self._classes or cls.needs in self._offers(name):
            return
        kind = self._draft.targets[name].spec.kind
        what = f"test {shown(test.spec.use)} needs {shown(cls.needs)}, {shown(name)} of kind {shown(kind)} has it not"
        fitting = [each for each in self._classes if cls.needs in self._offers(each)]
        if at is None:
            at = where(test.node, ("target",)) if test.spec.target else test.node.at
        self._problems.add(at, what, " or ".join(map(repr, fitting)) or "a target of another kind")

    def _offers(self, name: str) -> set[str]:
        cls = self._classes[name]
        return {*cls.provides, cls.kind, self._draft.targets[name].spec.kind}


def _has_password(url: str) -> bool:
    try:
        return bool(urlsplit(url).password)
    except ValueError:
        return False
