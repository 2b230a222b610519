"""The practice computing element as a kind of target."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from pileup.builtin.database.mariadb import SLOW_LOG, SOCKET, known_user, mariadb_parts
from pileup.builtin.element.settings import ElementSettings
from pileup.builtin.element.tables import DATABASE
from pileup.builtin.practice.batch import PracticeBatchTarget
from pileup.plugin import Daemon, Launcher, Line, Refused, Task
from pileup.plugin.batch import Delegation

URL = "http://127.0.0.1:{port:element}/"
BATCH = "http://127.0.0.1:{port}/"
READY_WITHIN = 180 * 10**9
"""Its tables may have millions of rows."""


class PracticeElementTarget(PracticeBatchTarget):
    """Computing element whose jobs are rows of a real MariaDB, before a batch system of known truth.

    It accepts a job as soon as its rows are written, and hands it over to the batch system afterwards, as CREAM did:
    what its database costs is seen by who submits, and by who waits until all is done. `index` says whether the table
    extra_attribute has the index that CREAM's lacked in 2009; `rows` are jobs that are in the database before. Needs
    `pip install 'pileup[sql]'`.

    Its daemons are mariadbd, batch and element; `jobs.csv` in its folder of the run says what happened to each job in
    the batch system. Monitors sql and slow-queries may name it. Jobs are simulated, as those of kind `practice-batch`.
    """

    kind = "practice-element"
    launch_settings = ElementSettings

    @classmethod
    def launcher(cls, settings: Mapping[str, object], folder: Path) -> Launcher | None:
        """Return how to start one. Raises ValueError for a wrong setting, and when this machine lacks something."""
        wanted = ElementSettings.model_validate(settings)
        if wanted.server != "mariadb":
            raise ValueError(f"server {wanted.server!r}; expected mariadb, whose statements the element speaks")
        if importlib.util.find_spec("pymysql") is None:
            raise ValueError("pymysql is not installed here; expected it (pip install 'pileup[sql]')")
        grants = f"CREATE DATABASE IF NOT EXISTS {DATABASE} CHARACTER SET utf8mb4;\n"
        database = mariadb_parts(grants, wanted.for_mariadb(SLOW_LOG))
        batch = _behind(wanted, folder)
        words = ("{port:element}", BATCH, SOCKET, wanted.model_dump_json())
        element = Daemon(
            (sys.executable, "-m", "pileup.builtin.element.server", *words),
            Line("^ready$"),
            name="element",
            ready_within=READY_WITHIN,
            as_pileup=True,
        )
        user = known_user("mysql", "nobody")
        return Launcher((*database.processes, *batch, element), URL, database.files, user=user)

    @cached_property
    def _about(self) -> dict[str, str]:
        return {name: str(value) for name, value in self._asked("GET", "about").items()}

    @property
    def database_url(self) -> str:
        """Where its database is, for monitors that ask it too."""
        return self._about.get("database", "")

    @property
    def slow_log(self) -> str:
        """The log of slow queries of its database; empty when there is none."""
        return self._about.get("slow_log", "")

    @property
    def introduces(self) -> bool:
        """Whether users can be registered: there are none."""
        return False

    def delegate(self, lifetime: int, user: str = "") -> Delegation:
        """Refuse: it knows no credentials."""
        raise Refused("a practice-element knows no credentials; expected `delegation: none`")

    def renew(self, delegation: Delegation, lifetime: int) -> Delegation:
        """Refuse: it knows no credentials."""
        raise Refused("a practice-element knows no credentials; expected no renewal")


def _behind(wanted: ElementSettings, folder: Path) -> Iterator[Daemon | Task]:
    """Yield the batch system behind it, which has the journal."""
    settings = {"slots": wanted.slots, "cycle": f"{wanted.cycle} ns", "limit": 10_000_000}
    made = PracticeBatchTarget.launcher(settings, folder)
    for each in made.processes if made is not None else ():
        yield replace(each, name="batch", as_pileup=True) if isinstance(each, Daemon) else each
