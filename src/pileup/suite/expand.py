"""Tests to cases: each at the points, repeats and loops of its scope, with what it needs and runs alongside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError

from pileup.model.plan import WHOLE, Case
from pileup.model.suite import Suite, TestSpec
from pileup.suite.coupling import Groups
from pileup.suite.order import order
from pileup.suite.paths_by_place import path_settings
from pileup.suite.problem_texts import first_words
from pileup.suite.scan import Axis, axes_of, points_of, settings_at, test_at, text_of, visits
from pileup.suite.variants import Variants

OptionsOf = Callable[[TestSpec], set[str]]


@dataclass(frozen=True, slots=True)
class _Visit:
    """One stay at a point."""

    number: int
    loop: int
    repeat: int
    point: int


@dataclass(slots=True)
class _Made:
    """Cases of one loop by (test, point, repeat); point and repeat are 0 if the scope does not distinguish them."""

    found: dict[tuple[str, int, int], int] = field(default_factory=dict)
    by_test: dict[str, list[int]] = field(default_factory=dict)

    def add(self, test: str, point: int, repeat: int, number: int) -> None:
        self.found[test, point, repeat] = number
        self.by_test.setdefault(test, []).append(number)


class Expansion:
    """Makes the cases of a suite. `options_of` says which options a test has.

    `together` are axes that are varied together, `variants` the suite at the values of scanned variables.
    """

    def __init__(
        self, suite: Suite, options_of: OptionsOf, together: Groups = (), variants: Variants | None = None
    ) -> None:
        self._suite = suite
        self._variants = variants or Variants()
        self._launched = sorted(self._variants.launch_settings())
        self._options = {test.name: options_of(test) for test in suite.tests}
        self._axes: list[Axis] = axes_of(suite)
        self._points = points_of(self._axes, together)
        self._tests = {test.name: _scoped(test, suite) for test in suite.tests}
        self._order = order({name: test.after for name, test in self._tests.items()})
        self._by_place: dict[int, list[tuple[str, str, object]]] = {}
        self._cases: list[Case] = []

    def cases(self) -> tuple[Case, ...]:
        """Return the cases in the order in which they begin, except roles, which begin with others.

        Raises ValueError where the words of a load do not go together at a point.
        """
        number = 0
        for loop in range(1, self._suite.loop + 1):
            made = _Made()
            before, after = self._of_run()
            self._add(before, None, loop, made)
            for repeat, point in visits(len(self._points), self._suite.repeat):
                inside = [name for name in self._order if self._inside(name, repeat)]
                self._add(inside, _Visit(number, loop, repeat, point), loop, made)
                number += 1
            self._add(after, None, loop, made)
        return tuple(self._cases)

    def points(self) -> tuple[dict[str, str], ...]:
        """Return the points as texts; none without a scan."""
        if not self._axes:
            return ()
        return tuple({name: text_of(value) for name, value in point.items()} for point in self._points)

    def _inside(self, name: str, repeat: int) -> bool:
        scope = self._tests[name].scope
        return scope == "case" or (scope == "point" and repeat == 1)

    def _of_run(self) -> tuple[list[str], list[str]]:
        """Return tests done once before all points, and those done once after them because they need some."""
        late: set[str] = set()
        for name in self._order:
            test = self._tests[name]
            needed = (*test.after, *test.with_)
            if test.scope == "run" and any(self._tests[each].scope != "run" or each in late for each in needed):
                late.add(name)
        once = [name for name in self._order if self._tests[name].scope == "run"]
        return [name for name in once if name not in late], [name for name in once if name in late]

    def _add(self, names: list[str], visit: _Visit | None, loop: int, made: _Made) -> None:
        first = len(self._cases)
        for name in names:
            case = self._case(name, visit, loop, made)
            made.add(name, *_place(self._tests[name].scope, visit), case.id)
            self._cases.append(case)
        for place, case in enumerate(self._cases[first:], first):
            if case.role:
                beside = [found for name in case.test.with_ for found in self._matching(name, visit, made)]
                self._cases[place] = replace(case, beside=tuple(sorted(set(beside))))

    def _case(self, name: str, visit: _Visit | None, loop: int, made: _Made) -> Case:
        test = self._tests[name]
        needed = {number for each in test.after for number in self._matching(each, visit, made)}
        number = len(self._cases) + 1
        if visit is None:
            label = name + _suffix(loop)
            if any(self._of(each, name) != test for each in self._variants.suites.values()):
                what = f"the variables of the scan change test {name!r}, which is done once for all points"
                raise ValueError(f"{what}; expected `scope: point` or `scope: case`")
            return Case(number, label, test, tuple(sorted(needed)), loop=loop)
        point = self._points[visit.point]
        words = {axis: text_of(value) for axis, value in point.items()}
        repeat = f"#{visit.repeat}" if self._suite.repeat > 1 and test.scope == "case" else ""
        label = f"{_labelled(name, words)}{repeat}{_suffix(loop)}"
        variant = self._variants.at(words, self._suite)
        return Case(
            number,
            label,
            self._at_point(name, visit.point, variant),
            tuple(sorted(needed)),
            loop=loop,
            repeat=visit.repeat,
            visit=visit.number,
            point=words,
            settings=settings_at(self._axes, point, (*self._paths(visit.point, variant), *self._launch(variant))),
        )

    def _at_point(self, name: str, number: int, variant: Suite) -> TestSpec:
        """Return a test with what the axes change. Raises ValueError where words of its load do not go together."""
        point = self._points[number]
        try:
            return test_at(self._of(variant, name), self._axes, point, self._options[name])
        except ValidationError as problem:
            words = {axis: text_of(value) for axis, value in point.items()}
            raise ValueError(f"{_labelled(name, words)}: {first_words(problem)}") from problem

    def _paths(self, number: int, variant: Suite) -> list[tuple[str, str, object]]:
        """Return target, setting and value of paths that differ by place, for the place that runs a point."""
        if number not in self._by_place:
            inside = [name for name, test in self._tests.items() if test.scope != "run"]
            tests = [self._at_point(name, number, variant) for name in inside]
            self._by_place[number] = list(path_settings(self._suite, tests))
        return self._by_place[number]

    def _launch(self, variant: Suite) -> Iterator[tuple[str, str, object]]:
        """Yield target, setting and value of what of `launch` follows from variables."""
        for target, word in self._launched:
            yield target, word, (variant.targets[target].launch or {})[word]

    def _of(self, variant: Suite, name: str) -> TestSpec:
        """Return a test of a variant, with what of that suite itself differs: options and environment."""
        if variant is self._suite:
            return self._tests[name]
        test = _scoped(variant.test(name), variant)
        options = {
            word: value
            for word, value in variant.options.items()
            if word in self._options[name] and value != self._suite.options.get(word)
        }
        if options:
            test = test.model_copy(update={"options": {**options, **test.options}})
        if test.environment is None and variant.environment != self._suite.environment:
            test = test.model_copy(update={"environment": variant.environment})
        return test

    def _matching(self, name: str, visit: _Visit | None, made: _Made) -> Iterator[int]:
        """Yield the cases of a test that a case of this visit means: those of its point and repeat, else all."""
        if visit is None:
            yield from made.by_test.get(name, [])
            return
        found = made.found.get((name, *_place(self._tests[name].scope, visit)))
        if found is not None:
            yield found


def _scoped(test: TestSpec, suite: Suite) -> TestSpec:
    """Give a role the scope of those that it runs alongside."""
    if not test.with_:
        return test
    scope: Any = next((each.scope for each in suite.tests if each.name == test.with_[0]), test.scope)
    return test.model_copy(update={"scope": scope})


def _place(scope: str, visit: _Visit | None) -> tuple[int, int]:
    if visit is None or scope == "run":
        return WHOLE, 0
    return visit.point, (visit.repeat if scope == "case" else 0)


def _labelled(name: str, words: dict[str, str]) -> str:
    shown = ",".join(f"{axis}={value}" for axis, value in words.items())
    return f"{name}[{shown}]" if shown else name


def _suffix(loop: int) -> str:
    return f"~{loop}" if loop > 1 else ""
