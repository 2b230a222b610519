"""Run a command and judge it."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, SecretStr

from pileup.builtin.monitors.numbers import Patterns, find_number
from pileup.plugin import FIELDS, Failed, Finished, Op, Test, option, run_command, split_command


def _clean_environment(environment: dict[str, SecretStr]) -> dict[str, SecretStr]:
    for name, value in environment.items():
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or "\0" in value.get_secret_value():
            raise ValueError(f"{name!r} is not a name of a variable; expected letters, digits and underscores")
    return environment


class Command(Test):
    """Run a command and judge it by its exit code, its output, and numbers in its output.

    The command runs without a shell (unless `shell: true`) in a process group of its own. At the timeout of the test
    the group gets SIGTERM and two seconds later SIGKILL, and the iteration is ambiguous. Processes that the command
    leaves in its group are ended too. stdout and stderr are kept with the case, up to 1 MiB of each in an iteration.

    Regular expressions with one group find numbers in the output. They are recorded as samples with the name of the
    test, so that a criterion can use them: with `numbers: {speed: "([0-9.]+) MB/s"}` in a test `copy`, `min(copy.speed)
    > 200`. Each number must be found. The first match counts, in stdout, then in stderr.

    For `equivalent`, its answer is what it writes to stdout.
    """

    name = "command"

    command: str | list[str] = option(
        help="the program and its arguments: a list, or a text that is split at spaces as a shell does"
    )
    shell: bool = option(False, help="run the command with /bin/sh: pipes, variables, wildcards")
    exit_code: int | list[int] = option(0, help="exit code, or list of them, that passes; negative for a signal")
    contains: str | None = option(None, help="text that must occur in the first MiB of stdout or of stderr")
    not_contains: str | None = option(None, help="text that must occur in neither (first MiB of each)")
    stdin: str = option("", help="text that the command gets on its standard input")
    environment: Annotated[dict[str, SecretStr], AfterValidator(_clean_environment)] = option(
        {}, help="environment variables besides those that pileup itself has"
    )
    folder: str = option("", help="folder in which it runs, relative to the suite; when left out, that of the suite")
    numbers: Patterns = option(
        {}, help="name of a number: regular expression with one group that finds it in the output"
    )
    units: dict[str, str] = option({}, help="name of a number: its unit, for charts")
    at_least: dict[str, float] = option({}, help="name of a number: the iteration fails when it is smaller")
    at_most: dict[str, float] = option({}, help="name of a number: the iteration fails when it is larger")

    def check(self) -> None:
        """Refuse a command that cannot be split, and bounds or units of numbers that are not picked."""
        self._words = split_command(self.command, self.shell)
        unknown = sorted((self.units.keys() | self.at_least.keys() | self.at_most.keys()) - self.numbers.keys())
        hidden = sorted(self.numbers.keys() & set(FIELDS))
        if hidden:
            what = f"a number is called {hidden[0]!r}, as a field of every test is"
            raise ValueError(f"{what}; expected another name, so that checks can use it")
        if unknown:
            raise ValueError(
                f"no number is called {unknown[0]!r}; expected one of {sorted(self.numbers)} (see `numbers`)"
            )

    def run(self, op: Op) -> None:
        """Run it once."""
        folder = self.context.folder / self.folder
        if not folder.is_dir():
            raise Failed(
                f"there is no folder {self.folder!r} to run in", "a folder, relative to the suite", "see `folder`"
            )
        finished = run_command(
            self._words,
            timeout=self.context.timeout,
            exit_code=None,
            stdin=self.stdin,
            environment={name: value.get_secret_value() for name, value in self.environment.items()},
            folder=folder,
        )
        self.answer([finished.stdout.text()])
        finished.expect(self.exit_code, self.contains, self.not_contains)
        self._pick(finished)

    def _pick(self, finished: Finished) -> None:
        """Report every number that is there, then complain about the others."""
        faults = []
        for name, pattern in self.numbers.items():
            value = find_number(pattern, (finished.stdout.text(), finished.stderr.text()))
            if value is None:
                faults.append(f"no number {name!r} in the output, expected a match of {pattern}")
                continue
            self.report(name, value, self.units.get(name, ""))
            if value < self.at_least.get(name, value):
                faults.append(f"{name} is {value:g}, expected at least {self.at_least[name]:g}")
            if value > self.at_most.get(name, value):
                faults.append(f"{name} is {value:g}, expected at most {self.at_most[name]:g}")
        self.expect(not faults, "; ".join(faults))
