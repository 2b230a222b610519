"""What a site's admin meets first: `storage-check` by url where storage is hung, dead, shedding, untrusted."""

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from pileup._core._native import PracticeStorage
from pileup.builtin.credentials.server_certificates import INSECURE
from pileup.builtin.practice.storage import READY
from pileup.plugin import Launcher
from tests.servers.certificates import make_certificate
from tests.servers.launched import NAME, supervised
from tests.servers.liars import served
from tests.servers.nginx import nginx
from tests.servers.xrootd import xrootd
from tests.support import check_passed, explained, pileup, run_folder, unseen

SOON = "--set=targets.se.options.first_answer=1 s"
UNREACHED = 5


@dataclass(frozen=True)
class Checked:
    """A run of storage-check."""

    code: int
    said: str
    """What it has printed on the screen."""
    folder: Path

    @property
    def seconds(self) -> float:
        """How long the run took: starting Python on a busy machine is not part of it."""
        run = self._run()
        return float(run["ended"] - run["started"]) / 1e9

    @property
    def told(self) -> str:
        """What run.json says of the target."""
        return str(self._run()["targets"][0]["about"])

    def _run(self) -> Any:
        return json.loads((self.folder / "run.json").read_text())


def check(url: str, cwd: Path, *more: str, drawn: bool = False) -> Checked:
    """Run storage-check on a url as a user does."""
    done = pileup("run", "suite:storage-check", "--set", f"targets.se.url={url}", *more, cwd=cwd, drawn=drawn)
    assert "Traceback" not in done.stderr, done.stderr
    return Checked(done.returncode, done.stdout + done.stderr, run_folder(done))


