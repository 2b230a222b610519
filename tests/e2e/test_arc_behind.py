"""A real ARC whose batch system is killed behind it: every submission is accounted for, and what ran twice is named.

The truth is written by the jobs themselves: each adds its session folder, whose name is its id, to a file.
"""

import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from pileup.record import RunFolder
from tests.servers.arc import PROGRAMS
from tests.servers.slurm import WITH_ACCOUNTING
from tests.support import pileup, require_programs, run_folder

RESUME = "sh -c 'for n in $$(sinfo -h -N -t drain -o %N); do scontrol update nodename=$$n state=resume; done'"
"""What an operator does: Slurm drains the nodes on which ids that it has given again were running before."""
DAEMONS = ("slurmctld", "slurmd-n1", "slurmd-n2", "slurmd-n3", "slurmd-n4", "slurmdbd", "mariadbd", "munged")


@pytest.fixture
def begun() -> Iterator[Path]:
    """A file that jobs of any user can add to."""
    with TemporaryDirectory(prefix="pileup-begun-") as folder:
        Path(folder).chmod(0o777)  # jobs run as the user of Slurm
        path = Path(folder) / "begun"
        path.touch()
        path.chmod(0o666)
        yield path


def suite(
    begun: Path, seconds: int, rate: int, faults: list[dict[str, Any]], patience: str = "90 s", **launch: Any
) -> dict[str, Any]:
    settings = {"slots": 8, "nodes": 4, "cycle": "100 ms", "defer": False, "information": "10 min", **launch}
    jobs = {"work": "command", "command": ["sh", "-c", f"pwd >> {begun}; sleep 1"]}
    return {
        "pileup": 1,
        "title": "behind",
        "targets": {"ce": {"kind": "arc", "launch": settings, "options": {"patience": "20 s"}}},
        "tests": [
            {
                "name": "submit",
                "use": "computing.submit",
                "target": "ce",
                "options": jobs,
                "load": {"rate": f"{rate} /s", "for": f"{seconds} s"},
                "fail_when": "never",
            },
            {
                "name": "drain",
                "use": "computing.poll",
                "target": "ce",
                "after": ["submit"],
                "options": {"drain": True},
                "timeout": patience,
                "fail_when": "never",
            },
        ],
        "faults": faults,
    }


def checked(folder: Path, asked: dict[str, Any], begun: Path) -> tuple[dict[str, Any], Counter[str]]:
    """Run; return results.json and how many submissions have each fate, all held against what the jobs wrote."""
    (folder / "suite.yaml").write_text(json.dumps(asked))
    done = pileup("run", "suite.yaml", "--quiet", cwd=folder, timeout=500)
    said = done.stdout + done.stderr
    record = RunFolder.open(folder / run_folder(done))
    results = json.loads((record.path / "results.json").read_text())
    at_end = next(each for each in results["audits"] if each["fault"] == -1)
    assert at_end["problem"] == "", said
    rows = list(record.findings())
    found = {each.claim.id: each for each in rows if each.audit == max(row.audit for row in rows)}
    times = Counter(line.rpartition("/")[2] for line in begun.read_text().split())
    assert set(times) <= set(found), "nothing ran that nobody has submitted"
    twice = {each.claim.name for each in found.values() if times[each.claim.id] > 1}
    assert twice == {each.claim.name for each in found.values() if each.fate == "ran twice"}, said
    assert {each["name"] for each in at_end["bad"] if each["fate"] == "ran twice"} <= twice, said
    never = {each.claim.name for each in found.values() if each.state == "completed" and not times[each.claim.id]}
    assert never == {each.claim.name for each in found.values() if each.fate == "lost" and each.jobs}, said
    counts = next(case for case in results["cases"] if case["name"] == "submit")["operations"][0]["counts"]
    assert at_end["acknowledged"] == counts["passed"]
    assert at_end["claims"] == len(found) == sum(at_end["fates"].values()) == counts["passed"] + counts["ambiguous"]
    assert counts["failed"] == counts["refused"] == counts["ambiguous"] == 0, "a CE takes jobs without its batch system"
    return results, Counter(each.fate for each in found.values())


