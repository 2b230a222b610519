"""Variables: `$name` or `${name}` in any text of the suite; `$$` is a dollar. `= 2 * $name` is computed.

A variable may use those that come before it. A variable with no value must be set with `--set`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from pileup.model.problem_codes import ProblemCode
from pileup.suite.arithmetic import SIGN, compute
from pileup.suite.formats.tree import Mapping, Node, Scalar, walk
from pileup.suite.problems import Problems, near, parts, shown

LONGEST = 100_000
"""Characters of one text with its variables filled in."""
LARGEST = 4 * 1024 * 1024
"""Characters of all such texts."""

_USE = re.compile(r"\$(?:(\$)|([A-Za-z_][A-Za-z0-9_]*)|\{([^{}]*)\}|(\{))")


@dataclass(slots=True)
class _Variable:
    value: Scalar | None
    """None: the given value is not text, which the schema reports."""
    usable: bool = False
    """Whether the place in the file is after its definition."""


class _ToldError(Exception):
    """A variable cannot be used; the problem was reported."""


class Variables:
    """Fills variables into the texts of a tree, in place."""

    def __init__(self, tree: Mapping, problems: Problems) -> None:
        self._problems = problems
        self._length = 0
        self._broken = False
        """Whether the text at hand has a problem."""
        self._known: dict[str, _Variable] = {}
        node = tree.entries.get("variables")
        for name, value in (node.entries if isinstance(node, Mapping) else {}).items():
            self._known[name] = _Variable(value if isinstance(value, Scalar) else None)

    def fill(self, tree: Mapping) -> None:
        """Replace every use in the tree; the variables first, in their order."""
        for known in self._known.values():
            if known.value is not None:
                self._fill(known.value)
            known.usable = True
        for word, node in tree.entries.items():
            if word != "variables":
                self._fill_all(node)

    def _fill_all(self, node: Node) -> None:
        for _, scalar in walk(node):
            self._fill(scalar)

    def _fill(self, scalar: Scalar) -> None:
        computed = scalar.text.startswith(SIGN)
        if not computed and "$" not in scalar.text:
            return
        used: set[str] = set()
        text = self._computed(scalar, used) if computed else _USE.sub(self._replacer(scalar, used), scalar.text)
        self._length += len(text)
        if len(text) > LONGEST or self._length > LARGEST:
            told = "the text is too long with its variables filled in"
            self._problems.add(scalar.at, told, f"at most {LONGEST} characters")
            self._broken = True
        if self._broken:
            self._problems.spoil(scalar.at)
            text, self._broken = "", False
        scalar.text, scalar.quoted, scalar.variables = text, True, frozenset(used)

    def _computed(self, scalar: Scalar, used: set[str]) -> str:
        """Return what comes out of a text with a sign; "" when it has a problem, which is reported."""

        def value_of(name: str) -> str:
            value = self._value(name, scalar, f"${name}")
            if value is None:
                raise _ToldError
            used.update({name, *value.variables})
            return value.text

        try:
            return compute(scalar.text.removeprefix(SIGN), value_of)
        except _ToldError:
            return ""
        except ValueError as problem:
            self._problems.add(scalar.at, *parts(str(problem)))
            self._broken = True
            return ""

    def _replacer(self, scalar: Scalar, used: set[str]) -> Callable[[re.Match[str]], str]:
        def replace(match: re.Match[str]) -> str:
            if match[1]:
                return "$"
            name = match[2] or match[3] or ""
            value = self._value(name, scalar, match[0])
            if value is None:
                return ""
            used.update({name, *value.variables})
            return value.text

        return replace

    def _value(self, name: str, scalar: Scalar, written: str) -> Scalar | None:
        known = self._known.get(name)
        if known is None:
            names = [f"${each}" for each in self._known]
            expected = near(f"${name}", names, "a name from `variables`")
            self._problems.add(
                scalar.at,
                f"there is no variable {shown(written)}",
                expected,
                "write $$ for a dollar",
                code=ProblemCode.UNKNOWN_VARIABLE,
            )
        elif not known.usable:
            self._problems.add(
                scalar.at, f"the variable {shown(name)} is used before it has a value", "one that comes before"
            )
        elif known.value is not None and known.value.empty:
            self._problems.add(scalar.at, f"the variable {shown(name)} has no value", "one", f"--set {name}=VALUE")
        else:
            return known.value
        self._broken = True
        return None
