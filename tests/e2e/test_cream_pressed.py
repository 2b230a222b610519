"""Suites that press a real ARC: more jobs than its batch system takes, and delegations for each job."""

from pathlib import Path

import pytest

from tests.e2e.cream import ended, sure
from tests.servers.arc import PROGRAMS
from tests.support import require_programs


@pytest.mark.long
def test_an_overloaded_arc_refuses_nothing_and_hands_over_what_fits(tmp_path: Path) -> None:
    require_programs(PROGRAMS)
    values = {"rate": "20 /s", "pressed": "7 s", "backlog": "50", "again": "15 s"}
    results, code, said = ended("cream-overload", values, tmp_path)
    found = sure(results)
    expected = {
        "O": "met",
        "O-refuses": "not met",
        "O-hands": "met",
        "O-lost": "met",
    }
    assert {name: found[name] for name in expected} == expected, said
    assert code == 4, said
    overload = next(case for case in results["cases"] if case["test"] == "overload")
    assert overload["operations"][0]["counts"]["passed"] == 140, "it takes what its batch system cannot"


@pytest.mark.long
def test_a_delegation_for_each_job_costs_more_than_a_shared_one(tmp_path: Path) -> None:
    require_programs(PROGRAMS)
    results, code, said = ended("cream-delegation", {"pairs": "2", "jobs": "8"}, tmp_path)
    assert code == 0, said
    assert sure(results) == {"S": "met", "A": "met", "D": "met"}
    delegated = {
        kind: sum(
            sum(operation["counts"].values())
            for case in results["cases"]
            if case["test"] == "submit" and case["point"] == {"submit.delegation": kind}
            for operation in case["operations"]
            if operation["operation"] == "delegate"
        )
        for kind in ("shared", "per-job")
    }
    assert delegated == {"shared": 0, "per-job": 16}