@contextmanager
def stopped(pid: int) -> Iterator[None]:
    """Hold a process as if it were hung: the kernel takes connections, and nobody answers."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@pytest.mark.long
def test_a4_a_hung_webdav_server_has_10_s_for_its_first_answer(tmp_path: Path) -> None:
    command = (sys.executable, "-m", "pileup", "practice", "storage")
    with supervised(Launcher.one(command, READY), tmp_path / "server") as server, stopped(server.pids(NAME)[0]):
        found = check(server.url(NAME), tmp_path)
    assert (found.code, found.seconds < 15) == (UNREACHED, True), found
    assert "cannot be reached: no answer to OPTIONS within 10 s; expected an answer" in found.told


@pytest.mark.long
def test_a4_a_hung_xrootd_server(tmp_path: Path) -> None:
    with xrootd(tmp_path / "server") as server, stopped(server.pid):
        found = check(server.root, tmp_path, SOON)
    assert (found.code, found.seconds < 10) == (UNREACHED, True), found
    assert "cannot be reached: connecting: could not be done within 1 s; expected a folder" in found.told


@pytest.mark.long
@pytest.mark.parametrize("url", ["http://127.0.0.1:{}/", "root://127.0.0.1:{}//", "roots://127.0.0.1:{}//"])
def test_a4_a_mute_server(url: str, tmp_path: Path) -> None:
    with served(lambda connection: time.sleep(20)) as port:
        found = check(url.format(port), tmp_path, SOON)
    assert (found.code, found.seconds < 10) == (UNREACHED, True), found
    assert "cannot be reached: " in found.told
    assert "within 1 s" in found.told


@pytest.mark.parametrize("url", ["http://127.0.0.1:{}/", "davs://127.0.0.1:{}/", "root://127.0.0.1:{}//"])
def test_a4_a_closed_port(url: str, tmp_path: Path) -> None:
    with served(lambda connection: None) as port:
        pass
    found = check(url.format(port), tmp_path)
    assert (found.code, found.seconds < 15) == (UNREACHED, True), found
    assert "refused" in found.told.lower()


def test_a4_a_server_that_sheds_its_load(tmp_path: Path) -> None:
    server = PracticeStorage(json.dumps({"faults": [{"kind": "refuse"}]}))
    try:
        found = check(f"http://127.0.0.1:{server.port}/", tmp_path)
    finally:
        server.stop()
    assert (found.code, found.seconds < 15) == (UNREACHED, True), found
    assert "says 503 Service Unavailable; expected an answer below 500" in found.told


@pytest.mark.long
def test_a10_xroot_spoken_to_a_port_of_http(tmp_path: Path) -> None:
    with nginx(tmp_path) as url:
        found = check(url.replace("http://", "root://"), tmp_path)
    assert (found.code, found.seconds < 15) == (UNREACHED, True), found
    assert "cannot be reached: connecting: the server speaks HTTP on this port, not xroot" in found.told


@pytest.fixture
def secure(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """Yield the url of a storage whose certificate has signed itself, and its file."""
    folder = tmp_path
    certificate, key = make_certificate()
    (folder / "own.pem").write_text(certificate)
    (folder / "key.pem").write_text(key)
    files = {"certificate": str(folder / "own.pem"), "key": str(folder / "key.pem"), "client_ca": None}
    server = PracticeStorage(json.dumps({"tls": files}))
    yield f"https://127.0.0.1:{server.port}/", folder / "own.pem"
    server.stop()


@pytest.mark.long
def test_a5_an_untrusted_server_is_told_in_one_sentence(secure: tuple[str, Path], tmp_path: Path) -> None:
    found = check(secure[0], tmp_path)
    assert (found.code, found.seconds < 15) == (UNREACHED, True), found
    for part in ("certificate not trusted (", 'subject "CN=pileup test", issuer "CN=pileup test", SHA-256 '):
        assert part in found.told
    assert (
        "; expected a certificate of a known authority (give `ca` among the credentials, or the option " in found.told
    )
    sha256 = found.told.partition("SHA-256 ")[2][:64]
    pinned = check(secure[0], tmp_path, f"--set=targets.se.options.certificate_sha256={sha256}")
    assert pinned.code == 0, pinned.said
    assert INSECURE not in pinned.said


@pytest.mark.long
def test_a5_a_certificate_that_signs_itself_is_its_own_ca(secure: tuple[str, Path], tmp_path: Path) -> None:
    found = check(secure[0], tmp_path, f"--set=targets.se.credentials.ca={secure[1]}")
    assert found.code == 0, found.said
    assert "pileup clean" not in found.said


@pytest.mark.long
def test_a5_insecure_is_said_loudly(secure: tuple[str, Path], tmp_path: Path) -> None:
    found = check(secure[0], tmp_path, "--set=targets.se.options.insecure=true", drawn=True)
    assert found.code == 0, found.said
    assert INSECURE in found.said
    assert "anyone in between can read and change everything" in (found.folder / "report.html").read_text()


@pytest.mark.long
def test_a9_plain_webdav_passes_without_checksums(tmp_path: Path) -> None:
    with nginx(tmp_path) as url:
        found = check(url, tmp_path, "--json")
    assert found.code == 0, found.said


WITHOUT_GET = ["OPTIONS", "PROPFIND", "HEAD", "PUT", "DELETE", "MKCOL"]


@pytest.mark.parametrize(
    ("methods", "status", "told"),
    [
        (
            ["MKCOL"],
            403,
            "403 Forbidden; expected a folder in which you may write (check the target's `credentials`, or",
        ),
        (["PUT"], 403, "403 Forbidden; expected a folder in which you may write (check the target's `credentials`, or"),
        (
            WITHOUT_GET,
            405,
            "the server does not speak WebDAV here; expected a server that knows PROPFIND, MKCOL and PUT (is",
        ),
    ],
)
def test_d12_a_server_that_does_not_let_us_work_is_told_in_a_sentence(
    methods: list[str], status: int, told: str, tmp_path: Path
) -> None:
    """And nothing was made, so that nothing is left to be removed."""
    faults = [{"kind": "error", "methods": methods, "status": status}]
    server = PracticeStorage(json.dumps({"faults": faults}))
    try:
        found = check(f"http://127.0.0.1:{server.port}/", tmp_path)
    finally:
        server.stop()
    reason = json.loads((found.folder / "run.json").read_text())["cases"][0]["reason"]
    assert (found.code, told in reason) == (1, True), reason
    assert "cannot be made below http://127.0.0.1:" in reason or "does not speak WebDAV" in reason
    assert "pileup clean" not in found.said
    assert "not all could be" not in found.said


@pytest.mark.parametrize(
    ("url", "told"),
    [
        (
            "http://127.0.0.1:{}/",
            "speaks TLS on this port, and the url is without; expected a url that begins with https",
        ),
        (
            "root://127.0.0.1:{}//",
            "speaks TLS on this port, not xroot; expected a port of XRootD (is https:// or davs://",
        ),
    ],
)
def test_d12_a_port_of_tls_spoken_to_without(url: str, told: str, secure: tuple[str, Path], tmp_path: Path) -> None:
    found = check(url.format(urlsplit(secure[0]).port), tmp_path, SOON)
    assert (found.code, told in found.told) == (UNREACHED, True), found.told


def test_d12_tls_spoken_to_a_port_without(tmp_path: Path) -> None:
    with nginx(tmp_path) as url:
        found = check(url.replace("http://", "https://"), tmp_path)
    assert (found.code, "the server does not speak TLS on this port; expected" in found.told) == (UNREACHED, True), (
        found.told
    )


@pytest.mark.long
def test_d12_a_url_of_a_file(tmp_path: Path) -> None:
    with nginx(tmp_path) as url:
        (tmp_path / "data" / "file").write_text("of others")
        found = check(f"{url}file", tmp_path)
    assert found.code == UNREACHED
    assert "/file is a file; expected the url of a folder (correct the url)" in found.told
    local = check(str(tmp_path / "data" / "file"), tmp_path)
    assert (local.code, "is a file; expected the path of a folder" in local.told) == (UNREACHED, True), local.told


def test_d12_a_url_of_a_file_on_xrootd(tmp_path: Path) -> None:
    with xrootd(tmp_path / "server") as server:
        (server.data / "file").write_text("of others")
        (server.data / "file").chmod(0o644)
        found = check(f"{server.root.rstrip('/')}/file", tmp_path)
    assert found.code == UNREACHED
    assert (
        "/file cannot be used: '': xroot 3005 FSError: not a directory; expected the url of an existing folder"
        in found.told
    )


SHORT = {"clients": "4", "readers": "2", "size": "64 KiB", "duration": "300 ms", "warm_up": "100 ms"}


@pytest.mark.long
def test_d9_acceptance_where_no_checksums_are_stated_does_not_cover_them(tmp_path: Path) -> None:
    words = [f"--set={name}={value}" for name, value in SHORT.items()]
    with nginx(tmp_path) as url:
        done = pileup("run", "suite:vendor-acceptance", f"--set=targets.se.url={url}", *words, cwd=tmp_path)
    found = json.loads((run_folder(done) / "results.json").read_text())
    verdicts = {each["id"]: each["verdict"] for each in found["criteria"]}
    check_passed(found)
    assert verdicts["C4"] == "not covered"
    assert verdicts["C6"] == ("unknown" if "in" in unseen(found) else "met"), explained(found)
    lacking = {each["name"]: each["reason"] for each in found["run"]["not_covered"]}
    assert "is not XRootD: it calls itself nginx" in lacking["xrootd"]
    assert "invalid" not in (tmp_path / "error.log").read_text(), "it was asked nothing that is not HTTP"


def test_a10_a_clean_up_that_failed_names_the_command_for_it(tmp_path: Path) -> None:
    server = PracticeStorage(json.dumps({"faults": [{"kind": "error", "methods": ["DELETE"], "status": 500}]}))
    try:
        found = check(f"http://127.0.0.1:{server.port}/", tmp_path)
    finally:
        server.stop()
    assert f"pileup clean {found.folder}" in found.said
