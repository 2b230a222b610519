"""What is not installed is a failure where CI=true: tests that skip by themselves are those of CONTRIBUTING.md."""

import re

from tests.support import ROOT

SKIP = re.compile(r"pytest\.skip\(|pytest\.mark\.skipif\(|pytest\.importorskip\(")
RIGHTS = {
    "component/builtin/slurm/test_commands.py",
    "component/run/faults/test_schedule.py",
    "component/run/monitoring/test_far_proc.py",
    "component/run/recovery/test_registry.py",
    "component/run/servers/test_child_environment.py",
    "component/run/servers/test_disks.py",
    "component/run/servers/test_one_process.py",
    "component/run/servers/test_supervisor.py",
    "contract/test_slurm.py",
    "e2e/test_no_room.py",
    "e2e/test_query_together.py",
    "e2e/test_slurm_disk_full.py",
    "e2e/test_storage_by_url.py",
    "e2e/test_storage_suites.py",
    "servers/outside.py",
}
"""They need root, or the right to mount, or to enter the folder of the clone."""
NOT_PACKAGED = {"servers/s3.py", "repo/test_containerfile.py"}
"""MinIO, versitygw without Go, a builder of containers."""
NOTHING_THERE = {
    "contract/test_databases.py",
    "contract/test_sql_query.py",
    "repo/test_commits.py",
    "unit/plugin/test_registry.py",
}
"""What is tested does not exist for a parameter, or in this clone."""
DISTURBED = {"e2e/test_truth.py"}
HERE = {"support.py"}
"""`give_up`, which fails where CI=true."""


def test_no_other_file_skips_by_itself() -> None:
    tests = ROOT / "tests"
    found = {
        str(path.relative_to(tests))
        for path in tests.rglob("*.py")
        if "pileup-redis" not in path.parts and path.name != "test_skips.py" and SKIP.search(path.read_text())
    }
    assert found == RIGHTS | NOT_PACKAGED | NOTHING_THERE | DISTURBED | HERE
