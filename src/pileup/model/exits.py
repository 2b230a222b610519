"""Exit codes of the program, one per kind of ending."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of the process; only `probe` uses Nagios' 0 to 3. 70 and 74 are those of sysexits.h."""

    PASSED = 0
    CASE_FAILED = 1
    USAGE = 2
    SUITE_INVALID = 3
    CRITERION_NOT_MET = 4
    TARGET_UNREACHABLE = 5
    STOPPED_BY_USER = 6
    STOPPED_BY_LIMIT = 7
    UNKNOWN = 8
    INTERNAL = 70
    OUTPUT_LOST = 74


PRECEDENCE = (
    ExitCode.INTERNAL,
    ExitCode.STOPPED_BY_USER,
    ExitCode.STOPPED_BY_LIMIT,
    ExitCode.TARGET_UNREACHABLE,
    ExitCode.CASE_FAILED,
    ExitCode.CRITERION_NOT_MET,
    ExitCode.UNKNOWN,
)
"""Exit codes by priority: a failure counts, whatever else is not known."""


def combine(codes: Iterable[ExitCode]) -> ExitCode:
    """Return the most important of several codes; PASSED when there is none."""
    found = set(codes)
    return next((code for code in PRECEDENCE if code in found), ExitCode.PASSED)