@pytest.mark.long
def test_a_batch_system_killed_behind_arc_lets_jobs_run_twice_and_they_are_named(tmp_path: Path, begun: Path) -> None:
    require_programs(PROGRAMS)
    kill = {"name": "kill", "at": "14 s", "do": "kill", "target": "ce.slurmctld", "for": "3 s"}
    mend = {"name": "mend", "at": "26 s", "do": "command", "target": "ce.slurmctld", "run": RESUME}
    results, fates = checked(tmp_path, suite(begun, 30, 2, [kill, mend]), begun)
    assert sum(fates.values()) == 60
    assert results["run"].get("fault_problems") == []
    assert fates["ran once"] > 0


@pytest.mark.long
def test_after_twenty_random_kills_every_submission_is_accounted_for(tmp_path: Path, begun: Path) -> None:
    require_programs(PROGRAMS | WITH_ACCOUNTING)
    source = random.Random(2009)
    kills = [
        {
            "name": f"kill{number}",
            "at": f"{3000 + 3000 * number + source.randrange(1000)} ms",
            "do": "kill",
            "target": f"ce.{source.choice(DAEMONS)}",
            "for": f"{source.randrange(200, 1500)} ms",
        }
        for number in range(20)
    ]
    mends = [
        {"name": f"mend{at}", "at": f"{at} s", "do": "command", "target": "ce.slurmctld", "run": RESUME}
        for at in (27, 48, 67)
    ]
    results, fates = checked(tmp_path, suite(begun, 70, 1, kills + mends, patience="30 s", accounting=True), begun)
    happened = {each["fault"] for each in results["events"] if each["kind"] == "fault"}
    assert {each["name"] for each in kills} <= happened
    assert results["run"].get("fault_problems") == []
    assert sum(fates.values()) == 70


def moments(path: Path, pattern: str) -> list[str]:
    """Return the times of day, in seconds, of the lines of a log that have a pattern; MariaDB writes ` 7:05:00`."""
    found = re.findall(rf"^\[?[\d-]{{10}} ([ \d]\d:\d\d:\d\d)\b.*(?:{pattern})", path.read_text(), re.MULTILINE)
    return [each.replace(" ", "0") for each in found]


@pytest.mark.long
def test_a_whole_computing_element_restarted_under_load_comes_back_with_all_its_jobs(
    tmp_path: Path, begun: Path
) -> None:
    """All its daemons end in order, and begin again as a host starts them: the database first, the interface last."""
    require_programs(PROGRAMS | WITH_ACCOUNTING)
    again = {"name": "again", "at": "10 s", "do": "restart", "target": "ce"}
    mend = {"name": "mend", "at": "30 s", "do": "command", "target": "ce.slurmctld", "run": RESUME}
    (tmp_path / "suite.yaml").write_text(json.dumps(suite(begun, 36, 2, [again, mend], accounting=True)))
    done = pileup("run", "suite.yaml", "--quiet", cwd=tmp_path, timeout=500)
    said = done.stdout + done.stderr
    record = RunFolder.open(tmp_path / run_folder(done))
    results = json.loads((record.path / "results.json").read_text())
    counts = next(case for case in results["cases"] if case["name"] == "submit")["operations"][0]["counts"]
    assert counts["passed"] > 20, "before and after"
    assert counts["failed"] + counts["refused"] + counts["ambiguous"] > 0, "nobody takes a job meanwhile"
    at_end = next(each for each in results["audits"] if each["fault"] == -1)
    assert at_end["problem"] == "", said
    assert at_end["acknowledged"] == counts["passed"]
    assert at_end["fates"]["lost"] == at_end["fates"]["never"] == 0, said
    assert sum(at_end["fates"].values()) == at_end["claims"] == counts["passed"] + counts["ambiguous"]
    logs = record.path / "servers/ce.logs"
    taken_down, _ = moments(logs / "arex.log", "Stopped job processing")
    database_down, _ = moments(logs / "mariadbd.log", "Starting shutdown")
    _, database_up = moments(logs / "mariadbd.log", "ready for connections")
    _, taken_up = moments(logs / "arex.log", "Loaded Service")
    assert taken_down <= database_down <= database_up <= taken_up
