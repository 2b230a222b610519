"""Worker nodes with XRootD and frm_xfrd over one practice tape library: how they are started."""

from __future__ import annotations

import json
import os
import pwd
import secrets
import shutil
import sys
from collections.abc import Iterator

from pileup.builtin.stager.launcher_files import AGENT, CONFIGURATION, COPY, FOLDER, PREPARE
from pileup.builtin.stager.settings import FILES, StagerSettings
from pileup.plugin import Daemon, File, Launcher, Line

LIBRARY_READY = r"^pileup practice tape ready at "
XROOTD_READY = r"------ xrootd \S+ initialization completed\.$"
FRM_READY = r"------ frm_xfrd \S+ initialization completed\.$"
AGENT_READY = r"^ready$"
EVENTS = "{folder}.logs/library{again}.csv"
"""Where the library writes its events: not among the files of the nodes, whose user is another."""
GRACE = 10 * 10**9


def stager_launcher(wanted: StagerSettings, library: str) -> Launcher:
    """Return how to start nodes, and their library with its settings in JSON.

    Each launcher has a folder of its own, so that requests left in the queues of frm_xfrd do not come back with other
    settings; a restart with the same launcher finds them. Raises ValueError when this machine lacks a program.
    """
    xrootd, frm = _program("xrootd"), _program("frm_xfrd")
    own = f"{{short}}/{secrets.token_hex(3)}"
    processes = [_library(library)]
    for number in range(wanted.nodes):
        processes += _node(f"{own}/n{number}", number, xrootd, frm)
    url = f"root://127.0.0.1:{{port:node0}}/{FOLDER}?site={own}/site.json"
    return Launcher(tuple(processes), url, tuple(_files(own, wanted)), user=_user())


def _library(settings: str) -> Daemon:
    command = (sys.executable, "-m", "pileup", "practice", "tape", "--port", "{port:library}", "--events", EVENTS)
    return Daemon((*command, "--settings", settings), Line(LIBRARY_READY), name="library", as_pileup=True)


def _node(folder: str, number: int, xrootd: str, frm: str) -> list[Daemon]:
    words = ("-c", f"{folder}/node.cfg", "-n", "pileup")
    port = f"node{number}"
    server = Daemon(
        (xrootd, "-I", "v4", "-p", f"{{port:{port}}}", *words),
        Line(XROOTD_READY),
        name=f"xrootd-{number}",
        folder=folder,
        listen=(port,),
        grace=GRACE,
    )
    stager = Daemon((frm, *words), Line(FRM_READY), name=f"frm-{number}", folder=folder, grace=GRACE)
    command = AGENT.format(folder=folder, program=_program("frm_xfragent"))
    agent = Daemon(("bash", "-c", command), Line(AGENT_READY), name=f"agent-{number}", folder=folder)
    return [server, stager, agent]


def _files(own: str, wanted: StagerSettings) -> Iterator[File]:
    log = f"{own}/transfers.csv"
    copy = COPY.replace("@LOG@", log).replace("@PORT@", "{port:library}")
    site = {
        "nodes": [f"127.0.0.1:{{port:node{number}}}" for number in range(wanted.nodes)],
        "folder": FOLDER,
        "transfers": log,
        "events": EVENTS,
        "rules": wanted.rules(wanted.seed),
        "files": FILES,
        "size": wanted.size,
    }
    yield File(own, mode=0o755)
    yield File(f"{own}/site.json", json.dumps(site), mode=0o644)
    yield File(f"{own}/copy", copy.replace("@PATIENCE@", f"{wanted.patience_here:.3f}"), mode=0o755)
    yield File(f"{own}/prepare", PREPARE, mode=0o755)
    yield File(log, "", mode=0o644, keep=True)
    for number in range(wanted.nodes):
        node = f"{own}/n{number}"
        words = {"path": FOLDER, "node": node, "copymax": wanted.max_transfers, "number": f"n{number}"}
        yield File(node, mode=0o755)
        yield File(f"{node}/requests", mode=0o755)
        yield File(f"{node}/disk", mode=0o755)
        yield File(f"{node}/disk{FOLDER}", mode=0o755)
        text = CONFIGURATION.format(copy=f"{own}/copy", prepare=f"{own}/prepare", **words)
        yield File(f"{node}/node.cfg", text, mode=0o644)


def _program(name: str) -> str:
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if found is None:
        raise ValueError(f"{name} is not installed here; expected it (Debian: apt-get install xrootd-server)")
    return found


def _user() -> str:
    """Return who runs the nodes under root, as whom they refuse to run."""
    known = {user.pw_name for user in pwd.getpwall()}
    return next((name for name in ("xrootd", "nobody") if name in known), "")
