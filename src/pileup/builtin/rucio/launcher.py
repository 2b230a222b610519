"""A private Rucio: PostgreSQL, memcached and its REST servers, all as one ordinary user on 127.0.0.1."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from pileup.builtin.database.mariadb import known_user
from pileup.builtin.database.postgresql import postgresql_parts
from pileup.builtin.rucio import launcher_files as texts
from pileup.builtin.rucio.settings import SECOND, RucioSettings
from pileup.plugin import Accepts, Answer, Daemon, File, Launcher, Task

PACKAGES = ("rucio==41.5.1", "gunicorn==27.0.1", "'psycopg[binary]>=3.2,<4'")
"""What the virtual environment of a private Rucio holds."""
MODULES = {"rucio/web": "rucio", "gunicorn": "gunicorn", "psycopg": "'psycopg[binary]'"}
"""Folder among the modules of Python to package."""
EVERYBODYS = Path("/var/cache/pileup")
"""Where root keeps it: the ordinary user who runs Rucio cannot read root's home."""
PROGRAMS = "/usr/bin:/usr/sbin"
SYSTEM_PYTHON = "/usr/bin/python3"
FILL_WITHIN = 120 * SECOND
READY_WITHIN = 120 * SECOND
GRACE = 15 * SECOND


def rucio_launcher(wanted: RucioSettings) -> Launcher:
    """Return how to start one. Raises ValueError when this machine lacks something."""
    python = _python(wanted)
    processes: tuple[Daemon | Task, ...] = (
        *postgresql_parts(texts.DATABASE, wanted.for_postgresql(), "{port:postgres}"),
        *_cache(wanted),
        Task(
            (python, "{short}/fill.py", f"{texts.LOGIN}/{texts.TOLD}"),
            name="fill",
            environment=ENVIRONMENT,
            folder="{short}",
            within=FILL_WITHIN,
        ),
        _server(python, wanted),
    )
    return Launcher(
        processes,
        "http://127.0.0.1:{port}",
        tuple(_files(wanted)),
        user=known_user("postgres", "nobody"),
        credentials={"token_file": texts.TOKEN},
    )


ENVIRONMENT = {
    "RUCIO_CONFIG": texts.CONFIGURATION,
    "HOME": "{short}",
    "PYTHONPATH": "{short}",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONNOUSERSITE": "1",
    "TZ": "UTC",
}


def _server(python: str, wanted: RucioSettings) -> Daemon:
    """Return the REST servers; idle connections are kept for as long as those of a web server usually are."""
    words = ("-m", "gunicorn", "-b", "127.0.0.1:{port}", "-w", str(wanted.workers), "--threads", str(wanted.threads))
    more = ("--keep-alive", "75", "--worker-connections", "10000", "--timeout", "300", "serve:application")
    return Daemon(
        (python, *words, *more),
        Answer((python, "{short}/ready.py", "{port}")),
        name="rucio",
        environment=ENVIRONMENT,
        folder="{short}",
        ready_within=READY_WITHIN,
        grace=GRACE,
    )


def _cache(wanted: RucioSettings) -> Iterator[Daemon]:
    """Yield memcached: Rucio decides when it starts whether there is one."""
    if not wanted.cache:
        return
    found = shutil.which("memcached", path=f"{os.environ.get('PATH', '')}:{PROGRAMS}")
    if found is None:
        raise ValueError(
            "memcached is not installed here; expected it (Debian: apt-get install memcached), or `cache: 0`"
        )
    words = ("-l", "127.0.0.1", "-p", "{port:memcached}", "-m", str(max(1, wanted.cache >> 20)), "-U", "0")
    yield Daemon((found, *words), Accepts("{port:memcached}"), name="memcached", folder="{short}")


def _files(wanted: RucioSettings) -> Iterator[File]:
    """Yield its files; who pileup is stays over restarts."""
    password, token = secrets.token_hex(16), secrets.token_hex(32)
    yield File(texts.LOGIN, mode=0o700)
    yield File(f"{texts.LOGIN}/{texts.TOLD}", texts.description(password, token), mode=0o600, keep=True)
    yield File(texts.TOKEN, token, mode=0o600, keep=True)
    yield File(texts.CONFIGURATION, texts.rucio_cfg(wanted), mode=0o600)
    yield File("{short}/alembic.ini", texts.alembic_ini(), mode=0o600)
    yield File("{short}/fill.py", texts.FILL, mode=0o600)
    yield File("{short}/serve.py", texts.serve_py(wanted), mode=0o600)
    yield File("{short}/ready.py", texts.READY, mode=0o600)


def home() -> Path:
    """Return the folder of the virtual environment that a private Rucio runs from, if no other is given."""
    return (EVERYBODYS if os.geteuid() == 0 else Path.home() / ".cache" / "pileup") / "rucio"


def installing(folder: Path) -> str:
    """Return the command that makes it."""
    python = SYSTEM_PYTHON if os.geteuid() == 0 else "python3"
    return f"{python} -m venv {folder} && {folder}/bin/pip install {' '.join(PACKAGES)}"


def _python(wanted: RucioSettings) -> str:
    """Return the Python that has Rucio. Raises ValueError when there is none."""
    path = Path(wanted.python).expanduser() if wanted.python else home() / "bin" / "python"
    if problem := missing(path):
        raise ValueError(problem)
    return str(path)


def missing(python: Path | None = None) -> str:
    """Return what a virtual environment lacks, as "what; expected what", empty for nothing; default: pileup's own."""
    path = python or home() / "bin" / "python"
    folder = path.parent.parent
    if not path.is_file():
        return f"Rucio is not installed: there is no {path}; expected it, by `{installing(folder)}`"
    lacking = [name for place, name in MODULES.items() if not any(folder.glob(f"lib/python3*/site-packages/{place}"))]
    if not lacking:
        return ""
    told = f"the virtual environment {folder} lacks {', '.join(lacking)}"
    return f"{told}; expected it, by `{folder}/bin/pip install {' '.join(PACKAGES)}`"
