"""validate, plan, schema: what they print about a suite."""

import json
import re
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


def test_every_fault_is_a_line(suite: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    assert main(["validate", suite, "--set", "clients=0", "--set", "tests.copy.timeout=5"]) == 3
    told = capsys.readouterr().err.splitlines()
    assert told == [
        f"{suite}:8:60: `clients` is '0'; expected at least 1  [out-of-range]",
        "    8 |   - {name: copy, use: noop, after: [fill], load: {clients: $clients, ramp: 5 s, for: 10 s}}",
        "      |                                                            ^^^^^^^^",
        "--set tests.copy.timeout: `timeout`: '5' has no unit; expected a time like '30 s'  [wrong-quantity]",
        "error: the suite is not valid: 2 problems",
        "  fix the file; `pileup describe suite` lists the allowed keys, `pileup describe CODE` explains a [code]",
    ]


@pytest.mark.parametrize("word", ["clients", "=3", " =3"])
def test_a_setting_without_name_or_value_is_wrong_usage(
    suite: str, word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["validate", suite, "--set", word]) == 2
    assert "expected NAME=VALUE" in capsys.readouterr().err


def test_a_plan_that_is_too_wide_for_a_table_has_a_block_for_each_case(
    suite: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert main(["plan", suite]) == 0
    told = capsys.readouterr().out
    assert all(len(line) <= 60 for line in told.splitlines())
    assert "…" not in told
    assert all(word in told for word in ("storage.write", "closed, 3 clients", "1 min 15 s", "20 MiB"))


@pytest.mark.parametrize(
    ("width", "loads"),
    [
        (120, (" for 10 s", " for 10")),
        (160, (" for 10 s after 5 s ramp", " for 10 s")),
        (200, (" for 10 s after 5 s ramp", " for 10 s")),
    ],
)
def test_the_plan_is_a_table_in_the_order_of_the_run(
    width: int, loads: tuple[str, str], suite: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    assert main(["plan", suite]) == 0
    told = capsys.readouterr().out
    assert max(map(len, told.splitlines())) <= width
    assert "…" not in told
    rows = [re.split(r"  +", line.strip()) for line in told.splitlines() if re.match(r" *\d ", line)]
    closed, opened = loads
    assert rows[1:4] == [
        ["1", "fill", "storage.write", "disk", "once", "1 s", "20 min", "20", "20 MiB"],
        ["2", "copy", "noop", f"closed, 3 clients{closed}", "fill", "15 s", "1 min 15 s", "not bounded", "not bounded"],
        ["3", "check", "noop", f"open, 100 /s poisson{opened}", "10 s", "1 min 10 s", "1,190", "0 B"],
    ]
    assert rows[0] == ["3 cases: about 26 s, at most 2 min (limits.duration)"]


@pytest.mark.parametrize("width", [60, 120, 160, 200])
def test_a_plan_with_long_words_fits_its_width(
    width: int, suite: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    long = "a_test_whose_name_is_as_long_as_it_may_be_" + 22 * "n"
    text = SUITE.replace("name: fill", f"name: {long}").replace("[fill]", f"[{long}]")
    Path(suite).write_text(text.replace("ramp: 5 s", "ramp: 5 s, warm_up: 5 s, think: {lognormal: [20 ms, 0.5]}"))
    assert main(["plan", suite]) == 0
    told = capsys.readouterr().out
    assert max(map(len, told.splitlines())) <= width
    assert "…" not in told
    assert all(word in told for word in ("storage.write", "closed, 3 clients", "log-normal", "20 MiB"))


def test_a_table_of_cases_has_all_its_columns_at_any_width(
    suite: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """rich shrinks columns that do not wrap to their longest word: amounts were cut, and the last column was lost."""
    tables = 0
    for width in range(80, 160):
        monkeypatch.setenv("COLUMNS", str(width))
        assert main(["plan", suite]) == 0
        told = capsys.readouterr().out
        heads = [line for line in told.splitlines() if line.split()[:2] == ["case", "test"]]
        assert [line.split()[-1] for line in heads] in ([], ["bytes"]), width
        assert told.count("not bounded") == (4 if heads else 0), width
        tables += len(heads)
    assert tables > 40


def test_a_load_is_not_broken_into_a_few_letters_a_line(
    suite: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = Path(suite).read_text()
    for width in range(60, 200, 4):
        monkeypatch.setenv("COLUMNS", str(width))
        Path(suite).write_text(
            text.replace("name: fill", f"name: fill_{'f' * 30}").replace("[fill]", f"[fill_{'f' * 30}]")
        )
        assert main(["plan", suite]) == 0
        told = capsys.readouterr().out
        assert "closed, 3 clients" in told, width
        assert max(map(len, told.splitlines())) <= width


def test_the_plan_as_json_has_base_units(suite: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", suite, "--json", "--set", "clients=1"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [case["name"] for case in data["cases"]] == ["fill", "copy", "check"]
    assert data["cases"][0]["bytes"] == 20 << 20
    assert data["cases"][1]["after"] == ["fill"]
    assert data["cases"][1]["load"] == "closed, 1 client for 10 s after 5 s ramp"
    assert [case["longest"] for case in data["cases"]] == [20 * 60 * 10**9, 75 * 10**9, 70 * 10**9]
    expected = sum(case["expected"] for case in data["cases"])
    assert 25 * 10**9 < expected < 26 * 10**9
    limit = 120 * 10**9
    assert data["totals"] == {"expected": expected, "longest": limit, "operations": None, "bytes": None}


def test_a_plan_that_its_limits_forbid_is_refused(suite: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", suite, "--set", "limits.bytes=1 MB"]) == 3
    assert "the plan needs 20 MiB" in capsys.readouterr().err


def test_the_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "pileup suite"


def test_shipped_suites_are_found_by_name() -> None:
    from pileup.suite.shipped import suite_path

    assert suite_path("suite:first-run").name == "first-run.yaml"
