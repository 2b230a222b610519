"""Rules about targets: kinds, addresses, options, settings of launched servers, and what tests need of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

from pileup.model.errors import PileupError, TargetError
from pileup.model.problem_codes import ProblemCode
from pileup.model.program import Step
from pileup.model.schemes import has_password
from pileup.model.suite import TargetSpec, TestSpec
from pileup.plugin import Target, Test
from pileup.plugin.target import offers
from pileup.plugin.test import needs_of
from pileup.suite import instances
from pileup.suite import kinds as schemes
from pileup.suite.bind import BoundPart, Draft
from pileup.suite.formats.tree import Mapping, Node, Scalar, Sequence, where
from pileup.suite.problems import Position, near, parts, shown
from pileup.suite.rules.plugin_options import Plugins
from pileup.suite.scan import aims, axis_of


class TargetRules:
    """Checks the targets of a draft, then tests against them."""

    def __init__(self, draft: Draft, plugins: Plugins) -> None:
        self._draft = draft
        self._plugins = plugins
        self._problems = plugins.problems.of(ProblemCode.TARGET)
        self._classes: dict[str, type[Target]] = {}

    def check(self) -> None:
        """Add every problem of the targets."""
        for name, target in self._draft.targets.items():
            if not target.spec.kind:
                if "kind" not in target.left_out:
                    expected = "what kind of system: a name from `pileup list targets`, or a url that says it"
                    self._problems.add(
                        target.node.at, "the word `kind` is missing", expected, code=ProblemCode.MISSING_KEY
                    )
                continue
            cls = self._plugins.find(instances.class_of_target, target.spec.kind, target.node, "kind")
            if cls is None:
                continue
            self._classes[name] = cls
            self._check_address(name, target, cls)
            if schemes.check_scheme(name, target.node, self._problems):
                self._check_url(target, cls)
            self._check_others(name, target)
            self._check_issuer(name, target)
            given = target.node.entries.get("options")
            options = given if isinstance(given, Mapping) else Mapping({}, target.node.at)
            self._plugins.check_options(cls, options, target.node.at)
            self._check_launch(target, cls)
            self._check_disk(name, target, cls)
            self._check_path(name, target, cls)

    def _check_address(self, name: str, target: BoundPart[TargetSpec], cls: type[Target]) -> None:
        spec, node = target.spec, target.node
        if spec.url is not None and spec.launch is not None:
            self._problems.add(node.keys["launch"], f"target {shown(name)} has a url and is launched", "one of the two")
        nowhere = spec.url is None and spec.launch is None and not {"url", "launch"} & target.left_out
        if nowhere and cls.needs_url and not cls.scratch:
            self._problems.add(
                node.at, f"target {shown(name)} has no url", "`url`, or `launch` where pileup can start it"
            )
        if spec.url is not None and has_password(spec.url):
            expected = "credentials: {user: …, password: …}"
            self._problems.add(where(node, ("url",)), "a password in a url", expected, "urls are shown and recorded")

    def _check_url(self, target: BoundPart[TargetSpec], cls: type[Target]) -> None:
        """Check that a kind of target can be at such an address."""
        spec = target.spec
        if not spec.url or "url" in target.left_out or has_password(spec.url):
            return
        at = where(target.node, ("url",))
        try:
            cls.check_url(spec.url)
        except TargetError as problem:
            self._problems.add(at, problem.what, problem.expected, problem.hint or "correct the url")
        except ValueError as problem:
            self._problems.add(at, *parts(str(problem)), "correct the url")

    def _check_others(self, name: str, target: BoundPart[TargetSpec]) -> None:
        """What `like` and `beside` name is another target."""
        others = [each for each in self._draft.names("targets") if each != name]
        for word, text in (("like", target.spec.like), ("beside", target.spec.beside)):
            node = target.node.entries.get(word)
            if text is None or not isinstance(node, Scalar):
                continue
            if node.variables:
                self._problems.add(
                    node.at, f"`{word}` is made from ${min(node.variables)}", "the name of a target itself"
                )
            elif text not in others:
                told = f"target {shown(name)} is {word} {shown(text)}"
                self._problems.add(node.at, told, near(text, others, "the name of another target"))

    def _check_issuer(self, name: str, target: BoundPart[TargetSpec]) -> None:
        """The issuer of a target's tokens, by name, is another target that can give some."""
        issuer = target.spec.credentials.issuer
        if issuer is None or issuer.target is None:
            return
        at, others = where(target.node, ("credentials", "issuer", "target")), self._draft.targets
        told = f"the issuer of target {shown(name)} is {shown(issuer.target)}"
        if issuer.target == name or issuer.target not in others:
            names = [each for each in others if each != name]
            self._problems.add(at, told, near(issuer.target, names, "the name of another target"))
            return
        with suppress(PileupError):  # an unknown kind is reported where it is
            kind = others[issuer.target].spec.kind
            if "oauth2" not in instances.class_of_target(kind, self._plugins.folder).provides:
                self._problems.add(at, f"{told}, of kind {shown(kind)}", "a target of kind oauth2 or practice-issuer")

    def _check_launch(self, target: BoundPart[TargetSpec], cls: type[Target]) -> None:
        settings = target.spec.launch
        node = target.node.entries.get("launch")
        if settings is None or not isinstance(node, Mapping):
            return

        def start() -> None:
            launched = cls.launcher(settings, self._plugins.folder) is not None
            if not launched and cls.simulated is Target.simulated:
                raise ValueError(f"kind {shown(target.spec.kind)} cannot be started by pileup; expected a url")

        self._plugins.attempt(cls, start, node, "launch", cls.launch_settings)

    def _check_disk(self, name: str, target: BoundPart[TargetSpec], cls: type[Target]) -> None:
        """`disk` needs a server that pileup starts, of a kind that says what to put on it."""
        if target.spec.disk is None:
            return
        at = target.node.keys["disk"]
        if target.spec.launch is None:
            self._problems.add(at, f"target {shown(name)} has a `disk` and is not launched", "`launch`, or no `disk`")
            return
        with suppress(Exception):  # wrong settings are reported where they are
            launcher = cls.launcher(target.spec.launch, self._plugins.folder)
            if launcher is not None and not launcher.disk:
                told = f"kind {shown(target.spec.kind)} has no folder for a disk of its own"
                self._problems.add(at, told, "a kind that has one, or no `disk`")

    def _check_path(self, name: str, target: BoundPart[TargetSpec], cls: type[Target]) -> None:
        """A relay is for what is reached by a connection that can go elsewhere than the url says."""
        path, suite = target.spec.path, self._draft.suite
        if path is None:
            return
        at = target.node.keys.get("path", target.node.at)
        if cls.relayed and suite and suite.places.elsewhere and path.at is None:
            told = (
                f"target {shown(name)} has a `path`, whose relay is on this machine, and the places are on other hosts"
            )
            self._problems.add(at, told, "`path: {at: HOST:PORT}` of a relay that they reach", "`pileup relay` is one")
        if cls.relayed:
            return
        told = f"target {shown(name)} has a `path`, and kind {shown(target.spec.kind)} {cls.not_relayed}"
        self._problems.add(at, told, "a target over http, https or root, or no `path`")

    def check_target_of(self, test: BoundPart[TestSpec], cls: type[Test] | None) -> None:
        """Check that a test has a target, and one that it can use."""
        names, given = self._draft.names("targets"), test.node.entries.get("target")
        if given is not None and "target" not in test.left_out:
            self._check_there(given, names)
        if cls is None or not cls.needs or "target" in test.left_out:
            return
        scanned = [item for node in self._scanned(test) for item in node.items]
        for item in scanned or ([given] if given is not None else []):
            self._check_aim(test, cls, item)
        if scanned or given is not None:
            return
        if "" not in needs_of(cls):
            self._problems.add(test.node.at, f"test {shown(test.spec.name)} names no targets", _several(cls))
        elif len(names) != 1:
            expected = f"`target`, one of {', '.join(names)}" if names else "`targets` in the suite"
            self._problems.add(test.node.at, f"test {shown(test.spec.name)} names no target", expected)
        else:
            self._check_fit(test, needs_of(cls)[""], names[0], test.node.at)

    def _check_there(self, given: Node, names: list[str]) -> None:
        """Check that what a test is for is in the suite."""
        for item in given.entries.values() if isinstance(given, Mapping) else (given,):
            if isinstance(item, Scalar) and not item.empty and item.text not in names:
                expected = near(item.text, names, "" if names else "`targets` in the suite")
                self._problems.add(
                    item.at, f"there is no target {shown(item.text)}", expected, code=ProblemCode.UNKNOWN_NAME
                )

    def _check_aim(self, test: BoundPart[TestSpec], cls: type[Test], given: Node) -> None:
        """Check that a test is given as many targets as it needs, each of a kind that it can use."""
        needs, use = needs_of(cls), shown(test.spec.use)
        if not isinstance(given, Mapping):
            if "" not in needs:
                what = f"test {use} needs {len(needs)} targets, one is given"
                self._problems.add(given.at, what, _several(cls))
            elif isinstance(given, Scalar):
                self._check_fit(test, needs[""], given.text, given.at)
            return
        if "" in needs:
            self._problems.add(given.at, f"test {use} needs one target, {len(given.entries)} are given", "its name")
            return
        for word, item in given.entries.items():
            if word not in needs:
                at = given.keys.get(word, item.at)
                self._problems.add(at, f"test {use} needs no target {shown(word)}", near(word, needs))
            elif isinstance(item, Scalar):
                self._check_fit(test, needs[word], item.text, item.at)
        for word in needs:
            if word not in given.entries:
                self._problems.add(given.at, f"`target` has no {shown(word)}", _several(cls))

    def _scanned(self, test: BoundPart[TestSpec]) -> Iterator[Sequence]:
        """Yield the axes of the scan that say which target a test is for."""
        scan = self._draft.tree.entries.get("scan")
        for name, node in scan.entries.items() if isinstance(scan, Mapping) else ():
            if isinstance(node, Sequence) and aims(axis_of(name, (), {test.spec.name}, set()), test.spec):
                yield node

    def check_test(self, test: BoundPart[TestSpec], made: Test) -> None:
        """Check that each target can do what a test asks of it: a native one of the client chosen for the target."""
        for name, several in self._aims(test, made):
            if made.native():
                target = self._chooser(name, bool(several))
                problem = self._steps_problem(several, name, target, made) if target is not None else ""
            else:
                asks = type(made).problem_on is not Test.problem_on
                target = self._chooser(name, always=True) if asks else None
                problem = made.problem_on(target) if target is not None else ""
            if problem:
                what, expected = parts(problem)
                told = f"test {shown(test.spec.name)} on target {shown(name)}: {what}"
                self._problems.add(test.node.at, told, expected)

    def _aims(self, test: BoundPart[TestSpec], made: Test) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield each first or only target that a test is for at any point, and its targets by what they are for."""
        first, names = next(iter(needs_of(type(made))), ""), self._draft.names("targets")
        scanned = [item for node in self._scanned(test) for item in node.items]
        for item in scanned:
            if isinstance(item, Scalar):
                yield item.text, {}
            elif isinstance(item, Mapping):
                several = {word: each.text for word, each in item.entries.items() if isinstance(each, Scalar)}
                yield several.get(first, ""), several
        if not scanned:
            only = names[0] if len(names) == 1 and made.needs else ""
            yield test.spec.targets.get(first) or test.spec.target or only, dict(test.spec.targets)

    def _steps_problem(self, several: dict[str, str], name: str, target: Target, made: Test) -> str:
        """Return why the client chosen for the target cannot do a step of a native test; empty when it can."""
        steps = made.program().steps
        return next(filter(None, map(target.problem_of, steps)), "") or self._copy_problem(several, name, target, steps)

    def _copy_problem(self, several: dict[str, str], name: str, target: Target, steps: Iterable[Step]) -> str:
        """Return why the target cannot copy to the second targets of steps; empty when it can, and without any."""
        words = {step.destination.target for step in steps if step.destination is not None}
        for there in sorted(several.get(word, word) for word in words):
            if there == name:
                return "it would copy to the target itself; expected another one"
            other = self._chooser(there, always=True)
            if other is not None and (problem := target.problem_of_copy(other)):
                return problem
        return ""

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

    def _check_fit(self, test: BoundPart[TestSpec], needed: str, name: str, at: Position) -> None:
        if name not in self._classes or needed in self._offers(name):
            return
        kind = self._draft.targets[name].spec.kind
        what = (
            f"test {shown(test.spec.use)} needs {shown(needed)}, {shown(name)} of kind {shown(kind)} does not have it"
        )
        fitting = [each for each in self._classes if needed in self._offers(each)]
        self._problems.add(at, what, " or ".join(map(repr, fitting)) or "a target of another kind")

    def _offers(self, name: str) -> set[str]:
        cls = self._classes[name]
        return {*offers(cls), cls.kind, self._draft.targets[name].spec.kind}


def _several(cls: type[Test]) -> str:
    """Return how the targets of a test that needs several are given."""
    return "`target: {" + ", ".join(f"{word}: NAME" for word in needs_of(cls)) + "}`"
