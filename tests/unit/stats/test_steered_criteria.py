"""Criteria on what was held or found, where the generator was the limit."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from pileup.stats.cases import CaseData
from pileup.stats.criteria import Criteria
from pileup.stats.monitors import Whole

AGAIN = {"passed": None, "limited": True}
FIND = {"trials": [{"passed": False, "limited": True}], "measuring": 1}


@pytest.mark.parametrize(
    ("metric", "more", "limited", "verdict"),
    [
        ("found_low", {"find": FIND}, False, "unknown"),
        ("found_low", {"find": {"trials": [{"passed": False}], "measuring": 1}}, True, "not met"),
        ("found_low", {"find": {"trials": [{"passed": None, "limited": True}], "measuring": 1}}, True, "unknown"),
        ("found_low", {"find": {"trials": [AGAIN, {"passed": False}], "measuring": 1}}, True, "not met"),
        ("held_value", {"hold": {}}, True, "unknown"),
        ("held_value", {"hold": {}}, False, "not met"),
    ],
)
def test_what_the_generator_limited_does_not_fail(
    metric: str, more: dict[str, Any], limited: bool, verdict: str
) -> None:
    info = {"id": 1, "name": "read", "test": "read", "load_kind": "open", "load": "open", **more}
    series = Whole("read", metric, "", "/s", "here", [1], [100.0])
    with duckdb.connect() as connection:
        limits = {"read": False} if limited else {}
        judge = Criteria([CaseData(info, [], None)], [series], connection, limits)
        asked = {"id": "C1", "says": "so", "coverage": "full", "at": None}
        found = judge.judge(asked | {"check": f"last(read.{metric}) >= 150 /s"})
        assert found.verdict == verdict, found
        if verdict == "unknown":
            assert found.reason == "the generator was the limit of read: the figure is not the system's"
        assert judge.judge(asked | {"check": f"last(read.{metric}) >= 50 /s"}).verdict == "met"
