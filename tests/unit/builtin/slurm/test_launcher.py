"""What a private Slurm is made of, without starting one."""

import json
import re
from typing import Any

import pytest
from pydantic import ValidationError

from pileup.builtin.slurm.launcher import CONF, slurm_launcher, slurm_parts
from pileup.builtin.slurm.settings import SlurmSettings
from pileup.plugin import Daemon, Launcher, Task
from tests.support import require_program

require_program("slurmctld", "apt-get install slurm-wlm")
require_program("slurmrestd", "apt-get install slurmrestd")


def texts(launcher: Launcher) -> dict[str, Any]:
    return {file.path: file.content for file in launcher.files}


def daemons(launcher: Launcher) -> list[str]:
    return [each.name for each in launcher.processes if isinstance(each, Daemon)]


def test_the_daemons_come_in_the_order_in_which_they_need_each_other() -> None:
    assert daemons(slurm_launcher({})) == ["munged", "slurmctld", "slurmd", "slurmrestd"]
    assert daemons(slurm_launcher({"nodes": 2})) == ["munged", "slurmctld", "slurmd-n1", "slurmd-n2", "slurmrestd"]
    require_program("slurmdbd", "apt-get install slurmdbd")
    require_program("mariadbd", "apt-get install mariadb-server-core")
    made = slurm_launcher({"accounting": True})
    assert daemons(made) == ["munged", "mariadbd", "slurmdbd", "slurmctld", "slurmd", "slurmrestd"]
    assert [each.name for each in made.processes if isinstance(each, Task)] == ["mariadb-install-db", "cluster"]


def test_every_node_lets_the_jobs_end_before_it_does() -> None:
    nodes = [each for each in slurm_launcher({"nodes": 3}).processes if each.name.startswith("slurmd-")]
    assert len(nodes) == 3
    assert all(isinstance(node, Daemon) and node.before_end for node in nodes)


def test_slots_are_shared_by_the_nodes() -> None:
    text = texts(slurm_launcher({"slots": 7, "nodes": 3}))[CONF]
    assert [int(size) for size in re.findall(r"^NodeName=.* CPUs=(\d+)", text, re.MULTILINE)] == [3, 2, 2]
    assert sum(SlurmSettings(slots=500, nodes=64).node_slots()) == 500


@pytest.mark.parametrize(("root", "node_user", "users"), [(0, "root", ["bin", "games"]), (1000, "{user}", [])])
def test_jobs_run_as_several_users_where_root_starts_the_nodes(
    monkeypatch: pytest.MonkeyPatch, root: int, node_user: str, users: list[str]
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: root)
    made = slurm_launcher({"accounts": ["bin", "games"], "tokens": True})
    (node,) = (each for each in made.processes if isinstance(each, Daemon) and each.name == "slurmd")
    modes = {file.path: file.mode for file in made.files}
    assert f"\nSlurmdUser={node_user}\n" in texts(made)[CONF]
    assert json.loads(texts(made)["{short}/etc/pileup.json"])["users"] == users
    assert node.as_pileup is (root == 0)
    assert modes.get("{short}") == (0o711 if root == 0 else None)
    assert modes["{short}/run"] == (0o700 if root == 0 else 0o755)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"accounts": ["nobody-at-all"], "tokens": True}, "'nobody-at-all' is no account of this machine"),
        ({"accounts": ["root"], "tokens": True}, "'root' is no account of this machine that may run jobs"),
        ({"accounts": ["bin"]}, "expected `tokens: true` beside them"),
    ],
)
def test_users_that_cannot_be_are_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        slurm_launcher(settings)


def test_settings_stand_in_the_configuration() -> None:
    wanted = {"max_jobs": 77, "min_job_age": "10 s", "cycle": "20 ms", "depth": 9, "directives": ["Licenses=a:3"]}
    text = texts(slurm_launcher(wanted))[CONF]
    for line in ("MaxJobCount=77", "MinJobAge=10", "Licenses=a:3", "MaxArraySize=77"):
        assert f"\n{line}\n" in text
    scheduler = re.search(r"SchedulerParameters=(\S+)", text)
    assert scheduler is not None
    assert scheduler[1].split(",")[0] == "defer"
    assert {"sched_min_interval=20000", "default_queue_depth=9"} <= set(scheduler[1].split(","))
    assert "defer" not in texts(slurm_launcher({"defer": False}))[CONF]


def test_keys_stay_over_restarts_and_are_for_their_owner_alone() -> None:
    keys = [file for file in slurm_launcher({}).files if file.path.endswith(".key")]
    assert keys
    assert all(file.keep and file.mode & 0o077 == 0 for file in keys)


def test_a_target_is_told_where_it_is() -> None:
    told = json.loads(texts(slurm_launcher({}))["{short}/etc/pileup.json"])
    assert told["completions"]
    assert not told["database"]
    assert slurm_launcher({}).url == "unix:{short}/run/rest.sock"
    assert slurm_parts(SlurmSettings()).environment == {"SLURM_CONF": CONF}


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"nodes": 3, "slots": 2}, "3 nodes share 2 slots"),
        ({"directives": ["a\nb"]}, "several lines"),
        ({"slow_queries": "1 s"}, "accounting: true"),
        ({"nonsense": 1}, "nonsense"),
        ({"slots": 0}, "slots"),
    ],
)
def test_what_does_not_fit_is_refused(wanted: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        slurm_launcher(wanted)


def test_a_program_that_is_missing_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    with pytest.raises(
        ValueError, match=r"munged is not installed here; expected it \(Debian: apt-get install munge\)"
    ):
        slurm_launcher({})
