"""`pileup check URL` and `pileup bench URL`, on servers that pileup did not start."""

import json
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pileup.suite import load
from tests.servers.nginx import nginx
from tests.servers.xrootd import xrootd
from tests.support import check_passed, code_of, explained, others_long, pileup, run_folder

SERVERS = ("posix", "nginx", "root", "https")


@pytest.fixture(params=others_long(("posix", "nginx"), SERVERS))
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[str]]:
    """Words of the command that say where: a url, and who we are there."""
    (server := tmp_path / "server").mkdir()
    if request.param == "posix":
        yield [str(server)]
    elif request.param == "nginx":
        with nginx(server) as url:
            yield [url]
    else:
        with xrootd(server, tls=True, authorization="tokens") as found:
            url = found.roots if request.param == "root" else found.https
            yield [url, "--token", found.token_file, "--ca", found.ca]


@pytest.mark.long
def test_an_endpoint_is_checked_in_one_line(place: list[str], tmp_path: Path) -> None:
    done = pileup("check", *place, "--quiet", cwd=tmp_path)
    results = json.loads((tmp_path / run_folder(done) / "results.json").read_text())
    check_passed(results)
    assert done.returncode == 0, explained(results)
    assert (tmp_path / run_folder(done) / "report.html").exists()


@pytest.mark.long
def test_an_endpoint_is_measured_in_one_line(place: list[str], tmp_path: Path) -> None:
    words = ["--read", "--stat", "--clients", "2", "--for", "500ms", "--warm-up", "0s", "--size", "4KiB"]
    done = pileup("bench", *place, *words, "--save", "mine.yaml", "--json", cwd=tmp_path)
    found = json.loads(done.stdout)
    check_passed(found)
    cases = {case["name"]: case for case in found["cases"]}
    assert list(cases) == ["fill", "read", "stat"]
    assert all(case["operations"][0]["counts"]["passed"] > 0 for case in cases.values()), explained(found)
    text = (tmp_path / "mine.yaml").read_text()
    assert text.startswith(f"# pileup bench {place[0]} ")
    again = pileup("run", "mine.yaml", "--json", cwd=tmp_path)
    assert [case["name"] for case in json.loads(again.stdout)["cases"]] == list(cases)


@pytest.fixture
def database(tmp_path: Path) -> str:
    """Url of a file of SQLite with a table of three jobs."""
    path = tmp_path / "jobs.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("CREATE TABLE jobs (state TEXT); INSERT INTO jobs VALUES ('R'), ('R'), ('Q');")
    return f"sqlite:///{path}"


@pytest.mark.long
def test_a_file_of_sqlite_is_checked_by_its_url(database: str, tmp_path: Path) -> None:
    done = pileup("check", database, "--json", cwd=tmp_path)
    found = json.loads(done.stdout)
    assert done.returncode == 0, explained(found)
    assert [case["name"] for case in found["cases"]] == ["ask", "together"]
    assert all(case["operations"][0]["counts"]["passed"] > 0 for case in found["cases"])


@pytest.mark.long
def test_a_file_of_sqlite_is_measured_and_the_suite_that_is_printed_is_saved(database: str, tmp_path: Path) -> None:
    words = ["--query", "SELECT count(*) AS jobs FROM jobs", "--clients", "2", "--for", "300ms", "--warm-up", "0s"]
    done = pileup("bench", database, *words, "--save", "mine.yaml", "--summary", "none", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    text = (tmp_path / "mine.yaml").read_text()
    assert done.stderr.startswith(f"{text}\n")
    assert "--summary" not in text
    results = json.loads((tmp_path / run_folder(done) / "results.json").read_text())
    (case,) = results["cases"]
    assert case["name"] == "query"
    assert case["operations"][0]["counts"]["passed"] > 0, explained(results)
    assert load(tmp_path / "mine.yaml").suite.title == results["run"]["title"]


def test_the_suite_is_printed_and_not_run(tmp_path: Path) -> None:
    done = pileup("bench", "/data", "--write", "--rate", "5/s", "--show", "--save", "mine.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == (tmp_path / "mine.yaml").read_text()
    (case,) = load(tmp_path / "mine.yaml").cases
    assert case.load.rate == 5
    assert not (tmp_path / "runs").exists()


@pytest.mark.long
def test_a_measurement_that_was_stopped_is_taken_up_again(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    words = ["bench", str(tmp_path / "data"), "--stat", "--for", "8s", "--quiet", "--out", "runs"]
    process = subprocess.Popen(
        [sys.executable, "-m", "pileup", *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    end = time.monotonic() + 30
    while not list(tmp_path.glob("runs/*/frames*")) and time.monotonic() < end:
        time.sleep(0.1)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    said, problems = process.communicate(timeout=30)
    assert process.returncode == 6, said + problems
    run = said.splitlines()[-1]
    cleaned = pileup("clean", run, cwd=tmp_path)
    assert cleaned.returncode == 0, cleaned.stderr
    again = pileup("resume", run, "--quiet", cwd=tmp_path)
    assert "has changed since this run began" not in again.stderr
    results = json.loads((tmp_path / run / "results.json").read_text())
    assert again.returncode == code_of(results), again.stdout + again.stderr
    check_passed(results)
    assert list((tmp_path / "data").iterdir()) == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["bench", "ftp://x"], "the kind of 'ftp://x' is unknown"),
        (["bench", "/data", "--size", "4"], "'4' has no unit; expected a size like"),
        (["bench", "/data", "--rate", "fast"], "'fast' is not a number with a unit"),
        (["bench", "/data", "--save", "there.yaml"], "--save there.yaml: there is such a file already"),
        (["bench", "/data", "--token", "eyJ0.secret"], "--token names no file that is there"),
        (["check", "/data", "--kind", "noop"], "there is no check for targets of kind 'noop'"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_run(words: list[str], told: str, tmp_path: Path) -> None:
    (tmp_path / "there.yaml").write_text("mine")
    done = pileup(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert told in done.stderr
    assert "expected" in done.stderr
    assert "eyJ0" not in done.stderr
    assert (tmp_path / "there.yaml").read_text() == "mine"
    assert not (tmp_path / "runs").exists()
