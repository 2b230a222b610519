"""What `pileup new` writes runs as it is: the suite, and the plug-in's own test."""

import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.support import give_up, pileup, run_folder

SHORT = ("--quiet", "--set", "length=1 s")


def made(kind: str, folder: Path) -> None:
    done = pileup("new", *kind.split(), "my-thing", cwd=folder)
    assert done.returncode == 0, done.stderr


def tool(folder: Path, *arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *arguments], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.long
@pytest.mark.parametrize("kind", ["test", "target", "monitor", "monitor --log", "suite"])
def test_the_suite_of_a_skeleton_passes(kind: str, tmp_path: Path) -> None:
    made(kind, tmp_path)
    done = pileup("run", "my_thing.yaml", *SHORT, cwd=tmp_path, drawn=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (run_folder(done) / "report.html").is_file()


@pytest.mark.parametrize("kind", ["test", "target", "monitor", "monitor --log", "report", "chart", "exporter"])
def test_the_own_test_of_a_skeleton_passes_and_its_page_is_shown(kind: str, tmp_path: Path) -> None:
    made(kind, tmp_path)
    tool(tmp_path, "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), "test_my_thing.py")
    tool(tmp_path, "ruff", "check", "--isolated", "--no-cache", "--line-length=120", "--select=E,F,I,B,UP,ANN,D1", ".")
    tool(tmp_path, "ruff", "format", "--isolated", "--no-cache", "--line-length=120", "--check", ".")
    assert "This text is" in pileup("describe", "./my_thing.py:MyThing", cwd=tmp_path).stdout


def test_the_report_is_used_on_a_run_folder(tmp_path: Path) -> None:
    made("report", tmp_path)
    (tmp_path / "small.yaml").write_text("pileup: 1\ntitle: Small\ntests: [{name: a, use: noop}]\n")
    folder = run_folder(pileup("run", "small.yaml", "--quiet", cwd=tmp_path))
    told = pileup("report", str(folder), "--to", "./my_thing.py:MyThing", "--out", "-", cwd=tmp_path)
    assert told.stdout == "Small: passed\n  a: passed\n", told.stderr


@pytest.mark.long
def test_the_chart_and_the_exporter_are_used_on_a_run_folder(tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text("pileup: 1\ntitle: Small\ntests: [{name: a, use: noop}]\n")
    folder = str(run_folder(pileup("run", "small.yaml", "--quiet", cwd=tmp_path)))
    for kind, form in (
        ("chart", ("--charts", "svg", "--chart", "./my_chart.py:MyChart")),
        ("exporter", ("--to", "./my_exporter.py:MyExporter")),
    ):
        assert pileup("new", kind, f"my-{kind}", cwd=tmp_path).returncode == 0
        done = pileup("export", folder, "--out", kind, *form, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert [path.name for path in (tmp_path / "chart/charts").iterdir()] == ["my_chart-not-passed.svg"]
    assert (tmp_path / "exporter/cases.tsv").read_text().splitlines()[1].split("\t")[1:3] == ["a", "a"]


@pytest.mark.long
def test_a_package_is_installed_found_and_run(tmp_path: Path) -> None:
    """pip makes it an installed one, with no network; its own tests and its suite pass."""
    if int(version("setuptools").partition(".")[0]) < 77:
        give_up("setuptools is older than 77: pip install 'setuptools>=77'")
    assert pileup("new", "package", "our-tools", cwd=tmp_path).returncode == 0
    home, site = tmp_path / "our-tools", tmp_path / "site"
    flags = ("--no-build-isolation", "--no-deps", "--no-index", "--quiet", "--disable-pip-version-check")
    tool(tmp_path, "pip", "install", *flags, "--target", str(site), str(home))
    paths = os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH")]))
    listed = pileup("list", cwd=tmp_path, PYTHONPATH=paths).stdout
    for name in ("our-tools.ask", "our-tools"):
        assert re.search(rf"^ *{name}\s", listed, flags=re.MULTILINE), listed
    done = pileup("run", "our_tools.yaml", *SHORT, cwd=home, PYTHONPATH=paths)
    assert done.returncode == 0, done.stdout + done.stderr
    tested = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(home)],
        cwd=home, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert tested.returncode == 0, tested.stdout
    tool(home, "ruff", "check", "--isolated", "--no-cache", "--line-length=120", "--select=E,F,I,B,UP,ANN,D1", ".")
    tool(home, "ruff", "format", "--isolated", "--no-cache", "--line-length=120", "--check", ".")
