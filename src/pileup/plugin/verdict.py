"""Decides the outcome of an iteration of a Python test from its result, the same in a run and in a unit test."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from pileup.model.errors import Ambiguous, Refused, VerdictException
from pileup.model.record import Outcome
from pileup.plugin import asserts
from pileup.plugin.outcomes import meaning_of

if TYPE_CHECKING:
    from pileup.plugin.test import Test

SHOWN = 100
"""Longest value shown in a message."""
Verdict = tuple[Outcome, str]
"""The outcome and the message for people, empty when passed."""
LONGEST = 500
"""Characters of a message that the record keeps; a longer one is shortened before the user's line."""
NO_ANSWER = "no answer in time"
NO_REASON = "the test failed without a reason"
PACKAGE = str(Path(__file__).resolve().parent.parent)
LIBRARIES = "/lib/python"
"""Parts of the paths of the interpreter's files and of installed packages."""


def verdict_of(result: object) -> Verdict:
    """Return the outcome of a `run` that returned: None and True mean passed."""
    if result is None or result is True:
        return Outcome.PASSED, ""
    return (
        Outcome.FAILED,
        f"the test returned {_shown(result)}; expected nothing, or an exception that says what failed",
    )


class Judge:
    """The outcome of an exception in a test: by its class, or as its targets declare."""

    def __init__(self, test: Test | None = None) -> None:
        self._targets = _targets_of(test)
        self._home = _home_of(type(test)) if test is not None else ""

    def __call__(self, problem: BaseException) -> Verdict:
        """Return the outcome of an iteration or an operation that ended with this exception, and its message.

        The message of an unexpected exception has the user's line. Never raises.
        """
        if isinstance(problem, VerdictException):
            return self._meant(problem)
        outcome, unclear = self._mapped(problem)
        if outcome is not None or unclear:
            return outcome or Outcome.FAILED, mistake(problem, self._home) + unclear
        return self._plain(problem)

    def _meant(self, problem: VerdictException) -> Verdict:
        match problem:
            case Refused():
                return Outcome.REFUSED, words(problem)
            case Ambiguous():
                return Outcome.AMBIGUOUS, words(problem) or NO_ANSWER
        return Outcome.FAILED, words(problem) or self._placed(NO_REASON, problem)

    def _plain(self, problem: BaseException) -> Verdict:
        from asyncio import CancelledError  # noqa: PLC0415  who raises it has it; others need not wait for asyncio

        match problem:
            case TimeoutError() | CancelledError():
                return Outcome.AMBIGUOUS, self._placed(words(problem) or NO_ANSWER, problem)
            case AssertionError():
                told = words(problem) or asserts.told(problem.__traceback__) or NO_REASON
                return Outcome.FAILED, self._placed(told, problem)
            case SystemExit():
                return Outcome.FAILED, self._placed(f"the test called exit({problem.code})", problem)
        return Outcome.FAILED, mistake(problem, self._home)

    def users_line(self, trace: TracebackType | None) -> TracebackType | None:
        """Return the innermost entry of a traceback in the user's code; None if there is none."""
        return users_line(trace, self._home)

    def is_users(self, file_name: str) -> bool:
        """Whether a file of code is the user's own."""
        return is_users(file_name, self._home)

    def _placed(self, told: str, problem: BaseException) -> str:
        return _placed(told, problem.__traceback__, self._home)

    def _mapped(self, problem: BaseException) -> tuple[Outcome | None, str]:
        """Return the outcome that a target gives an exception (None: none does), and what went wrong when asking."""
        for target in self._targets:
            asked = f"; outcome_of of target {target.kind!r}"
            try:
                told = meaning_of(target, problem)
            except Exception as wrong:
                return None, f"{asked} failed: {mistake(wrong, self._home)}"
            if isinstance(told, Outcome):
                return told, ""
            if told is not None:
                return None, f"{asked} returned {_shown(told)}, expected an Outcome or None"
        return None, ""


def _targets_of(test: Test | None) -> tuple[Any, ...]:
    """Return the targets of a test that say what an exception means."""
    targets = (getattr(test, "target", None), *getattr(test, "targets", {}).values())
    return tuple(dict.fromkeys(each for each in targets if hasattr(each, "outcome_of")))


def _home_of(cls: type) -> str:
    """Return where the code of a test is: the folder of its package, or its file; empty for built-in tests."""
    module = sys.modules.get(cls.__module__.partition(".")[0])
    folders: Sequence[str] = getattr(module, "__path__", None) or ()
    home = next(iter(folders), None) or getattr(module, "__file__", None) or ""
    return "" if home.startswith(PACKAGE) else home


_NO_TEST = Judge()


def verdict_on(problem: BaseException) -> Verdict:
    """The same, without test and target."""
    return _NO_TEST(problem)


def mistake(problem: BaseException, home: str = "") -> str:
    """Describe an unexpected exception: its class, its message, and the user's line."""
    name, told = type(problem).__name__, words(problem)
    return _placed(f"{name}: {told}" if told else name, problem.__traceback__, home)


def words(problem: BaseException) -> str:
    """Return the message of an exception, even if its `__str__` fails."""
    try:
        return str(problem).encode(errors="backslashreplace").decode()
    except Exception:
        return "(its message cannot be shown)"


def _shown(result: object) -> str:
    """Return a short text of a value."""
    try:
        text = repr(result)
    except Exception:
        text = f"a {type(result).__name__}"
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "\u2026"


def _placed(told: str, trace: TracebackType | None, home: str) -> str:
    """Return a message followed by the user's line in brackets, if there is one."""
    found = users_line(trace, home)
    if found is None:
        return told
    where = f" ({place(found.tb_frame.f_code.co_filename, found.tb_lineno)})"
    room = LONGEST - len(where)
    return (told if len(told) <= room else told[: room - 1] + "\u2026") + where


def place(file_name: str, line: int) -> str:
    """Return a short text of a line of code."""
    return f"{os.path.basename(file_name)}:{line}"  # noqa: PTH119  it is asked of each failure: a Path takes longer


def users_line(trace: TracebackType | None, home: str = "") -> TracebackType | None:
    """Return the innermost entry of a traceback that is neither pileup's nor a library's; `home` is the user's own."""
    found = None
    while trace is not None:
        if is_users(trace.tb_frame.f_code.co_filename, home):
            found = trace
        trace = trace.tb_next
    return found


@lru_cache(4096)
def is_users(file_name: str, home: str = "") -> bool:
    """Whether a file of code is the user's own."""
    if home and file_name.startswith(home):
        return True
    return not file_name.startswith((PACKAGE, "<")) and LIBRARIES not in file_name
