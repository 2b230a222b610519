"""`pileup report`: every kind, of runs that have ended and of one that has not."""

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from pileup.cli.app import app, run_app
from tests.support import ROOT

GOLDEN = ROOT / "tests" / "golden" / "0.1"


@pytest.fixture(params=["running", "ended"])
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return Path(shutil.copytree(GOLDEN / request.param, tmp_path / "run"))


def report(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["report", *map(str, arguments)], catch_exceptions=False)


def test_html_is_written_into_the_run_folder(run: Path) -> None:
    done = report(run)
    assert done.exit_code == 0
    assert done.stdout.strip() == str(run.resolve() / "report.html")
    assert (run / "report.html").read_text().count('class="chart') >= 6


@pytest.mark.parametrize(("kind", "name"), [("junit", "junit.xml"), ("json", "results.json"), ("xml", "results.xml")])
def test_a_folder_gets_the_file_under_its_usual_name(run: Path, kind: str, name: str, tmp_path: Path) -> None:
    assert report(run, "--to", kind, "--out", tmp_path).stdout.strip() == str(tmp_path / name)
    data = (tmp_path / name).read_bytes()
    tags = {"junit": "testsuites", "xml": "pileup"}
    assert ElementTree.fromstring(data).tag == tags[kind] if kind in tags else json.loads(data)["cases"]


def test_a_dash_is_stdout(run: Path) -> None:
    assert json.loads(report(run, "--to", "json", "--out", "-").stdout)["verdict"]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["nowhere"], 2, "there is no folder nowhere"),
        ([str(GOLDEN / "ended"), "--to", "htm"], 3, "there is no report 'htm' expected 'html'"),
        ([str(GOLDEN / "ended"), "--to", "json", "--out", "/nowhere/x.json"], 2, "/nowhere/x.json cannot be written"),
    ],
)
def test_mistakes_are_told(arguments: list[str], code: int, said: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run_app(["report", *arguments]) == code
    told = " ".join(capfd.readouterr().err.split())
    assert said in told
    assert "Traceback" not in told


OWN = """from pileup.plugin import Report


class Raising(Report):
    def render(self, results, outputs):
        return results.nothing


class Text(Report):
    def render(self, results, outputs):
        return "text"
"""


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Raising", "AttributeError: 'RunResults' object has no attribute 'nothing' (b.py:6)"),
        ("Text", "render() gave a str"),
    ],
)
def test_a_mistake_in_a_report_is_not_one_of_the_record(
    name: str, said: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "b.py").write_text(OWN)
    assert run_app(["report", str(GOLDEN / "ended"), "--to", f"{tmp_path}/b.py:{name}", "--out", "-"]) == 3
    told = " ".join(capfd.readouterr().err.split())
    assert told == f"error: report {name} failed: {said} expected bytes fix the file and run the command again"
