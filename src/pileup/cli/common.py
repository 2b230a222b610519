"""What several commands share: arguments made into values and mappings, the files that they have written."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pileup.cli.messages import echo
from pileup.model.errors import SuiteError, UsageError

if TYPE_CHECKING:
    from pydantic import BaseModel

    from pileup.cli.data import WrittenData

TRUST = "Although your registry of runs does not know it: what its suite and its journal say is done."
Model = TypeVar("Model", bound="BaseModel")


def parse_settings(settings: Iterable[str]) -> dict[str, str]:
    """Return `NAME=VALUE` words as a dictionary; the last of a name counts. Raises UsageError."""
    values = {}
    for word in settings:
        name, sign, value = word.partition("=")
        if not sign or not name.strip():
            raise UsageError(
                f"--set {word!r} sets nothing", "NAME=VALUE", "e.g. clients=10 or targets.se.url=https://…"
            )
        values[name.strip()] = value
    return values


def parse_mapping(text: str, option: str) -> dict[str, object]:
    """Return a YAML mapping given on the command line as plain data whose scalars are text. Raises UsageError."""
    from pileup.suite.bind import plain
    from pileup.suite.formats.tree import Mapping
    from pileup.suite.formats.yaml_reader import read_yaml
    from pileup.suite.problems import Problems

    problems = Problems(option)
    tree = read_yaml(text.encode("utf-8", "replace"), problems, option, 1)
    if problems:
        problem = problems.error().problems[0]
        raise UsageError(f"{option}: {problem.what}", problem.expected, problem.hint)
    if not isinstance(tree, Mapping):
        raise UsageError(
            f"{option} {text[:60]!r} is not a mapping", "names with values", "e.g. '{threads: 8, service: 20 ms}'"
        )
    data: dict[str, object] = plain(tree)
    return data


def print_files(files: Iterable[Path], as_json: bool) -> None:
    """Print the files that are written, a line each as soon as it is there, or all as one JSON object."""
    written: list[str] = []
    for path in files:
        written.append(str(path))
        if not as_json:
            echo(path)
    if as_json:
        told: WrittenData = {"files": written}
        echo(json.dumps(told, indent=2))


def validated(model: type[Model], data: dict[str, object]) -> Model:
    """Return data from the command line as a model. Raises UsageError that names every wrong word."""
    from pydantic import ValidationError

    from pileup.suite.bind import tree_of
    from pileup.suite.problem_texts import report
    from pileup.suite.problems import Problems

    try:
        return model.model_validate(data)
    except ValidationError as problem:
        problems = Problems("")
        report(problem, tree_of(data), model, problems)
        raise _usage(problems.error()) from problem


def _usage(problem: SuiteError) -> UsageError:
    """Return the parts of the one thing that is wrong, or all of several in a line."""
    hint = "see --help"
    if len(problem.problems) == 1 and (one := problem.problems[0]).expected:
        return UsageError(one.what, one.expected, one.hint or hint)
    return UsageError("; ".join(each.text for each in problem.problems), "settings that go together", hint)
