"""Rules about scans: what each axis varies, whether every value fits, and how many cases result."""

from __future__ import annotations

import math
import re
from functools import partial

from pydantic import ValidationError

from pileup.model.criterion import CriterionSpec
from pileup.model.distance import Distance, DistanceWords
from pileup.model.loads.load import Load
from pileup.model.problem_codes import ProblemCode
from pileup.model.suite import TOGETHER, TargetSpec, TestSpec
from pileup.model.units import counted
from pileup.plugin.options import declared
from pileup.suite import instances
from pileup.suite.bind import BoundPart, Draft, plain
from pileup.suite.formats.tree import Mapping, Node, Scalar, Sequence
from pileup.suite.problem_texts import fields_of, report
from pileup.suite.problems import Position, Problems, near, shown
from pileup.suite.rules.plugin_options import Plugins
from pileup.suite.rules.scanned_words import check_words
from pileup.suite.scan import (
    AXIS_PATTERN,
    COMMON,
    ENVIRONMENT,
    MOST_CASES,
    PLACES,
    Axis,
    aims,
    axis_of,
    factors_of,
    of_path,
    text_of,
)

NAMING = (
    "TARGET.setting, TARGET.path.word, TEST.option, TEST.load.word, TEST.target, TEST.places, options.option, "
    "`places`, `environment` or a variable"
)
ALONE = "a variable of the suite, `places`, `environment`, or names joined by dots, e.g. se.threads"


