"""Credentials as the grid has them, through the command line and the engine's clients, on a real XRootD."""

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from pileup.builtin.http.webdav_target import WebDavTarget
from pileup.model.suite import Credentials
from pileup.plugin import Refused
from tests.servers.proxies import SUBJECT, Grid, make_grid
from tests.servers.xrootd import Xrootd, xrootd
from tests.support import pileup, run_folder

SUITE = """
pileup: 1
title: Credentials
targets:
  dav: {kind: webdav, url: "HTTPS", credentials: {HOW, ca: discover}}
  root: {kind: xrootd, url: "ROOT", credentials: {token: discover, ca: discover}}
options: {files: 3, size: 10 kB}
tests:
"""
EACH = """
  - {name: fill-NAME, use: storage.write, target: NAME}
  - {name: read-NAME, use: storage.read, target: NAME, after: [fill-NAME], load: {clients: 2, times: 10}}
"""

LASTING = """
  - {name: fill-dav, use: storage.write, target: dav}
  - {name: fill-root, use: storage.write, target: root}
  - {name: read-dav, use: storage.read, target: dav, after: [fill-dav, fill-root], load: {rate: 40 /s, for: 3 s}}
  - {name: read-root, use: storage.read, target: root, after: [fill-root], with: [read-dav], load: {rate: 40 /s}}
"""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Xrootd]:
    """A server that asks for tokens, its CA in a folder as the grid has them."""
    with xrootd(tmp_path / "site", tls=True, authorization="tokens") as running:
        folder = tmp_path / "certificates"
        folder.mkdir()
        (folder / "5ed36f99.0").write_text(Path(running.ca).read_text())
        (folder / "5ed36f99.signing_policy").write_text("access_id_CA X509 '/CN=pileup'")
        yield running


def suite(folder: Path, server: Xrootd, how: str, *names: str) -> None:
    text = SUITE.replace("HTTPS", server.https).replace("ROOT", server.roots).replace("HOW", how)
    (folder / "s.yaml").write_text(text + "".join(EACH.replace("NAME", name) for name in names))


def test_a_token_and_the_cas_are_found_where_the_grid_keeps_them(tmp_path: Path, site: Xrootd) -> None:
    suite(tmp_path, site, "token: discover", "dav", "root")
    variables = {
        "X509_CERT_DIR": str(tmp_path / "certificates"),
        "BEARER_TOKEN": "",
        "BEARER_TOKEN_FILE": site.token_file,
    }
    done = pileup("run", "s.yaml", "--quiet", cwd=tmp_path, **variables)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def grid() -> Iterator[Grid]:
    """A grid with a user, in a folder that a server can read as another user."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        made = make_grid(folder)
        (folder / "gridmap").write_text(f'"{SUBJECT}" jane\n')
        (folder / "people").write_text("u jane /data a\n")
        if os.geteuid() == 0:
            shutil.chown(made.key, "xrootd")
        yield made


def rules(grid: Grid) -> list[str]:
    """Return how a server lets the user in, and nobody else."""
    folder = grid.proxy.parent
    return ["ofs.authorize 1", f"acc.authdb {folder}/people"]


def test_a_proxy_lets_in_over_https(tmp_path: Path, grid: Grid) -> None:
    trust = [f"xrd.tlsca certfile {grid.cas}/ca.pem", f"http.gridmap {grid.proxy.parent}/gridmap"]
    with xrootd(tmp_path / "site", tls=True, directives=[*trust, *rules(grid)]) as site:
        (grid.cas / "site.pem").write_text(Path(site.ca).read_text())
        variables = {"X509_CERT_DIR": str(grid.cas), "X509_USER_PROXY": str(grid.proxy)}
        suite(tmp_path, site, "proxy: discover", "dav")
        done = pileup("run", "s.yaml", "--quiet", cwd=tmp_path, **variables)
        assert done.returncode == 0, done.stdout + done.stderr
        stranger = WebDavTarget(site.https, Credentials(ca=site.ca))
        with pytest.raises(Refused):
            stranger.write("mine", b"x")
        stranger.connections.close()


@pytest.mark.long
@pytest.mark.parametrize("client", ["bindings", "xrdcp"])
def test_a_proxy_lets_in_over_root_through_the_official_client(client: str, tmp_path: Path, grid: Grid) -> None:
    folder = grid.proxy.parent
    said = f"-certdir:{grid.cas} -cert:{grid.host} -key:{grid.key} -gridmap:{folder}/gridmap -gmapopt:1 -crl:0"
    gsi = ["xrootd.seclib libXrdSec.so", f"sec.protocol gsi {said}"]
    with xrootd(tmp_path / "site", directives=[*gsi, *rules(grid)]) as site:
        variables = {"X509_CERT_DIR": str(grid.cas), "X509_USER_PROXY": str(grid.proxy)}
        suite(tmp_path, site, "user: me", "root")
        text = (tmp_path / "s.yaml").read_text().replace(site.roots, f"root://localhost:{site.port}//data/")
        told = f"{{proxy: discover, ca: discover}}, options: {{client: {client}}}}}"
        (tmp_path / "s.yaml").write_text(text.replace("{token: discover, ca: discover}}", told))
        done = pileup("run", "s.yaml", "--quiet", cwd=tmp_path, **variables)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.long
def test_the_engine_reads_a_token_file_again_when_it_changes(tmp_path: Path, site: Xrootd) -> None:
    file = tmp_path / "token"
    file.write_text(site.token)
    suite(tmp_path, site, f"token_file: {file}")
    head = (tmp_path / "s.yaml").read_text().replace("token: discover", f"token_file: {file}")
    (tmp_path / "s.yaml").write_text(head + LASTING)
    changed: list[int] = []

    def change() -> None:
        journal = next(iter((tmp_path / "runs").glob("*/events/events.jsonl")), None)
        while journal is None or "read-dav begins" not in journal.read_text():
            time.sleep(0.02)
            journal = next(iter((tmp_path / "runs").glob("*/events/events.jsonl")), None)
        time.sleep(0.8)
        changed.append(time.time_ns())
        file.write_text("eyJub25zZW5zZSI6MX0.e30.AAAA")

    thread = threading.Thread(target=change, daemon=True)
    thread.start()
    done = pileup("run", "s.yaml", "--quiet", cwd=tmp_path, X509_CERT_DIR=str(tmp_path / "certificates"))
    thread.join(10)
    table = run_folder(done) / "operations/operations.parquet"
    for name in ("read-dav", "read-root"):
        rows = duckdb.execute(
            f"SELECT start, outcome FROM '{table}' WHERE test = ? AND parent = 0 ORDER BY start", [name]
        ).fetchall()
        before = [outcome for start, outcome in rows if start < changed[0]]
        late = [outcome for start, outcome in rows if start > changed[0] + 1_500_000_000]
        assert before, done.stdout + done.stderr
        assert set(before) == {"passed"}
        assert late
        assert set(late) == {"refused"}, "within a second and a half every client has the new token"
