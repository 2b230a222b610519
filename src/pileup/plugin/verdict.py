"""From what a Python test returned or raised to the outcome of its iteration, the same in a run and in a unit test."""

from __future__ import annotations

import traceback
from pathlib import Path
from types import TracebackType

from pileup.model.errors import Ambiguous, Refused, VerdictException
from pileup.model.record import Outcome

SHOWN = 100
"""Longest value shown in a message."""
Verdict = tuple[Outcome, str]
"""The outcome and the message for people, empty when passed."""
PACKAGE = str(Path(__file__).resolve().parent.parent)


def verdict_of(result: object) -> Verdict:
    """Return the outcome of a `run` that came back: with nothing or True it passed."""
    if result is None or result is True:
        return Outcome.PASSED, ""
    return (
        Outcome.FAILED,
        f"the test returned {_shown(result)}; expected nothing, or an exception that says what failed",
    )


def verdict_on(problem: BaseException) -> Verdict:
    """Return the outcome of a `run` or an operation that ended with this exception; a mistake names the user's line."""
    match problem:
        case Refused():
            return Outcome.REFUSED, _words(problem)
        case Ambiguous() | TimeoutError():
            return Outcome.AMBIGUOUS, _words(problem) or "no answer in time"
        case VerdictException() | AssertionError():
            return Outcome.FAILED, _words(problem) or "the test failed without a reason"
        case SystemExit():
            return Outcome.FAILED, f"the test called exit({problem.code})"
    return Outcome.FAILED, mistake(problem)


def mistake(problem: BaseException) -> str:
    """Return an exception that nobody meant to raise: its class, its message, and the user's line."""
    return f"{type(problem).__name__}: {_words(problem)}{_where(problem.__traceback__)}"


def _words(problem: BaseException) -> str:
    """Return the message of an exception, which may be one that cannot tell it."""
    try:
        return str(problem)
    except Exception:
        return "(its message cannot be shown)"


def _shown(result: object) -> str:
    """Return a value in short."""
    try:
        text = repr(result)
    except Exception:
        text = f"a {type(result).__name__}"
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "\u2026"


def _where(trace: TracebackType | None) -> str:
    """Name the innermost line that is neither ours nor a library's: the user's own."""
    frames = [frame for frame in traceback.extract_tb(trace) if _is_users(frame.filename)]
    return f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""


def _is_users(file_name: str) -> bool:
    return not file_name.startswith(PACKAGE) and "/lib/python" not in file_name and not file_name.startswith("<")