class ScanRules:
    """Checks the scan of a draft, value by value."""

    def __init__(self, draft: Draft, plugins: Plugins, common: Mapping) -> None:
        self._draft = draft
        self._plugins = plugins
        self._problems: Problems = plugins.problems.of(ProblemCode.SCAN)
        self._common = common
        self._tests = {part.spec.name: part for part in draft.tests}
        node = draft.tree.entries.get("scan")
        self._node = node if isinstance(node, Mapping) else Mapping({}, draft.tree.at)
        self._axes: dict[str, Axis] = {}
        self._coupled = {name for names in draft.together for name in names}

    def check(self) -> None:
        """Add every problem of the scan, and of what speaks of its points."""
        for name, node in self._node.entries.items():
            if isinstance(node, Sequence):
                self._check_axis(name, node)
        self._check_rows()
        self._check_number()
        for criterion in self._draft.criteria:
            self._check_at(criterion)

    def _check_axis(self, name: str, node: Sequence) -> None:
        tests, targets = set(self._draft.names("tests")), set(self._draft.names("targets"))
        variables = self._draft.names("variables")
        axis = axis_of(name, tuple(plain(item) for item in node.items), tests, targets, variables)
        self._axes[name] = axis
        at = self._node.keys.get(name, node.at)
        if axis.kind == "unknown" and not re.match(AXIS_PATTERN, name):
            return  # reported where the schema is checked
        if axis.kind == "unknown":
            self._tell_unknown(axis, at, sorted(tests | targets | {COMMON}), [*variables, PLACES, ENVIRONMENT])
            return
        if axis.kind in (PLACES, ENVIRONMENT) and name in variables:
            told = f"{shown(name)} is a variable and what the scan varies by that name"
            self._problems.add(at, told, "another name for the variable")
        texts = [text_of(value) for value in axis.values]
        for place, item in enumerate(node.items if name not in self._coupled else ()):
            if texts[place] in texts[:place]:
                self._problems.add(item.at, f"{shown(texts[place])} is given twice in a scan", "values that differ")
        self._check_values(axis, node)

    def _tell_unknown(self, axis: Axis, at: Position, owners: list[str], alone: list[str]) -> None:
        owner, dot, _ = axis.name.partition(".")
        told = f"a scan over {shown(axis.name)}, which is nothing of this suite"
        if not dot:
            self._problems.add(at, told, near(axis.name, alone, ALONE))
        else:
            self._problems.add(at, told, near(owner, owners, NAMING) if owner not in owners else NAMING)

    def _check_scope(self, axis: Axis) -> None:
        """Refuse to vary tests that run once for all points."""
        test = self._tests.get(axis.owner)
        if test is not None and axis.kind != "setting" and test.spec.scope == "run" and not test.spec.with_:
            at = self._node.keys[axis.name]
            told = f"a scan over {shown(axis.name)}, and test {shown(axis.owner)} is done once for all points"
            self._problems.add(at, told, "`scope: point` or `scope: case` for it")

    def _check_values(self, axis: Axis, node: Sequence) -> None:
        self._check_scope(axis)
        if axis.kind == "setting":
            self._check_setting(axis, node)
        elif axis.kind == "load":
            self._check_load(axis, node)
        elif axis.kind == "target":
            self._check_target(axis, node)
        elif axis.kind == "option":
            self._check_option(axis, node, self._tests.get(axis.owner))
        elif axis.kind == "common":
            self._check_common(axis, node)
        elif axis.kind in (PLACES, ENVIRONMENT):
            check_words(axis, node, self._node.keys.get(axis.name, node.at), self._draft, self._plugins)

    def _check_rows(self) -> None:
        """Find rows of `together` that say the same as one before."""
        for names in self._draft.together:
            nodes = [node for name in names if isinstance(node := self._node.entries.get(name), Sequence)]
            rows = list(zip(*([text_of(plain(item)) for item in node.items] for node in nodes), strict=False))
            for number, row in enumerate(rows):
                if row in rows[:number]:
                    told = f"a row of `{TOGETHER}` repeats an earlier one"
                    self._problems.add(nodes[0].items[number].at, told, "rows that differ")

    def _check_target(self, axis: Axis, node: Sequence) -> None:
        names = self._draft.names("targets")
        for item in node.items:
            for each in item.entries.values() if isinstance(item, Mapping) else (item,):
                text = each.text if isinstance(each, Scalar) else text_of(plain(each))
                if text not in names:
                    self._problems.unknown(each.at, "target", text, names)
        if not any(aims(axis, test.spec) for test in self._tests.values()):
            at = self._node.keys.get(axis.name, node.at)
            self._problems.add(
                at, f"{shown(axis.name)} is for no test: each names its target", "a test without `target`"
            )

    def _check_common(self, axis: Axis, node: Sequence) -> None:
        having = [test for test in self._tests.values() if axis.word in self._options(test)]
        if not having:
            at = self._node.keys.get(axis.name, node.at)
            self._problems.add(at, f"no test has an option {shown(axis.word)}", "an option of a test")
        for test in having:
            if axis.word not in test.spec.options:
                self._check_option(axis, node, test)

    def _options(self, test: BoundPart[TestSpec]) -> set[str]:
        try:
            return set(declared(instances.class_of_test(test.spec.use, self._plugins.folder)))
        except Exception:  # reported where the test is checked
            return set()

    def _check_option(self, axis: Axis, node: Sequence, test: BoundPart[TestSpec] | None) -> None:
        if test is None or not self._options(test):
            return
        cls = instances.class_of_test(test.spec.use, self._plugins.folder)
        given = test.node.entries.get("options")
        own = dict(given.entries) if isinstance(given, Mapping) else {}
        for item in node.items:
            entries = instances.merged_options(cls, dict(self._common.entries), {**own, axis.word: item})
            keys = {**self._common.keys, **(given.keys if isinstance(given, Mapping) else {}), axis.word: item.at}
            if not self._plugins.check_test_options(cls, Mapping(entries, item.at, keys), item.at):
                return

    def _check_load(self, axis: Axis, node: Sequence) -> None:
        test = self._tests.get(axis.owner)
        known = fields_of(Load)
        if axis.word not in known:
            at = self._node.keys.get(axis.name, node.at)
            self._problems.add(at, f"a load has no word {shown(axis.word)}", near(axis.word, known))
        elif test is not None:
            given = test.node.entries.get("load")
            own = dict(given.entries) if isinstance(given, Mapping) else {}
            for item in node.items:
                self._attempt_load(Mapping({**own, axis.word: item}, item.at, {axis.word: item.at}))

    def _attempt_load(self, load: Mapping) -> None:
        try:
            Load.model_validate(plain(load))
        except ValidationError as problem:
            report(problem, load, Load, self._problems)

    def _check_setting(self, axis: Axis, node: Sequence) -> None:
        target = self._draft.targets.get(axis.owner)
        if target is None:
            return
        if of_path(axis.word):
            self._check_path(axis, node, target)
            return
        for item in node.items:
            if not isinstance(item, Scalar) and target.spec.launch is None:
                self._problems.add(
                    item.at, "a list or mapping for a setting", "one value, to be filled into its command"
                )
        own = self._settings_of(target.spec)
        if axis.word in own and axis.word not in target.spec.settings:
            for item in node.items:
                text = text_of(plain(item))
                if own[axis.word] and text not in own[axis.word]:
                    self._problems.add(item.at, f"{axis.name} has no value {shown(text)}", near(text, own[axis.word]))
        elif target.spec.launch is not None:
            self._check_launch(axis, node, target)
        elif axis.word not in (known := [*target.spec.settings, *own]):
            at = self._node.keys.get(axis.name, node.at)
            told = f"target {shown(axis.owner)} has no setting {shown(axis.word)}"
            self._problems.add(at, told, near(axis.word, known, "`launch`, or `settings` that say how"))

    def _check_path(self, axis: Axis, node: Sequence, target: BoundPart[TargetSpec]) -> None:
        """Check each value in the place of that word of the target's path."""
        word, at = of_path(axis.word), self._node.keys.get(axis.name, node.at)
        known = fields_of(DistanceWords)
        if word not in known:
            self._problems.add(at, f"a `path` has no word {shown(word)} to vary", near(word, known))
            return
        if target.spec.path is not None and target.spec.path.at is not None:
            self._problems.add(at, f"{shown(axis.name)} varies a relay that runs already", "`path` without `at`")
            return
        if target.spec.path is not None and word in dict(target.spec.path.at_place(1)):
            told = f"{shown(axis.name)} is varied, and differs by place already"
            self._problems.add(at, told, "either the axis, or `by_place`")
            return
        if target.spec.path is None:
            told = f"{shown(axis.name)} is varied, and target {shown(axis.owner)} has no `path`"
            self._problems.add(at, told, "a `path` with what stays the same, e.g. `path: {latency: 0 ms}`")
            return
        given = target.node.entries.get("path")
        own = dict(given.entries) if isinstance(given, Mapping) else {}
        for item in node.items:
            one = Mapping({**own, word: item}, item.at, {word: item.at})
            try:
                Distance.model_validate(plain(one))
            except ValidationError as problem:
                report(problem, one, Distance, self._problems)

    def _settings_of(self, spec: TargetSpec) -> dict[str, tuple[str, ...]]:
        """Return the settings that a kind of target can change by itself, with their values."""
        try:
            return instances.settings_of(spec, self._plugins.folder)
        except Exception:  # reported where the target is checked
            return {}

    def _check_launch(self, axis: Axis, node: Sequence, target: BoundPart[TargetSpec]) -> None:
        given = target.node.entries.get("launch")
        entries = dict(given.entries) if isinstance(given, Mapping) else {}
        try:
            cls = instances.class_of_target(target.spec.kind, self._plugins.folder)
        except Exception:  # reported where the target is checked
            return
        for item in node.items:
            changed = Mapping({**entries, axis.word: item}, item.at, {axis.word: item.at})
            start = partial(cls.launcher, plain(changed), self._plugins.folder)
            self._plugins.attempt(cls, start, changed, axis.name, cls.launch_settings)

    def _check_number(self) -> None:
        suite = self._draft.suite
        if suite is None:
            return
        points = math.prod(len(factor[0].values) for factor in factors_of([*self._axes.values()], self._draft.together))
        number = points * suite.repeat * suite.loop * len(suite.tests)
        if number > MOST_CASES:
            at = self._node.at if self._node.entries else self._draft.tree.at
            told = " x ".join(
                counted(count, word)
                for count, word in (
                    (points, "point"),
                    (suite.repeat, "repeat"),
                    (suite.loop, "loop"),
                    (len(suite.tests), "test"),
                )
            )
            self._problems.add(at, f"{told} make {number} cases", f"at most {MOST_CASES}", "vary less at a time")

    def _check_at(self, criterion: BoundPart[CriterionSpec]) -> None:
        node = criterion.node.entries.get("at")
        for item in node.items if isinstance(node, Sequence) else []:
            if not isinstance(item, Mapping):
                continue
            for name, value in item.entries.items():
                self._check_point(name, value, item)

    def _check_point(self, name: str, value: Node, item: Mapping) -> None:
        axis = self._axes.get(name)
        if axis is None:
            expected = near(name, self._axes, "one of `scan`")
            self._problems.add(item.keys[name], f"there is no axis {shown(name)}", expected)
            return
        texts = [text_of(each) for each in axis.values]
        wanted = text_of(plain(value))
        if wanted not in texts:
            self._problems.add(value.at, f"{shown(wanted)} is not a value of {name}", near(wanted, texts))
