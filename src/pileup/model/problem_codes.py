"""Codes of mistakes in a suite: what kind of mistake each is, so that programs and people can look it up."""

from __future__ import annotations

from enum import StrEnum


class ProblemCode(StrEnum):
    """What kind of mistake is in a suite; the names stay as they are."""

    SYNTAX = "syntax"
    TOO_LARGE = "too-large"
    DUPLICATE_KEY = "duplicate-key"
    UNKNOWN_KEY = "unknown-key"
    MISSING_KEY = "missing-key"
    RESERVED_KEY = "reserved-key"
    WRONG_TYPE = "wrong-type"
    WRONG_QUANTITY = "wrong-quantity"
    OUT_OF_RANGE = "out-of-range"
    WRONG_VALUE = "wrong-value"
    BAD_NAME = "bad-name"
    DUPLICATE_NAME = "duplicate-name"
    UNKNOWN_NAME = "unknown-name"
    UNKNOWN_VARIABLE = "unknown-variable"
    VARIABLE = "wrong-variable"
    UNKNOWN_PLUGIN = "unknown-plugin"
    BROKEN_PLUGIN = "broken-plugin"
    UNKNOWN_OPTION = "unknown-option"
    WRONG_OPTION = "wrong-option"
    CONFLICT = "conflict"
    ORDER = "circular-order"
    TARGET = "wrong-target"
    CHECK = "wrong-check"
    LOAD = "wrong-load"
    SCAN = "wrong-scan"
    BESIDE = "wrong-role-or-fault"
    REPORT = "wrong-report"
    SET = "wrong-set"
    OVER_LIMIT = "over-limit"
    SECRET = "secret-in-scan"  # noqa: S105  what it is about
    NOT_SIMULATED = "not-simulated"
    ONLY_SIMULATED = "only-simulated"
