"""A private computing element: ARC CE, with its REST service, over a private Slurm, all as one ordinary user."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any

from pileup.builtin.arc import launcher_files as texts
from pileup.builtin.arc.accounting import OWN
from pileup.builtin.arc.settings import ArcSettings
from pileup.builtin.slurm.launcher import SlurmParts, slurm_parts
from pileup.builtin.slurm.settings import SECOND
from pileup.plugin import Answer, Daemon, Exists, File, Launcher, Task
from pileup.plugin.launcher import Ready

URL = "https://localhost:{port}/arex"
IDENTITIES = "{short}/identities"
TOLD = "pileup.json"
"""Beside the identities: what a target needs to know of a private CE."""
INSTALL = {
    "arched": "nordugrid-arc-arex",
    "arcconfig-parser": "nordugrid-arc-arex",
    "openssl": "openssl",
    "sbatch": "slurm-wlm",
    "squeue": "slurm-wlm",
}
"""Program to Debian package."""
ROOT = Path("/usr")
SCHEMA = ROOT / "share/arc/sql-schema/arex_accounting_db_schema_v1.sql"
ACCOUNTING = f"{texts.CONTROL}/accounting/accounting.db"
WRITE_AHEAD = b"\2\2"
"""What bytes 18 and 19 of a database of SQLite say for a write-ahead log (sqlite.org/fileformat2.html)."""
FOLDERS = {
    IDENTITIES: 0o700,
    texts.CA_FOLDER: 0o755,
    texts.HOME: 0o755,
    texts.CONTROL: 0o700,
    f"{texts.HOME}/session": 0o700,
    f"{texts.HOME}/scratch": 0o1777,
    f"{texts.HOME}/log": 0o755,
    f"{texts.HOME}/run": 0o755,
    f"{texts.HOME}/bin": 0o755,
}
GRACE = 20 * SECOND
MEMORY = {"MALLOC_ARENA_MAX": "2"}
"""As its own start scripts have it."""


def arc_launcher(settings: Mapping[str, object], folder: Path) -> Launcher:
    """Return how to start one; `folder` is that of the target below the run.

    Raises ValueError for a setting that is unknown or out of bounds, and when this machine lacks something.
    """
    wanted = ArcSettings.model_validate(settings)
    slurm = slurm_parts(wanted.model_copy(update={"directives": (*wanted.directives, texts.PROLOG)}))
    processes = (*slurm.processes, *_tasks(), *_daemons(slurm))
    files = (*slurm.files, *_files(wanted, slurm), *_identities(wanted, folder, slurm.conf))
    own = f"{IDENTITIES}/{OWN}.pem"
    credentials = {"ca": f"{texts.CA_FOLDER}/ca.pem", "certificate": own, "key": own}
    return Launcher(processes, URL, files, user=slurm.user, credentials=credentials, disk=texts.CONTROL)


def _program(name: str) -> str:
    places = (os.environ.get("PATH", ""), "/usr/sbin", str(ROOT / "lib/arc"), str(ROOT / "lib64/arc"))
    found = shutil.which(name, path=":".join(places))
    if found is None:
        raise ValueError(
            f"{name} is not installed here; expected it (Debian: apt-get install {INSTALL[name]}), or a url"
        )
    return found


def _tasks() -> Iterator[Task]:
    """Yield what is done before the daemons start: CAs are looked up by a hash of their names."""
    yield Task((_program("openssl"), "rehash", texts.CA_FOLDER), name="rehash", folder="{short}")
    words = ("--config", texts.CONFIGURATION, "--runconfig", texts.RUNNING, "--save")
    yield Task((_program("arcconfig-parser"), *words), name="configure", folder="{short}", again=True)


def _daemons(slurm: SlurmParts) -> Iterator[Daemon]:
    """Yield who does the work, and who answers clients. Of both, the scripts that they have started are ended too."""
    environment = {
        **slurm.environment,
        **MEMORY,
        "ARC_LOCATION": str(ROOT),
        "ARC_CONFIG": texts.CONFIGURATION,
        "X509_USER_CERT": "{short}/host.pem",
        "X509_USER_KEY": "{short}/host.pem",
        "X509_CERT_DIR": texts.CA_FOLDER,
        "TMPDIR": f"{texts.HOME}/scratch",
        "HOME": texts.HOME,
        "TZ": "UTC",
    }
    ready: dict[str, Ready] = {"arex": Exists(f"{texts.CONTROL}/gm.fifo"), "arex-ws": Answer((texts.READY, "{port}"))}
    for name, sign in ready.items():
        words = (_program("arched"), "-f", "-c", f"{texts.HOME}/{name}.xml")
        yield Daemon(words, sign, name=name, environment=environment, folder=f"{texts.HOME}/log", grace=GRACE)


def _files(wanted: ArcSettings, slurm: SlurmParts) -> Iterator[File]:
    for path, mode in FOLDERS.items():
        yield File(path, mode=mode)
    for name in texts.COMMANDS:
        text = texts.WRAPPER.format(conf=slurm.conf, program=shutil.which(name) or _program("sbatch"))
        yield File(f"{texts.HOME}/bin/{name}", text, mode=0o755)
    yield File(texts.NOTE, texts.NOTE_SCRIPT, mode=0o755)
    yield File(texts.READY, texts.READY_SCRIPT.format(openssl=_program("openssl"), ca=texts.CA_FOLDER), mode=0o755)
    modules = str(Path(_program("arcconfig-parser")).parent)
    yield File(f"{texts.CONTROL}/accounting", mode=0o700)
    yield File(ACCOUNTING, _accounting(), keep=True)
    yield File(texts.CONFIGURATION, texts.arc_conf(wanted, slurm.partition), mode=0o644)
    yield File(f"{texts.HOME}/arex.xml", texts.arex_xml(wanted, modules))
    yield File(f"{texts.HOME}/arex-ws.xml", texts.rest_xml(modules))


def _accounting() -> bytes:
    """Return the accounting as A-REX would make it, but with a write-ahead log: who reads it never waits."""
    if not SCHEMA.is_file():
        raise ValueError(f"there is no {SCHEMA}; expected it (Debian: apt-get install nordugrid-arc-arex)")
    with closing(sqlite3.connect(":memory:")) as made:
        made.executescript(SCHEMA.read_text())
        data = made.serialize()
    return data[:18] + WRITE_AHEAD + data[20:]


def _identities(wanted: ArcSettings, folder: Path, slurm_conf: str) -> Iterator[File]:
    """Yield keys, certificates and who may come in. They stay over restarts: clients know them."""
    module = _certificates()
    authority = _authority(folder)
    names = [OWN, *wanted.user_names()]
    yield File(f"{texts.CA_FOLDER}/ca.pem", authority.pair.certificate, mode=0o644, keep=True)
    yield File("{short}/ca-key.pem", authority.pair.key, mode=0o400, keep=True)
    yield File("{short}/host.pem", authority.host().both, mode=0o400, keep=True)
    yield File(texts.SUBJECTS, "".join(f'"{module.subject(name)}"\n' for name in names), mode=0o644, keep=True)
    for name in names:
        yield File(f"{IDENTITIES}/{name}.pem", authority.user(name).both, mode=0o400, keep=True)
    told = {
        "accounting": ACCOUNTING,
        "ca": f"{texts.CA_FOLDER}/ca.pem",
        "ca_key": "{short}/ca-key.pem",
        "subjects": texts.SUBJECTS,
        "control": texts.CONTROL,
        "begun": texts.BEGUN,
        "slurm_conf": slurm_conf,
        "squeue": _program("squeue"),
    }
    yield File(f"{IDENTITIES}/{TOLD}", json.dumps(told), mode=0o644)


@lru_cache(maxsize=8)
def _authority(folder: Path) -> Any:
    """Return the CA of a target: the same one for all that is asked of its launcher, a restart with more users too."""
    return _certificates().Authority.make()


def _certificates() -> Any:
    try:
        from pileup.builtin.arc import identities  # noqa: PLC0415  of an extra
    except ImportError as problem:
        raise ValueError(
            f"{problem.name} is not installed, which a private computing element needs; "
            "expected it: pip install 'pileup[servers]'"
        ) from None
    return identities
