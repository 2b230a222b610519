"""Reports in a suite: which exist, their options, and what their files are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from pileup.model.errors import SuiteError
from pileup.model.plan import Plan
from pileup.suite import load

HEAD = """pileup: 1
title: Reports
tests: [{name: a, use: noop}]
reports:
"""
OWN = """from pileup.plugin import Report, option

class Lines(Report):
    '''Lines.'''
    name = "lines"
    width: int = option(80, ge=20, help="characters")

    def check(self):
        if self.width == 81:
            raise ValueError("the width is 81; expected an even one")

    def render(self, results, outputs):
        return b""

class Named(Lines):
    file_name = "lines.txt"
"""


def plan(folder: Path, reports: str, **options: bool) -> Plan:
    (folder / "own.py").write_text(OWN)
    (folder / "suite.yaml").write_text(HEAD + reports)
    return load(folder / "suite.yaml", **options)


def test_reports_with_files_and_options(tmp_path: Path) -> None:
    found = plan(tmp_path, "- {use: json}\n- {use: './own.py:Lines', to: a.txt, width: 100}\n").suite.reports
    assert [(each.use, each.to, each.options) for each in found] == [
        ("json", None, {}),
        ("./own.py:Lines", "a.txt", {"width": "100"}),
    ]


def test_a_suite_may_want_none_which_is_not_the_default(tmp_path: Path) -> None:
    assert "reports" in plan(tmp_path, "  []\n").suite.model_fields_set
    (tmp_path / "suite.yaml").write_text(HEAD.replace("reports:\n", ""))
    assert "reports" not in load(tmp_path / "suite.yaml").suite.model_fields_set


@pytest.mark.parametrize(
    ("report", "told", "expected"),
    [
        (f"{{use: json, to: {'x' * 101}}}", "is not a name for a report in the run folder", "at most 100"),
        ("{use: htm}", "there is no report 'htm'", "'html'"),
        ("{use: json, too: x}", "'json' has no option 'too'", "'to'"),
        ("{to: x}", "`use` is missing", ""),
        ("{use: './own.py:Named', width: 3}", "`width` is '3'", "at least 20"),
        ("{use: './own.py:Named', width: 81}", "the width is 81", "an even one"),
        ("{use: './own.py:Lines'}", "'lines' has no file name", "`to: NAME`"),
        *(
            (
                f"{{use: json, to: {name!r}}}",
                f"{name!r} is not a name for a report in the run folder",
                "letters, digits",
            )
            for name in ("../x", "/tmp/x", "a/b", ".hidden", "a b", "x.part", "..")
        ),
        *(
            (f"{{use: json, to: {name}}}", f"'{name}' is a file or folder of the record", "letters, digits")
            for name in ("run.json", "journal.jsonl", "notes.jsonl", "operations", "servers", "SHA256SUMS")
        ),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, report: str, told: str, expected: str) -> None:
    with pytest.raises(SuiteError) as caught:
        plan(tmp_path, f"- {report}\n")
    (fault,) = caught.value.problems
    assert fault.where.startswith(f"{tmp_path / 'suite.yaml'}:5:")
    assert told in fault.what
    assert expected in f"{fault.expected} {fault.hint}"


def test_two_reports_have_two_files(tmp_path: Path) -> None:
    with pytest.raises(SuiteError) as caught:
        plan(tmp_path, "- {use: json}\n- {use: xml, to: results.json}\n")
    (fault,) = caught.value.problems
    assert (fault.what, fault.hint) == ("a second report is written to 'results.json'", "the first is in line 5")


def test_nothing_of_a_users_file_is_run_where_nothing_may_be_imported(tmp_path: Path) -> None:
    reports = "- {use: './own.py:Lines', width: 1}\n- {use: './own.py:Lines', to: x}\n"
    assert len(plan(tmp_path, reports, imports=False).suite.reports) == 2
