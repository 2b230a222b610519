"""Rules between a suite and its tests, monitors and reports: which exist, what options they take, what they refuse."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from pileup.model.own_waits import OWN_WAITS
from pileup.model.problem_codes import ProblemCode
from pileup.model.record import ITERATION
from pileup.model.suite import MonitorSpec, TargetSpec, TestSpec
from pileup.plugin import Monitor, Test
from pileup.plugin.options import declared
from pileup.suite import instances
from pileup.suite.bind import BoundPart, Draft, plain
from pileup.suite.formats.tree import Mapping, Node, Scalar
from pileup.suite.problems import Problems, near, shown
from pileup.suite.rules.attached import is_attached
from pileup.suite.rules.plugin_options import Plugins
from pileup.suite.rules.reports import check_reports
from pileup.suite.rules.scanned_words import check_places
from pileup.suite.rules.scans import ScanRules
from pileup.suite.rules.targets import TargetRules


class PluginRules:
    """Checks every part of a draft against the plug-in that it uses."""

    def __init__(self, draft: Draft, folder: Path, problems: Problems) -> None:
        self._draft = draft
        self._plugins = Plugins(folder, problems)
        self._targets = TargetRules(draft, self._plugins)
        self._known: set[str] = set()
        """Options that some test has."""
        self.operations: dict[str, frozenset[str]] = {}
        """Native test, not steered, whose options no scan changes -> the names of its operations."""
        self._complete = len(draft.tests) == len(draft.names("tests"))
        """Whether every test was understood and its class found."""
        common = draft.tree.entries.get("options")
        self._common = common if isinstance(common, Mapping) else Mapping({}, draft.tree.at)

    def check(self) -> None:
        """Add every problem found."""
        self._targets.check()
        for test in self._draft.tests:
            self._check_test(test)
        self._check_common_options()
        self._check_layers()
        for monitor in self._draft.monitors:
            self._check_monitor(monitor)
        check_reports(self._draft, self._plugins)
        ScanRules(self._draft, self._plugins, self._common).check()

    def _check_test(self, test: BoundPart[TestSpec]) -> None:
        cls = self._plugins.find(instances.class_of_test, test.spec.use, test.node, "use")
        self._targets.check_target_of(test, cls)
        check_places(test, self._draft, self._plugins.problems)
        if cls is None:
            self._complete = False
            return
        self._known.update(declared(cls))
        for options in self._plugins.check_test_options(cls, self._merged(test, cls), test.node.at):
            self._plugins.attempt(cls, partial(self._make, test, cls, options), options)

    def _make(self, test: BoundPart[TestSpec], cls: type[Test], options: Mapping) -> None:
        """Make the test of some place once, so that its own checks run."""
        seed = self._draft.suite.seed if self._draft.suite else 1
        context = instances.context_of(str(self._plugins.folder), seed, test.spec)
        made = cls(None, context, **plain(options))
        made.bounds(1)
        self._targets.check_test(test, made)
        self._note_operations(test, made)

    def _note_operations(self, test: BoundPart[TestSpec], made: Test) -> None:
        scanned = {axis.rpartition(".")[0] for axis in (self._draft.suite.scan if self._draft.suite else ())}
        steered = test.spec.load.steered_by  # has numbers of what is held or found, beside its operations
        scanned |= self._draft.varied
        if made.native() and not steered and not scanned & {test.spec.name, "options"}:
            try:
                steps = made.program().steps
            except Exception:  # it fails by itself when it is run
                return
            self.operations[test.spec.name] = frozenset({ITERATION, *OWN_WAITS, *(step.operation for step in steps)})

    def _merged(self, test: BoundPart[TestSpec], cls: type) -> Mapping:
        """Return the options of a test as instances.merged_options merges them, with their places."""
        given = test.node.entries.get("options")
        own = given if isinstance(given, Mapping) else Mapping({}, test.node.at)
        entries = instances.merged_options(cls, dict(self._common.entries), dict(own.entries))
        keys = {**self._common.keys, **own.keys}
        layers = self._draft.tree.entries.get(instances.LAYERS)
        if layers is not None and self._in_layers(test):
            entries[instances.LAYERS], keys[instances.LAYERS] = layers, layers.at
        return Mapping(entries, own.at, keys)

    def _in_layers(self, test: BoundPart[TestSpec]) -> bool:
        """Whether a test presses the layers that the suite names."""
        suite = self._draft.suite
        return suite is not None and instances.in_layers(suite, test.spec, self._plugins.folder) is not test.spec

    def _check_layers(self) -> None:
        """Check that some test presses the layers of the suite, and that nothing else says which."""
        suite, node = self._draft.suite, self._draft.tree.entries.get(instances.LAYERS)
        if suite is None or suite.layers is None or node is None or not self._complete:
            return
        others = [name for name in suite.scan if name.rpartition(".")[2] == instances.LAYERS]
        if instances.LAYERS in suite.options:
            others.append(f"options.{instances.LAYERS}")
        if others:
            told = f"`layers` is combined with {shown(others[0])}"
            self._plugins.problems.add(node.at, told, "one of the two", code=ProblemCode.CONFLICT)
        elif not any(self._in_layers(test) for test in self._draft.tests):
            told = "no test with a sustained load has an option 'layers' that it does not set itself"
            self._plugins.problems.add(node.at, told, "a test of storage with `for`")

    def _check_common_options(self) -> None:
        """Find options of the suite that no test has, which are probably misspelt."""
        for name, at in self._common.keys.items():
            if self._complete and name not in self._known:
                expected = near(name, self._known, "an option of a test")
                self._plugins.problems.add(
                    at, f"no test has an option {shown(name)}", expected, code=ProblemCode.UNKNOWN_OPTION
                )

    def _check_monitor(self, monitor: BoundPart[MonitorSpec]) -> None:
        watches, targets = monitor.spec.watches, self._draft.names("targets")
        if watches is not None and watches not in targets:
            known = f"one of {', '.join(targets)}" if targets else "`targets` in the suite"
            at = monitor.node.entries["watches"].at
            self._plugins.problems.unknown(at, "target", watches, targets, known)
        cls = self._plugins.find(instances.class_of_monitor, monitor.spec.use, monitor.node, "use")
        if cls is None:
            return
        node = monitor.node
        own = {name: value for name, value in node.entries.items() if name not in MonitorSpec.model_fields}
        options = Mapping(own, node.at, node.keys)
        if "target" in declared(cls):
            self._check_watched(monitor, cls, own.get("target"))
        if self._plugins.check_options(cls, options, node.at, MonitorSpec.model_fields):
            self._plugins.attempt(cls, lambda: cls(**plain(options)), options)

    def _check_watched(self, monitor: BoundPart[MonitorSpec], cls: type[Monitor], target: Node | None) -> None:
        """Check that what a monitor watches is a target, and that it is watched from here."""
        if not isinstance(target, Scalar):
            return
        names, problems = self._draft.names("targets"), self._plugins.problems
        name = target.text.partition(".")[0] if cls.of_daemons else target.text
        if name not in names:
            known = f"one of {', '.join(names)}" if names else "`targets` in the suite"
            problems.unknown(target.at, "target", name, names, known)
        elif cls.of_daemons and self._attached(name):
            self._check_attached(monitor, cls, target)
        elif monitor.spec.host is not None:
            other = "`match`" if cls.of_daemons else "a `url`"
            problems.add(target.at, "a monitor with `target` and `host`", f"{other} in the place of `target`")
        elif cls.of_daemons and name in self._draft.targets:
            self._check_daemon(target, self._draft.targets[name].spec)

    def _attached(self, name: str) -> bool:
        """Whether pileup does not start a target: the names of its daemons are then not known."""
        try:
            return name in self._draft.targets and is_attached(self._draft.targets[name].spec, self._plugins.folder)
        except Exception:  # reported where its kind is checked
            return True

    def _check_attached(self, monitor: BoundPart[MonitorSpec], cls: type[Monitor], target: Scalar) -> None:
        """Check that a monitor at another host knows by what it finds processes there."""
        words = cls.instead_of_target
        if monitor.spec.host is not None and not any(word in monitor.node.entries for word in words):
            expected = " or ".join(f"`{word}`" for word in words) or "no `host`"
            self._plugins.problems.add(target.at, "a monitor with `target` and `host`", expected)

    def _check_daemon(self, target: Scalar, spec: TargetSpec) -> None:
        """Check that pileup launches what is watched, and that it has the daemon that is named."""
        name, _, daemon = target.text.partition(".")
        if spec.launch is None:
            told = f"pileup did not launch target {shown(name)} and does not know its processes"
            self._plugins.problems.add(target.at, told, "`match` or `program`, or a target with `launch`")
        elif daemon and daemon not in (known := instances.daemons_of(spec, self._plugins.folder)):
            told = f"the server of target {shown(name)} has no process {shown(daemon)}"
            self._plugins.problems.add(target.at, told, near(daemon, known))
