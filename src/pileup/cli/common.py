"""What several commands share: arguments made into paths, values and mappings."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pileup.model.errors import SuiteError, UsageError

if TYPE_CHECKING:
    from pydantic import BaseModel

    from pileup.model.plan import Plan

SHIPPED = "suite:"
SHOWN = 5
"""Suites named of a folder."""
TRUST = "Although your registry of runs does not know it: what its suite and its journal say is done."
Model = TypeVar("Model", bound="BaseModel")


def shipped_folder() -> Path:
    """Return the folder of the suites that come with pileup: in the package, else `examples/` of the repository."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "suites"
    return installed if installed.is_dir() else package.parent.parent / "examples"


def suite_path(suite: str) -> Path:
    """Return the file of a suite: a path, or `suite:NAME` for a shipped one. Raises UsageError when there is none."""
    if not suite.startswith(SHIPPED):
        path = Path(suite)
        if "\0" not in suite and path.is_dir():
            found = sorted(each.name for each in path.glob("*.yaml"))[:SHOWN]
            hint = f"in it: {', '.join(found)}" if found else "name the file in it"
            raise UsageError(f"{suite!r} is a folder", "the file of a suite", hint)
        if "\0" in suite or not path.is_file():
            expected = "a suite, or suite:NAME for one that comes with pileup"
            raise UsageError(f"there is no file {suite!r}", expected, "is the path right?")
        return path
    folder = shipped_folder()
    known = {path.stem: path for path in sorted(folder.glob("*.yaml"))}
    known |= {path.name: path for path in sorted(folder.glob("*.xml"))}
    name = suite.removeprefix(SHIPPED)
    if name not in known:
        raise UsageError(
            f"there is no shipped suite {name!r}",
            f"one of {', '.join(known) or '(none is installed)'}",
            "or the path of your own",
        )
    return known[name]


def with_ssh(plan: Plan) -> Plan:
    """Return the plan with the ssh command of $PILEUP_SSH, unless the suite names one."""
    command, places = os.environ.get("PILEUP_SSH"), plan.suite.places
    if not command or places.command:
        return plan
    changed = places.model_copy(update={"command": command})
    return replace(plan, suite=plan.suite.model_copy(update={"places": changed}))


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
            f"{option} {text[:60]!r} is no mapping", "names with values", "e.g. '{threads: 8, service: 20 ms}'"
        )
    data: dict[str, object] = plain(tree)
    return data


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
        raise UsageError(_joined(problems.error()), "settings that go together", "see --help") from problem


def _joined(problem: SuiteError) -> str:
    return "; ".join(each.text for each in problem.problems)
