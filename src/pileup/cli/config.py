"""The user's configuration on the command line: where it is, and what it says of options and endpoints.

An option wins over an environment variable, that over what a suite says, and that over the configuration. Nothing is
imported for it where there is no such file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from pileup.model.user_config import EndpointSpec
    from pileup.suite.user_config import ReadConfig

VARIABLE, RUNS = "PILEUP_CONFIG", "PILEUP_RUNS"


def config_path(environment: Mapping[str, str]) -> Path:
    """Return where the configuration is: $PILEUP_CONFIG, else pileup/config.yaml in $XDG_CONFIG_HOME or ~/.config."""
    if named := environment.get(VARIABLE):
        return Path(named)
    base = environment.get("XDG_CONFIG_HOME", "")
    return (Path(base) if base.startswith("/") else Path.home() / ".config") / "pileup" / "config.yaml"


def found_config() -> ReadConfig | None:
    """Return the configuration of the user; None without one. Raises ConfigError, or UsageError for a missing file."""
    path = config_path(os.environ)
    try:
        stamp = path.stat().st_mtime_ns
    except OSError:
        if os.environ.get(VARIABLE):
            from pileup.model.errors import UsageError

            told = f"${VARIABLE} names {str(path)!r}, which is not there"
            raise UsageError(told, "your configuration", "pileup help config") from None
        return None
    return _read(path, stamp)


@cache
def _read(path: Path, _stamp: int) -> ReadConfig:
    from pileup.suite.user_config import read_config

    return read_config(path)


def environment() -> Mapping[str, str]:
    """Return the environment, with the folder of runs as the configuration has it where no variable says it."""
    found = found_config()
    if found is None or found.config.runs is None or os.environ.get(RUNS):
        return os.environ
    runs = Path(found.config.runs).expanduser()
    return {**os.environ, RUNS: str(runs if runs.is_absolute() else found.path.parent / runs)}


def endpoints() -> Mapping[str, EndpointSpec]:
    """Return the endpoints of the configuration by their names."""
    found = found_config()
    return found.config.endpoints if found else {}


def defaults_of(command: click.Command, context: click.Context) -> dict[str, str | list[str]]:
    """Return what the configuration says of the options of a command, by parameter. Raises ConfigError."""
    found = found_config()
    if found is None:
        return {}
    _check_commands(found)
    known = {
        word.removeprefix("--"): each
        for each in command.params
        if isinstance(each, click.Option) and (not each.is_flag or each.is_bool_flag)
        for word in each.opts
    }
    given = found.config.defaults.get(context.info_name or "", {})
    return dict(_default(found, context, known, name, value) for name, value in given.items())


def _check_commands(found: ReadConfig) -> None:
    from pileup.cli.table import COMMANDS
    from pileup.model.problem_codes import ProblemCode
    from pileup.suite.problems import near, shown

    for name in found.config.defaults:
        if name not in COMMANDS:
            expected = near(name, COMMANDS, "a command")
            told = f"there is no command {shown(name)}"
            raise found.error(("defaults", name), told, expected, code=ProblemCode.UNKNOWN_NAME, key=True)


def _default(
    found: ReadConfig, context: click.Context, known: Mapping[str, click.Option], name: str, value: str | list[str]
) -> tuple[str, str | list[str]]:
    """Return a parameter with its value as click takes it. Raises ConfigError: no such option, or a wrong value."""
    from pileup.model.problem_codes import ProblemCode
    from pileup.suite.problems import near, shown

    path = ("defaults", context.info_name or "", name)
    option = known.get(name)
    if option is None:
        told = f"`{context.command_path}` has no option {shown(name)}"
        raise found.error(path, told, near(name, known), code=ProblemCode.UNKNOWN_OPTION, key=True)
    try:
        option.type_cast_value(context, value)
    except click.UsageError as problem:
        told = f"`{name}`: {problem.message.rstrip('.')}"
        expected = f"what `{context.command_path} --{name}` takes"
        raise found.error(path, told, expected, code=ProblemCode.WRONG_VALUE) from None
    return str(option.name), value
