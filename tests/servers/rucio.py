"""A private Rucio on this machine, launched as a suite's is."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pileup.builtin.database.sql_text import parse
from pileup.builtin.database.target import DatabaseTarget
from pileup.builtin.rucio.launcher import missing, rucio_launcher
from pileup.builtin.rucio.settings import RucioSettings
from pileup.builtin.rucio.target import RucioTarget
from pileup.model.suite import Credentials
from pileup.run.servers.supervisor import Supervisor
from tests.servers.launched import NAME, supervised
from tests.support import give_up, require_programs

POSTGRESQL = "/usr/lib/postgresql"


def require_rucio() -> None:
    """Go on only where a private Rucio can be started."""
    found = next(Path(POSTGRESQL).glob("*/bin/postgres"), Path(POSTGRESQL))
    require_programs({"memcached": "memcached", str(found): "postgresql"})
    if problem := missing():
        give_up(f"{problem}; or: python tools/rucio.py")


@dataclass(frozen=True)
class RunningRucio:
    """A running Rucio."""

    supervisor: Supervisor

    @property
    def url(self) -> str:
        return self.supervisor.url(NAME)

    @property
    def token_file(self) -> Path:
        return Path(self.supervisor.credentials(NAME)["token_file"])

    def target(self, **options: Any) -> RucioTarget:
        """Return a target that reaches it as pileup does that has launched it."""
        return RucioTarget(self.url, Credentials(token_file=str(self.token_file)), **options)

    def attached(self, credentials: dict[str, str], **options: Any) -> RucioTarget:
        """Return a target that knows no more of it than of somebody else's."""
        words = {"scope": "pileup", "rses": ["PILEUP-1", "PILEUP-2"], **options}
        return RucioTarget(self.url, Credentials.model_validate(credentials), **words)

    def login(self) -> dict[str, str]:
        """Return user and password."""
        private = self.target().private
        assert private is not None
        return {"user": private.user, "password": private.password}

    def ask(self, statement: str) -> list[tuple[Any, ...]]:
        """Ask its database, past Rucio."""
        with contextlib.closing(DatabaseTarget(self.target().database_url).session(30 * 10**9)) as session:
            session.connect()
            return [tuple(row) for row in session.execute(parse(statement), {}).rows]


@contextlib.contextmanager
def rucio(folder: Path, **settings: Any) -> Iterator[RunningRucio]:
    """Yield a private Rucio."""
    require_rucio()
    with supervised(rucio_launcher(RucioSettings.model_validate(settings)), folder) as supervisor:
        yield RunningRucio(supervisor)
