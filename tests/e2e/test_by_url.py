"""Row A1: every suite of batch systems and databases runs on a system that pileup did not start, by its url, twice.

What needs a launched server falls away and is reported: monitors of processes, faults, what waits for them.
"""

import json
import os
import pwd
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pileup.builtin.database.read_only import Database
from pileup.builtin.database.source import Login
from tests.servers import arc, databases, slurm
from tests.servers.outside import Site, environment_of, python_of, slurm_site
from tests.servers.practice_batch import practice_batch
from tests.support import EXAMPLES, explained, pileup, require_programs, run_folder, unseen

NOT_STARTED = "pileup did not start "


@dataclass(frozen=True)
class Ended:
    """A run that has ended: its exit code, its results, and what it printed."""

    code: int
    results: dict[str, Any]
    said: str

    @property
    def verdicts(self) -> dict[str, str]:
        return {each["id"]: each["verdict"] for each in self.results["criteria"]}

    @property
    def coverage(self) -> dict[str, str]:
        """Coverage of the criteria that are not covered fully."""
        return {each["id"]: each["coverage"] for each in self.results["criteria"] if each["coverage"] != "full"}

    @property
    def outcomes(self) -> set[str]:
        return {case["outcome"] for case in self.results["cases"]}

    @property
    def lacking(self) -> set[str]:
        """What is not covered, as `monitor controller`."""
        return {f"{each['what']} {each['name']}" for each in self.results["run"]["not_covered"]}

    def fates(self, test: str) -> set[str]:
        found = next(each for each in self.results["audits"] if each["test"] == test)
        return {fate for fate, count in found["fates"].items() if count}


def words_of(values: dict[str, Any]) -> list[str]:
    return [word for name, value in values.items() for word in ("--set", f"{name}={value}")]


def ended(done: "subprocess.CompletedProcess[str]", folder: Path) -> Ended:
    said = done.stdout + done.stderr
    assert "Traceback" not in said, said
    results = json.loads((folder / run_folder(done) / "results.json").read_text())
    assert done.returncode == code_of(results), said
    found = Ended(done.returncode, results, said)
    assert found.outcomes <= {"passed", "unknown"}, said  # forty at once may be more than so short a time can show
    assert [each["problem"] for each in results["audits"] if each["problem"]] == [], said
    return found


def code_of(results: dict[str, Any]) -> int:
    """Return the exit code that outcomes and verdicts ask for: what a busy machine makes of loads so short may be any.

    A case that failed is 1, a criterion that is not met 4, a case or a criterion that is unknown 8.
    """
    cases = {case["outcome"] for case in results["cases"]}
    found = {each["verdict"] for each in results["criteria"]}
    if cases & {"failed", "error", "not run", "unavailable"}:
        return 1
    if found & {"not met", "not met, not shown"}:
        return 4
    return 8 if "unknown" in found | cases else 0


def run(suite: str, folder: Path, values: dict[str, Any], **environment: str) -> Ended:
    """Run a shipped suite in small form."""
    path = EXAMPLES / f"{suite}.yaml"
    done = pileup("run", str(path), "--quiet", *words_of(values), cwd=folder, timeout=240, **environment)
    return ended(done, folder)


def run_as(user: str, suite: str, folder: Path, values: dict[str, Any], **environment: str) -> Ended:
    """The same as an ordinary user, in a home of theirs: the folders of tests are root's."""
    if os.geteuid() != 0:
        return run(suite, folder, values, **environment)
    known = pwd.getpwnam(user)
    with tempfile.TemporaryDirectory(prefix="pileup-home-") as home:
        os.chown(home, known.pw_uid, known.pw_gid)
        done = subprocess.run(
            [python_of(user), "-m", "pileup", "run", str(EXAMPLES / f"{suite}.yaml"), "--quiet", *words_of(values)],
            cwd=home,
            env={**environment_of(), "HOME": home, "PILEUP_RUNS": f"{home}/runs", **environment},
            capture_output=True,
            text=True,
            timeout=240,
            user=user,
            group=known.pw_gid,
            extra_groups=[],
            check=False,
        )
        return ended(done, Path(home))


