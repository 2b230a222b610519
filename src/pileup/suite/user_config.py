"""The configuration of a user, read as a suite is: every mistake at once, each with its line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pydantic import ValidationError

from pileup.model.errors import SuiteError
from pileup.model.exits import ExitCode
from pileup.model.problem_codes import ProblemCode
from pileup.model.user_config import UserConfig
from pileup.suite.bind import words_of_mapping
from pileup.suite.formats.reading import read_file
from pileup.suite.formats.tree import Mapping, kind_of, where
from pileup.suite.formats.tree import Path as TreePath
from pileup.suite.formats.yaml_reader import read_yaml
from pileup.suite.problem_texts import report
from pileup.suite.problems import START, Problems
from pileup.suite.source_lines import shown_lines


class ConfigError(SuiteError):
    """The configuration of the user is wrong; `problems` lists every mistake found, in the order of the file."""

    exit_code = ExitCode.USAGE
    about: ClassVar[str] = "your configuration"
    remedy: ClassVar[str] = "fix the file; `pileup help config` lists the allowed keys"


@dataclass(frozen=True, slots=True)
class ReadConfig:
    """A configuration with where it was read."""

    path: Path
    config: UserConfig
    tree: Mapping

    def error(self, path: TreePath, what: str, expected: str, *, code: ProblemCode, key: bool = False) -> ConfigError:
        """Return the error that something in the file is wrong which only the commands know."""
        problems = Problems(str(self.path), code)
        problems.lines = lambda: shown_lines(self.path.read_bytes(), self.tree, self.path.parent)
        problems.add(where(self.tree, path, key), what, expected)
        return ConfigError(problems.error().problems)


def read_config(path: Path) -> ReadConfig:
    """Return the configuration in a file. Raises ConfigError."""
    problems = Problems(str(path), ProblemCode.SYNTAX)
    data = read_file(path, problems)
    tree = None if data is None else read_yaml(data, problems)
    if tree is None and data is not None and not problems:
        tree = Mapping({}, START)  # nothing but comments
    if isinstance(tree, Mapping):
        problems.lines = lambda: shown_lines(data or b"", tree, path.parent)
        values = words_of_mapping(tree, UserConfig, problems)
        try:
            config = UserConfig.model_validate(values)
        except ValidationError as problem:
            report(problem, tree, UserConfig, problems)
        if not problems:
            return ReadConfig(path, config, tree)
    elif not problems:
        problems.add(START, f"the file holds {kind_of(tree)}", "a mapping, e.g. `endpoints: {}`")
    raise ConfigError(problems.error().problems)
