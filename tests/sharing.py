"""How tests are shared out among workers: in what order, together where they share what is set up, else one by one."""

import functools
import re
from pathlib import Path

from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

FIRST = (
    "tests/e2e/test_tutorial.py",
    "tests/contract/test_tpc.py",
    "tests/e2e/test_arc_behind.py",
    "tests/e2e/test_query_together.py",
    "tests/e2e/test_root_io.py",
    "tests/e2e/test_simulate.py",
    "tests/simulation/",
    "tests/e2e/test_notebook.py",
    "tests/e2e/test_cream_slurm.py",
    "tests/e2e/test_cream_arc.py",
    "tests/e2e/test_matrix.py",
    "tests/e2e/test_catalogue.py",
    "tests/e2e/test_hold.py",
    "tests/e2e/test_harness.py",
    "tests/e2e/test_control_plane.py",
    "tests/e2e/test_find_truth.py",
    "tests/e2e/test_recovery.py",
    "tests/e2e/test_find.py",
    "tests/e2e/test_database_suite.py",
    "tests/contract/test_batch_systems.py",
    "tests/contract/test_rucio.py",
    "tests/e2e/test_cream_",
    "tests/truth/",
    "tests/e2e/",
    "tests/browser/",
    "tests/zoo/",
    "tests/contract/",
    "tests/repo/",
)
"""Begin of what takes longest, and that first: else one worker is busy with it when all others have ended."""
IN_TURN = ("tests/e2e/test_cream_arc.py", "tests/e2e/test_cream_slurm.py")
"""Files that are for one worker: beside each other, two batch systems that start hundreds of jobs make both late."""
SHARED = re.compile(r"scope=|^@(?:functools\.)?cache", re.MULTILINE)
"""What a file (or the conftest.py beside it) has whose tests share fixtures or results."""


def place(test: str) -> int:
    """Return where a test comes by what it takes."""
    return next((at for at, begin in enumerate(FIRST) if test.startswith(begin)), len(FIRST))


@functools.cache
def shared(path: Path) -> bool:
    """Return whether the tests of a file share what takes time to make: together, they make it once."""
    return any(bool(SHARED.search(each.read_text())) for each in (path, path.parent / "conftest.py") if each.exists())


class Sharing(LoadScopeScheduling):
    """Gives a worker the next file or test when it begins with its last one, not two before: some take a minute."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        if file in IN_TURN:
            return IN_TURN[0]
        return file if shared(self.config.rootpath / file) else nodeid

    def _reschedule(self, node: WorkerController) -> None:
        # a worker begins with a test when it knows the next one, or that there is none
        if node.shutting_down or not self.workqueue or self._pending_of(self.assigned_work[node]) < 2:
            super()._reschedule(node)
