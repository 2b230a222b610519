"""What all rules about plug-ins share: finding a class, checking options against it, making it once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from pileup.model.by_place import BY_PLACE
from pileup.model.errors import PluginError, UnknownPluginError
from pileup.model.problem_codes import ProblemCode
from pileup.plugin.options import declared, options_model
from pileup.plugin.registry import user_mistake
from pileup.suite.bind import plain
from pileup.suite.formats.tree import Mapping, Node, Sequence, child, kind_of, where
from pileup.suite.problem_texts import report
from pileup.suite.problems import Position, Problems, near, parts, shown

Made = TypeVar("Made")


class Plugins:
    """Looks plug-ins up and makes them; an error becomes a problem at its position in the suite."""

    def __init__(self, folder: Path, problems: Problems) -> None:
        self.folder = folder
        self.problems = problems

    def find(self, find: Callable[[str, Path], type[Made]], name: str, node: Mapping, word: str) -> type[Made] | None:
        """Return the class that a word of `node` names, or probably means: then that is a problem."""
        at = where(node, (word,))
        try:
            return find(name, self.folder)
        except UnknownPluginError as problem:
            self.problems.add(at, problem.what, problem.expected, problem.hint, code=ProblemCode.UNKNOWN_PLUGIN)
            for near in problem.near[:1]:  # what was probably meant: its options have mistakes of their own
                with suppress(Exception):
                    return find(near, self.folder)
        except PluginError as problem:
            self.problems.add(at, problem.what, problem.expected, problem.hint, code=ProblemCode.UNKNOWN_PLUGIN)
        except Exception as problem:  # a package may raise anything
            told = f"{shown(name)} cannot be loaded: {type(problem).__name__}: {problem}"
            self.problems.add(at, told, "a plug-in that loads", code=ProblemCode.BROKEN_PLUGIN)
        return None

    def check_options(self, cls: type, options: Mapping, missing_at: Position, words: Iterable[str] = ()) -> bool:
        """Check options against the plug-in's declarations and return whether all are right.

        `words` are others that may be there, for the nearest name.
        """
        known = declared(cls)
        unknown = [name for name in options.entries if name not in known]
        for name in unknown:
            expected = near(name, (*known, *words)) or "nothing: it takes no options"
            told = f"{shown(called(cls))} has no option {shown(name)}"
            self.problems.add(options.keys[name], told, expected, code=ProblemCode.UNKNOWN_OPTION)
        kept = {name: value for name, value in options.entries.items() if name in known}
        good = Mapping(kept, options.at, options.keys)
        try:
            options_model(cls)(**plain(good))
        except ValidationError as problem:
            report(problem, good, options_model(cls), self.problems, missing_at)
            return False
        except Exception as problem:
            self._mistake(cls, problem, options.at)
            return False
        return not unknown

    def check_test_options(self, cls: type, options: Mapping, missing_at: Position) -> list[Mapping]:
        """Check the options of a test as each place of a fleet has them; return them, none when some are wrong."""
        known = self._at_places(options)
        right = [self.check_options(cls, each, missing_at) for each in known]
        return known if all(right) else []

    def _at_places(self, options: Mapping) -> list[Mapping]:
        """Return the options with the values of each place in the stead of `by_place`."""
        lists: dict[str, list[Node]] = {}
        for name, node in options.entries.items():
            values = child(node, BY_PLACE)
            if values is None or not isinstance(node, Mapping) or len(node.entries) > 1:
                continue
            if isinstance(values, Sequence) and values.items:
                lists[name] = values.items
            else:
                told = "empty" if isinstance(values, Sequence) else kind_of(values)
                self.problems.add(
                    values.at,
                    f"`{BY_PLACE}` is {told}",
                    "a list with the value of each place",
                    code=ProblemCode.WRONG_TYPE,
                )
                self.problems.spoil(node.at)
        count = max(map(len, lists.values()), default=1)
        values_at = ({name: each[place % len(each)] for name, each in lists.items()} for place in range(count))
        return [Mapping({**options.entries, **values}, options.at, options.keys) for values in values_at]

    def attempt(
        self, cls: type, act: Callable[[], object], node: Mapping, word: str = "", model: type[BaseModel] | None = None
    ) -> None:
        """Make or use a plug-in so that its own checks run; `model` is that of the node, when it has one."""
        begin = f"`{word}`: " if word else f"{shown(called(cls))}: "
        try:
            act()
        except ValidationError as problem:
            report(problem, node, model, self.problems)
        except ValueError as problem:
            what, expected = parts(str(problem))
            self.problems.add(node.at, begin + what, expected, code=ProblemCode.WRONG_OPTION)
        except Exception as problem:
            self._mistake(cls, problem, node.at)

    def _mistake(self, cls: type, problem: Exception, at: Position) -> None:
        """Report a plug-in's own mistake with its line."""
        file = getattr(sys.modules.get(cls.__module__), "__file__", None)
        told = user_mistake(problem, Path(file)) if file else f"{type(problem).__name__}: {problem}"
        self.problems.add(
            at, f"{shown(called(cls))} fails: {told}", "a plug-in without mistakes", code=ProblemCode.BROKEN_PLUGIN
        )


def called(cls: type) -> str:
    """Return the name that users know a plug-in by."""
    return str(getattr(cls, "kind", "") or getattr(cls, "name", "") or cls.__name__)
