"""The suites for storage on servers that pileup did not start, by their urls, for root and for an ordinary user."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.servers.outside import environment_of, python_of
from tests.servers.xrootd import Xrootd, xrootd
from tests.support import EXAMPLES, check_passed, code_of, explained

ORDINARY = "nobody"
SHORT = {"duration": "300 ms", "warm_up": "100 ms"}
SUITES: dict[str, dict[str, str]] = {
    "storage-check": {},
    "namespace": {"clients": "4", "files": "60", "repeats": "1", **SHORT},
    "vendor-acceptance": {"clients": "4", "readers": "2", "size": "64 KiB", **SHORT},
    "read-ahead": {"readers": "2", "size": "1 MiB", "repeats": "2", **SHORT},
    "protocols": {"files": "1", "size": "64 KiB", "repeats": "1", **SHORT},
}
CA = "ca.pem"
"""In the folder of the account."""


@pytest.fixture(scope="module")
def site() -> Iterator[Xrootd]:
    """A server with a file of somebody else."""
    with tempfile.TemporaryDirectory() as folder, xrootd(Path(folder), tls=True) as server:
        (server.data / "f000000").write_text("of others")
        yield server


def urls(suite: str, site: Xrootd) -> dict[str, str]:
    """Return what is set for a suite: the urls of its targets, and who signs their certificate."""
    if suite != "protocols":
        return {"targets.se.url": site.roots, "targets.se.credentials.ca": CA}
    plain = {"root": site.root, "root_pages": site.root, "http": site.http}
    secure = {"root_tls": site.roots, "https": site.https, "https_new": site.https}
    found = {f"targets.{name}.url": url for name, url in (plain | secure).items()}
    return found | {f"targets.{name}.credentials.ca": CA for name in secure}


def run(suite: str, values: dict[str, str], user: str, folder: Path) -> tuple[int, dict[str, Any]]:
    """Run a shipped suite as a user who has nothing but a folder; return its code and its results."""
    python = python_of(user)
    words = [word for name, value in values.items() for word in ("--set", f"{name}={value}")]
    done = subprocess.run(
        [python, "-P", "-m", "pileup", "run", str(EXAMPLES / f"{suite}.yaml"), "--quiet", "--out", user, *words],
        cwd=folder,
        env={**environment_of(), "HOME": str(folder)},
        user=user,
        group="nogroup",
        extra_groups=[],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    assert done.stdout.strip(), done.stderr
    return done.returncode, json.loads((folder / done.stdout.splitlines()[-1] / "results.json").read_text())


@pytest.fixture
def account() -> Iterator[Path]:
    """A folder of an ordinary user."""
    if os.geteuid() != 0:
        pytest.skip("only root can be another user")
    with tempfile.TemporaryDirectory() as home:
        Path(home).chmod(0o777)
        yield Path(home)


@pytest.mark.long
@pytest.mark.parametrize("suite", SUITES)
def test_every_suite_for_storage_comes_to_a_verdict_by_url(suite: str, site: Xrootd, account: Path) -> None:
    shutil.copy(site.ca, account / CA)
    (account / CA).chmod(0o644)
    for user in ("root", ORDINARY):
        code, results = run(suite, {**urls(suite, site), **SUITES[suite]}, user, account)
        assert code == code_of(results), explained(results)
        check_passed(results)
        assert [path.name for path in site.data.iterdir()] == ["f000000"], "all that was made is gone"
        assert (site.data / "f000000").read_text() == "of others"


@pytest.mark.long
def test_a_file_that_may_not_be_read_makes_a_target_unavailable(site: Xrootd, account: Path) -> None:
    values = {"targets.se.url": site.roots, "targets.se.credentials.ca": site.ca}
    code, results = run("storage-check", values, ORDINARY, account)
    assert code == 5
    assert f"ca {site.ca} cannot be read: Permission denied" in results["cases"][0]["reason"]


@pytest.mark.long
@pytest.mark.parametrize("suite", ["first-run", "storage-check"])
def test_an_ordinary_user_runs_the_first_suites_on_servers_of_his_own(suite: str, account: Path) -> None:
    code, results = run(suite, {}, ORDINARY, account)
    assert code == 0, results["criteria"]
    assert results["verdict"] == "passed"
