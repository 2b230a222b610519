"""validate, plan, schema: what they print about a suite."""

import json
from pathlib import Path

import pytest

from pileup.cli import main

SUITE = """
pileup: 1
title: A short one
targets: {disk: {kind: posix}}
variables: {clients: 3}
limits: {duration: 2 min}
tests:
  - {name: copy, use: noop, after: [fill], load: {clients: $clients, ramp: 5 s, for: 10 s}}
  - {name: fill, use: storage.write, options: {files: 20, size: 1 MiB}}
  - {name: check, use: noop, load: {rate: 100 /s, arrivals: poisson, for: 10 s}}
monitors: [{use: node}]
criteria: [{id: C1, says: x, check: count(copy.passed) > 0}]
"""


@pytest.fixture
def suite(tmp_path: Path, fake_plugins: None) -> str:
    path = tmp_path / "suite.yaml"
    path.write_text(SUITE)
    return str(path)


def test_a_valid_suite_is_counted(suite: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", suite]) == 0
    assert capsys.readouterr().out == "valid: 3 tests, 1 target, 1 monitor, 1 criterion\n"


def test_every_fault_is_a_line(suite: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", suite, "--set", "clients=0", "--set", "tests.copy.timeout=5"]) == 3
    told = capsys.readouterr().err.splitlines()
    assert told == [
        f"{suite}:8:60: `clients` is '0'; expected at least 1",
        "--set tests.copy.timeout: `timeout`: '5' has no unit; expected a time like '30 s'",
        "error: the suite is not valid: 2 problems",
        "  fix the file; `pileup describe suite` lists the allowed keys",
    ]


@pytest.mark.parametrize("word", ["clients", "=3", " =3"])
def test_a_setting_without_name_or_value_is_wrong_usage(
    suite: str, word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["validate", suite, "--set", word]) == 2
    assert "expected NAME=VALUE" in capsys.readouterr().err


def test_the_plan_is_a_table_in_the_order_of_the_run(suite: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", suite]) == 0
    told = capsys.readouterr().out
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in told.splitlines() if "│" in line]
    assert rows[:3] == [
        ["1", "fill", "storage.write", "disk", "once", "", "20 min", "20", "20 MiB"],
        [
            "2",
            "copy",
            "noop",
            "",
            "closed, 3 clients for 10 s after 5 s ramp",
            "fill",
            "1 min 15 s",
            "not bounded",
            "not bounded",
        ],
        ["3", "check", "noop", "", "open, 100 /s poisson for 10 s", "", "1 min 10 s", "1 190", "0 B"],
    ]
    assert rows[3][1] == "3 cases"
    assert "limit of 2 min may end the run early" in told


def test_the_plan_as_json_has_base_units(suite: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", suite, "--json", "--set", "clients=1"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [case["name"] for case in data["cases"]] == ["fill", "copy", "check"]
    assert data["cases"][0]["bytes"] == 20 << 20
    assert data["cases"][1]["after"] == ["fill"]
    assert data["cases"][1]["load"] == "closed, 1 client for 10 s after 5 s ramp"
    assert data["totals"] == {"longest": (20 * 60 + 75 + 70) * 10**9, "operations": None, "bytes": None}


def test_a_plan_that_its_limits_forbid_is_refused(suite: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", suite, "--set", "limits.bytes=1 MB"]) == 3
    assert "the plan needs 20 MiB" in capsys.readouterr().err


def test_the_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "pileup suite"


def test_shipped_suites_are_found_by_name() -> None:
    from pileup.suite.shipped import suite_path

    assert suite_path("suite:first-run").name == "first-run.yaml"
