"""The command that is printed after a run can be run as it is."""

import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from pileup.cli.app import app
from pileup.cli.next_step import next_step
from pileup.model.event import REPORT
from pileup.model.exits import ExitCode
from pileup.record import RunFolder
from pileup.run.start import planned
from pileup.stats import results
from pileup.stats.events import not_written
from tests.manifests import run_of
from tests.support import ROOT

SUITE = "pileup: 1\ntitle: t\ntests: [{name: a, use: noop}]\n"


def made(base: Path, at: int, code: ExitCode = ExitCode.PASSED, **suite):
    second = 10**9
    folder = RunFolder.create(base / "runs", "t", at * second)
    known = {"source": "mine.yaml", "folder": str(base), "text": SUITE, "values": {}, **suite}
    told = {"title": "t", "started": at * second, "ended": (at + 1) * second, "state": "ended", "exit_code": int(code)}
    folder.save(run_of({**told, "verdict": "passed" if code is ExitCode.PASSED else "failed", "suite": known}))
    return results(RunFolder.open(folder.path))


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "mine.yaml").write_text(SUITE)
    return tmp_path


def test_the_first_run_is_followed_by_the_same_again(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = next_step(made(base, 10, values={"clients": "8 9"}))
    assert told == f"pileup run {base / 'mine.yaml'} --set 'clients=8 9'"
    assert planned(shlex.split(told)[2], {}, None, {}).suite.title == "t"
    monkeypatch.chdir(base)
    assert next_step(made(base, 11, ExitCode.CASE_FAILED)) == "pileup run mine.yaml"
    monkeypatch.chdir(base.parent)
    assert next_step(made(base, 12, source=f"{base.name}/mine.yaml")) == f"pileup run {base.name}/mine.yaml"


def test_a_later_run_is_compared_with_the_last_that_passed(base: Path) -> None:
    made(base, 10)
    later = made(base, 20, ExitCode.CRITERION_NOT_MET)
    told = next_step(later)
    assert told == f"pileup compare --last-green {later.folder}"
    done = CliRunner().invoke(app, shlex.split(told)[1:])
    assert "have no test in common that measured anything" in str(done.exception), "it got as far as comparing"


def test_a_run_that_was_stopped_is_resumed(base: Path) -> None:
    stopped = replace(made(base, 10), exit_code=ExitCode.STOPPED_BY_USER)
    assert next_step(stopped) == f"pileup resume {stopped.folder}"


def test_nothing_is_said_where_the_suite_is_gone_or_a_value_is_secret(base: Path) -> None:
    assert next_step(made(base, 10, source="gone.yaml")) == ""
    assert next_step(made(base, 11, values={"password": "(secret)"})) == ""


def test_a_shipped_suite_is_named_as_it_was_asked_for(base: Path) -> None:
    examples = ROOT / "examples"
    assert next_step(made(base, 10, source="find.yaml", folder=str(examples))) == "pileup run suite:find"


def test_a_report_that_could_not_be_written_is_written(base: Path) -> None:
    run = made(base, 10)
    lost = {"report": "html", "file": "report.html"}
    RunFolder.open(Path(run.folder)).event(REPORT, "not written: report.html: no room", **lost)
    lacking = replace(run, events=not_written(RunFolder.open(Path(run.folder))))
    assert next_step(lacking) == f"pileup report {run.folder} --to html"
    (Path(run.folder) / "report.html").write_text("")
    written = replace(run, events=not_written(RunFolder.open(Path(run.folder))))
    assert next_step(written).startswith("pileup run")
