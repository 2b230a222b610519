"""A private Slurm on this machine, launched as a suite's is."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from pileup.builtin.slurm.launcher import slurm_launcher
from pileup.builtin.slurm.target import SlurmTarget
from pileup.run.servers.processes import marked
from pileup.run.servers.supervisor import Supervisor
from tests.servers.launched import NAME, supervised
from tests.support import require_program, require_programs

PROGRAMS = {
    "munged": "munge",
    "slurmctld": "slurm-wlm",
    "slurmd": "slurm-wlm",
    "sbatch": "slurm-wlm",
    "slurmrestd": "slurmrestd",
}
WITH_ACCOUNTING = {
    "slurmdbd": "slurmdbd",
    "mariadbd": "mariadb-server-core",
    "my_print_defaults": "mariadb-client-core",
}
QUICK = {"cycle": 0, "defer": False}
"""Settings of one that starts jobs at once."""


@dataclass(frozen=True)
class RunningSlurm:
    """A running Slurm."""

    supervisor: Supervisor

    @property
    def home(self) -> Path:
        """The folder of everything that is its own, which goes with it."""
        short = self.supervisor._find(NAME)[0].filling.short
        assert short is not None
        return short

    def target(self, **options: Any) -> SlurmTarget:
        """Return a target that reaches it."""
        return SlurmTarget(self.supervisor.url(NAME), **options)

    def kill(self, process: str, number: int = 9) -> None:
        """End one of its daemons by a signal."""
        self.supervisor.kill(f"{NAME}.{process}", number)

    def restart(self, process: str = "", **settings: Any) -> None:
        """Start one of its daemons again; or, with other settings, all of them."""
        if process:
            self.supervisor.restart(f"{NAME}.{process}")
        else:
            self.supervisor.restart(NAME, slurm_launcher(settings))

    def command(self, *words: str) -> str:
        """Run one of its commands, as its user."""
        target = self.target()
        return "\n".join(target.commands.lines(*words))

    def processes(self) -> list[psutil.Process]:
        """Return what was started because of it, steps of jobs too, and their descendants: the jobs."""
        found = marked(self.supervisor._find(NAME)[0]._mark)
        return [*found, *(child for each in found for child in each.children(recursive=True) if child not in found)]


@contextlib.contextmanager
def slurm(folder: Path, /, **settings: Any) -> Iterator[RunningSlurm]:
    """Yield a Slurm with these settings (of a suite's `launch`); its logs are folder.logs/slurmctld.log and so on."""
    require_programs(PROGRAMS | (WITH_ACCOUNTING if settings.get("accounting") else {}))
    if settings.get("tokens"):
        found = sorted(Path("/usr/lib").glob("*/slurm-wlm/auth_jwt.so"))
        require_program(str(found[0] if found else "auth_jwt.so"), "apt-get install slurm-wlm-jwt-plugin")
    with supervised(slurm_launcher(settings), folder) as supervisor:
        yield RunningSlurm(supervisor)
