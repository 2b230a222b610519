"""The exception tree. Every message has three parts: what happened, what was expected, what to do next.

PileupError
├── UsageError           the command line is wrong (exit 2)
├── SuiteError           the suite file is wrong; carries every problem found (exit 3)
├── PluginError          a plug-in cannot be found, loaded or used (exit 3)
│   └── UnknownPluginError   there is none of that name
├── TargetError          a target cannot be reached or started (exit 5)
├── RecordError          a run folder cannot be written (exit 70)
│   ├── NotARun          what was named is not a run folder, or not one that fits (exit 2)
│   └── DamagedRecord    a run folder holds what pileup does not write there (exit 3)
└── Verdict exceptions, raised by tests inside an iteration
    ├── Failed           the system did the wrong thing
    │   ├── NotThere     there is no such object
    │   ├── ThereAlready there is such an object already
    │   └── NoListing    the target lists no folders
    ├── Refused          the system refused
    └── Ambiguous        no answer: it may have happened
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from pileup.model.cause import Cause
from pileup.model.exits import ExitCode
from pileup.model.problem_codes import ProblemCode


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a file."""

    file: str
    line: int
    column: int
    source: str = ""
    """The line itself; empty where it holds a secret, or cannot be shown."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake in a file: where it is, what was found, what was expected, what to do."""

    where: str
    """`file:line:column`, or `--set NAME` for a value from the command line."""
    what: str
    expected: str = ""
    hint: str = ""
    code: ProblemCode = ProblemCode.WRONG_VALUE
    place: Place | None = None
    """None for a value from the command line."""

    @property
    def text(self) -> str:
        """What is wrong, without where it is."""
        return join_parts(self.what, self.expected, self.hint)

    def __str__(self) -> str:
        return f"{self.where}: {self.text}"


def join_parts(what: str, expected: str = "", hint: str = "") -> str:
    """Join the three parts of a message into one line."""
    text = what
    if expected:
        text += f"; expected {expected}"
    if hint:
        text += f" ({hint})"
    return text


class PileupError(Exception):
    """Base of every error that pileup raises on purpose."""

    exit_code: ClassVar[ExitCode] = ExitCode.INTERNAL

    def __init__(self, what: str, expected: str = "", hint: str = "") -> None:
        super().__init__(join_parts(what, expected, hint))
        self.what = what
        self.expected = expected
        self.hint = hint


class UsageError(PileupError):
    """The command line is wrong."""

    exit_code = ExitCode.USAGE


class SuiteError(PileupError):
    """The suite is wrong; `problems` lists every mistake found, in the order of the file."""

    exit_code = ExitCode.SUITE_INVALID
    about: ClassVar[str] = "the suite"
    """What is wrong, as messages call it."""
    remedy: ClassVar[str] = (
        "fix the file; `pileup describe suite` lists the allowed keys, `pileup describe CODE` explains a [code]"
    )

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        self.problems = problems
        super().__init__("\n".join(str(problem) for problem in problems))


class PluginError(PileupError):
    """A plug-in cannot be found, loaded or used."""

    exit_code = ExitCode.SUITE_INVALID


class UnknownPluginError(PluginError):
    """There is no plug-in of that name; `near` are the nearest names, the best first."""

    def __init__(self, what: str, expected: str = "", hint: str = "", near: tuple[str, ...] = ()) -> None:
        super().__init__(what, expected, hint)
        self.near = near


class TargetError(PileupError):
    """A target cannot be reached or started."""

    exit_code = ExitCode.TARGET_UNREACHABLE


class RecordError(PileupError):
    """A run folder cannot be written, or what it holds cannot be read."""


class NotARun(RecordError):
    """What was named on the command line is not a run folder, or not one that fits what is to be done with it."""

    exit_code = ExitCode.USAGE


class DamagedRecord(RecordError):
    """A run folder holds what pileup does not write there: it is damaged, was changed, or is of a newer release."""

    exit_code = ExitCode.SUITE_INVALID


class VerdictException(PileupError):
    """Ends an iteration or an operation with an outcome; raised by tests, never by the harness."""

    cause: Cause = Cause.NONE
    """Why, where more is known than the message; it is in the record."""

    def because(self, cause: Cause) -> Self:
        """Return the same exception with its cause."""
        self.cause = cause
        return self


class Failed(VerdictException, AssertionError):
    """The system did the wrong thing."""


class NotThere(Failed):
    """There is no such object. For clean-up it means that nothing is left to remove, whatever the text; a delete with
    `missing_ok` passes.
    """


class ThereAlready(Failed):
    """There is such an object already; passes a step with `missing_ok` that makes a folder."""


class NoListing(Failed):
    """The target lists no folders: what is in one is not known. Clean-up removes what it knows by name then."""


class Refused(VerdictException):
    """The system refused."""


class Ambiguous(VerdictException):
    """No answer came: the act may or may not have happened."""
