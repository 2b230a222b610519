"""A ramp through a computing element whose database has or has not the index: the direction of 2009, and the truth."""

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.e2e.cream import verdicts
from tests.servers.practice_batch import truth
from tests.support import EXAMPLES, pileup, require_program, run_folder

SMALL = {
    "scan": "{ce.rows: [20000], ce.index: [false, true]}",
    "jobs": "150",
    "repeats": "2",
    "duration": "100 ms",
}
ONE_MS = 10**6


def makespans(results: dict[str, Any]) -> dict[str, list[float]]:
    """Point -> makespan of each repeat, s."""
    (found,) = (each for each in results["comparisons"] if each["operation"] == "makespan")
    names = [point["name"] for point in results["points"]]
    return {names[each["point"]]: [value / 1e9 for value in each["repeats"]] for each in found["points"]}


@pytest.mark.timed
def test_without_the_index_it_takes_longer_until_all_is_done(tmp_path: Path) -> None:
    require_program("mariadbd", "apt-get install mariadb-server-core")
    given = [word for name, value in SMALL.items() for word in ("--set", f"{name}={value}")]
    done = pileup("run", str(EXAMPLES / "cream-index.yaml"), "--quiet", *given, cwd=tmp_path, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    folder = tmp_path / run_folder(done)
    results = json.loads((folder / "results.json").read_text())
    assert verdicts(results) == dict.fromkeys(("S", "L", "F", "I"), "met")
    found = makespans(results)
    without, with_index = found["ce.rows=20000, ce.index=false"], found["ce.rows=20000, ce.index=true"]
    assert all(slow > 1.5 * fast for slow, fast in zip(without, with_index, strict=True)), found
    (journal,) = folder.rglob("jobs.csv")
    jobs = truth(journal)
    assert len(jobs) == 4 * 150
    assert {job.state for job in jobs} == {"completed"}
    true = sorted(
        (max(job.times["ended"] for job in some) - min(job.times["submitted"] for job in some)) / 1e9
        for some in (jobs[at : at + 150] for at in range(0, 600, 150))
    )
    measured = sorted(without + with_index)
    assert all(told >= known for told, known in zip(measured, true, strict=True)), (measured, true)
    rows = f"SELECT key, \"end\" FROM '{folder}/operations/*.parquet' WHERE operation = 'job'"
    ended = dict(duckdb.sql(rows).fetchall())
    assert set(ended) == {job.name for job in jobs}
    assert max(abs(ended[job.name] - job.times["ended"]) for job in jobs) < ONE_MS