HELD = {"held": "6 s", "settle": "4 s", "minute": "3 s", "queue": 20, "slots": 10, "shortest": "1 s", "longest": "2 s"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    require_programs(slurm.PROGRAMS)
    settings = {"slots": 10, "tokens": True, "max_jobs": 200, "min_job_age": "5 s", **slurm.QUICK}
    with slurm_site(tmp_path_factory.mktemp("slurm"), **settings) as made:
        yield made


@pytest.mark.long
def test_a1_the_queue_of_a_sites_slurm_is_held_by_its_url_alone(tmp_path: Path, site: Site) -> None:
    values = {"targets.ce.url": site.url, **HELD}
    (tmp_path / "1").mkdir()
    first = run_as(site.user, "cream-slurm-ci", tmp_path / "1", values, **site.environment)
    one = {"test ramp", "test submit", "test newcomers"}  # all users are one there
    assert first.lacking == {"launch ce", "monitor controller", "monitor daemons", *one}
    assert first.fates("submit") <= {"ran once", "cancelled"}
    (target,) = first.results["run"]["targets"]
    assert target["about"].endswith("REST v0.0.38")
    assert "Not covered: monitors controller, daemons: pileup did not start ce" in "\n".join(first.results["notes"])
    (tmp_path / "2").mkdir()
    as_user = {"targets.ce.options.user": site.user, "targets.ce.options.config": site.environment["SLURM_CONF"]}
    more = {} if os.geteuid() else as_user
    values |= {"monitors.controller.program": "slurmctld", **more}
    second = run("cream-slurm-ci", tmp_path / "2", values, **site.environment)
    assert second.lacking == {"launch ce", "monitor daemons", *one}
    assert {each["metric"] for each in second.results["series"] if each["monitor"] == "controller"} >= {"number", "cpu"}


QUEUE = {"submitters": 2, "each": 15, "queue": 20, "least": 10, "slots": 10, "held": "6 s", "minute": "2 s"}


@pytest.mark.long
def test_a1_a_full_test_of_a_sites_slurm_says_that_its_data_base_is_not_known(tmp_path: Path, site: Site) -> None:
    values = {"targets.ce.url": site.url, "looks": "1 s", "shortest": "1 s", "longest": "2 s", **QUEUE}
    values["tests.drain.options.interval"] = "500 ms"
    found = run_as(site.user, "cream-slurm-full", tmp_path, values, **site.environment)
    assert found.fates("submit") <= {"ran once", "cancelled"}, "there is no accounting: by what polls have seen"
    daemons = {f"monitor {name}" for name in ("controller", "database", "daemons", "slow-queries")}
    assert found.lacking == {"launch ce", *daemons, "test ramp", "test submit", "test newcomers"}
    assert {each["metric"] for each in found.results["series"] if each["monitor"] == "slurm"} >= {"jobs", "cycle"}


ACCEPTED = {
    "jobs": 20,
    "slots": 10,
    "limit": 200,
    "normal": "2 s",
    "rate": "4 /s",
    "press": "4 /s",
    "unit": "150 ms",
    "shortest": "100 ms",
    "longest": "500 ms",
    "room": "2 s",
}


@pytest.mark.long
def test_a1_the_table_of_acceptance_tells_what_a_site_does_not_cover(tmp_path: Path, site: Site) -> None:
    values = {"targets.ce.url": site.url, **ACCEPTED}
    if os.geteuid() == 0:
        values["targets.ce.options.user"] = site.user
    found = run("cream-acceptance", tmp_path, values, **site.environment)
    faults = {f"fault {name}" for name in ("controller", "interface", "accounting", "database", "files", "killed")}
    tests = {"test restart", "test trouble", "test crash"}
    assert found.lacking == {"launch ce", "monitor controller", "monitor database", *faults, *tests}
    none = {"K", "M", "M-lost", "M-crash", "M-back", "X-lost", "X-jobs"}
    assert {name for name, coverage in found.coverage.items() if coverage == "none"} == none
    assert {name for name, verdict in found.verdicts.items() if verdict == "not covered"} == none
    assert (found.verdicts["D-ii"], found.verdicts["L-lost"]) == ("met", "met")
    criterion = next(each for each in found.results["criteria"] if each["id"] == "M-back")
    assert NOT_STARTED in criterion["reason"]
    assert found.results["run"]["fault_problems"] == []


ARC = {
    "held": "6 s",
    "band": "90 %",
    "settle": "4 s",
    "slots": 1,
    "each": 1,
    "queue": 2,
    "duration": "4 s",
    "minute": "10 s",
    "users": 2,
    "tests.submit.load.hold.start": "0.5 /s",
    "tests.submit.load.hold.between": "[0.5 /s, 1.25 /s]",  # two or three while it is measured, whatever the queue says
    "tests.drain.options.interval": "200 ms",
}


@pytest.fixture(scope="module")
def element(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[arc.RunningArc, Any]]:
    require_programs(arc.PROGRAMS)
    folder = tmp_path_factory.mktemp("arc")
    with arc.arc(folder, slots=4, users=2, **arc.QUICK) as made:
        yield made, made.site(folder)


def _access(target: Any) -> dict[str, str]:
    """Return the url and the credentials of a site's computing element, as settings of a run."""
    credentials = {name: getattr(target.credentials, name) for name in ("certificate", "key", "ca")}
    return {"targets.ce.url": target.url, "targets.ce.credentials": json.dumps(credentials)}


@pytest.mark.long
def test_a1_a_sites_computing_element_is_tested_by_url_and_credentials(
    tmp_path: Path, element: tuple[arc.RunningArc, Any]
) -> None:
    _, target = element
    values = {**_access(target), **ARC}
    (tmp_path / "1").mkdir()
    first = run("cream-arc", tmp_path / "1", values)
    monitors = {"monitor arc", "monitor arex", "monitor rest", "monitor slurmctld", "monitor slurm"}
    assert first.lacking == {"launch ce", *monitors, "test ramp", "test submit", "test newcomers"}
    assert first.coverage["D"] == "partial", "the newcomers are who we are"
    assert first.verdicts["A"] == "met"
    states = {each["labels"] for each in first.results["series"] if each["monitor"] == "slurm"}
    assert any("state=queued" in labels for labels in states), "by A-REX's REST interface"
    (tmp_path / "2").mkdir()
    second = run("cream-arc", tmp_path / "2", values | {"targets.ce.options.identities": target.identities})
    assert second.lacking == {"launch ce", *monitors, "test newcomers"}


ACCEPTED_BY_ARC = {
    "users": 2,
    "jobs": 4,
    "queue": 8,
    "band": "90 %",
    "slots": 4,
    "duration": "4 s",
    "held": "5 s",
    "settle": "3 s",
    "looks": "1 s",
    "normal": "3 s",
    "unit": "200 ms",
    "limit": 20,
    "beyond": 30,
    "tests.sustain.load.hold.between": "[0.5 /s, 2 /s]",  # two at least while it is measured, whatever the queue says
}


@pytest.mark.long
def test_a1_the_acceptance_of_a_sites_computing_element_tells_what_is_not_covered(
    tmp_path: Path, element: tuple[arc.RunningArc, Any]
) -> None:
    _, target = element
    values = {**_access(target), **ACCEPTED_BY_ARC}
    found = run("cream-acceptance-arc", tmp_path, values | {"targets.ce.options.identities": target.identities})
    faults = {f"fault {name}" for name in ("interface", "manager", "reboot", "killed-interface", "killed-manager")}
    monitors = {"monitor arc", "monitor interface", "monitor manager", "monitor slurm"}
    assert found.lacking == {"launch ce", *monitors, *faults, "test restart", "test crash"}
    none = {"M", "M-lost", "M-crash", "M-back", "M-runs", "O-hands"}
    assert {name for name, coverage in found.coverage.items() if coverage == "none"} == none
    assert {name for name, verdict in found.verdicts.items() if verdict == "not covered"} == none
    assert (found.verdicts["D-ii"], found.verdicts["L-lost"], found.verdicts["O-self"]) == ("met", "met", "not met")
    assert found.verdicts["K"] == "not met", "two users are not fifty"
    assert set(found.fates("overload")) <= {"cancelled", "ran once"}


@pytest.fixture
def theirs() -> Iterator[Path]:
    """A folder in which an ordinary user keeps files of their own."""
    with tempfile.TemporaryDirectory(prefix="pileup-theirs-") as folder:
        yield Path(folder)


def purged(found: Ended) -> str:
    """The verdict on what is purged: nothing is where a busy machine submitted none in the few seconds measured."""
    return "unknown" if "submit" in unseen(found.results) else "met"


@pytest.mark.long
def test_a1_an_ordinary_user_tests_a_sites_computing_element_by_proxy_twice(
    tmp_path: Path, theirs: Path, element: tuple[arc.RunningArc, Any]
) -> None:
    made, target = element
    user = databases.USER if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
    environment = made.give(user, theirs)
    found = {"proxy": "discover", "ca": "discover"}
    values = {
        "targets.ce.url": target.url,
        "targets.ce.credentials": json.dumps(found),
        **ARC,
        "held": "4 s",
        "settle": "2 s",
    }
    (tmp_path / "1").mkdir()
    first = run_as(user, "cream-arc", tmp_path / "1", values, **environment)
    monitors = {f"monitor {name}" for name in ("arc", "arex", "rest", "slurmctld", "slurm")}
    assert first.lacking == {"launch ce", *monitors, "test ramp", "test submit", "test newcomers"}
    assert (first.verdicts["A"], first.verdicts["G"]) == ("met", purged(first)), explained(first.results)
    (tmp_path / "2").mkdir()
    values["targets.ce.options.identities"] = theirs / "identities"
    second = run_as(user, "cream-arc", tmp_path / "2", values, **environment)
    assert second.lacking == {"launch ce", *monitors, "test newcomers"}
    assert (second.verdicts["A"], second.verdicts["G"]) == ("met", purged(second)), explained(second.results)


@pytest.mark.long
def test_a1_a_practice_system_somewhere_is_purged_twice(tmp_path: Path) -> None:
    with practice_batch(tmp_path, slots=10_000, cycle=0, limit=20_000) as system:
        for begin in (run, partial(run_as, databases.USER)):
            values = {"targets.ce.url": system.target.url, "jobs": 1000, "batch": 100}
            found = begin("purge", tmp_path, values)
            assert found.coverage == {"C5": "none"}
            assert found.verdicts["C5"] == "not covered"
            assert (found.verdicts["C1"], found.verdicts["C2"], found.verdicts["C6"]) == ("met", "met", "met")


@pytest.mark.long
def test_a1_a_practice_system_somewhere_has_its_queue_held(tmp_path: Path) -> None:
    with practice_batch(tmp_path, slots=40, cycle=10**9) as system:
        for begin in (run, partial(run_as, databases.USER)):
            values = {"targets.ce.url": system.target.url, "length": "3 s", "queue": 30, "band": "90 %"}
            found = begin("hold", tmp_path, {**values, "tests.submit.load.hold.settle": "4 s"})
            assert found.lacking == {"launch ce"}
            assert found.verdicts["C2"] == "met"


TABLES = {"jobs": 500, "ramp": 10, "repeats": 1, "commands": 200, "asked": 2, "length": "1 s", "warm_up": "300 ms"}


@pytest.mark.long
def test_a1_a_mariadb_somewhere_is_filled_asked_and_left_as_it_was(tmp_path: Path) -> None:
    with databases.mariadb(tmp_path / "db") as server:
        values = {"targets.db.url": server.url, "targets.db.credentials.password": databases.PASSWORD, **TABLES}
        for begin in (run, partial(run_as, databases.USER)):
            found = begin("database", tmp_path, values)
            assert {"launch db", "monitor mariadbd", "cooldown cooldown"} <= found.lacking
            assert found.coverage == {"S3": "none"}
            assert found.verdicts["S5"] == "met"
        database = Database(server.url, Login(databases.PASSWORD), 10**10)
        assert database.ask("SHOW TABLES", 10)[1] == []
        database.close()


POSTGRESQL = """
pileup: 1
title: A PostgreSQL somewhere
targets: {db: {kind: database, launch: {engine: postgresql}}}
tests:
  - {name: make, use: sql.query, options: {statements: ["CREATE TABLE job (id INT)", "INSERT INTO job VALUES (1)"]}}
  - {name: ask, use: sql.query, after: [make], options: {statement: SELECT id FROM job, rows: 1}, load: {times: 50}}
  - {name: remove, use: sql.query, after: [ask], options: {statement: DROP TABLE job}}
monitors: [{use: process, name: server, target: db, every: 200 ms}]
faults: [{name: gone, at: 1 s, do: kill, target: db, during: [ask]}]
criteria:
  - {id: C, says: It needs little, check: "max(server.cpu[of=all]) < 100 %"}
  - {id: F, says: It is back, check: "max(fault.recovery[fault=gone]) < 10 s"}
  - {id: T, says: It is quick, check: max(ask) < 10 s}
"""


@pytest.mark.long
def test_a1_a_postgresql_somewhere_is_asked_without_what_needs_a_launched_one(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(POSTGRESQL)
    with databases.postgresql(tmp_path / "db") as server:
        (tmp_path / "password").write_text(databases.PASSWORD + "\n")
        values = {"targets.db.url": server.url, "targets.db.options.password_file": tmp_path / "password"}
        for _ in range(2):
            done = pileup("run", "s.yaml", "--quiet", *words_of(values), cwd=tmp_path)
            found = ended(done, tmp_path)
            assert found.code == 0, found.said
            assert found.verdicts == {"C": "not covered", "F": "not covered", "T": "not covered"}
            assert found.lacking == {"launch db", "monitor server", "fault gone", "test ask"}
            figure = next(each for each in found.results["criteria"] if each["id"] == "T")["figure"]
            assert figure["value"] > 0, "what was measured without the fault is reported"
