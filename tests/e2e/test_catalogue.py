"""The catalogue from the command line: a private Rucio, one that is attached, and where something is missing."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers.rucio import RunningRucio, require_rucio, rucio
from tests.support import pileup, run_folder

ATTACHED = """
pileup: 1
title: Attached
targets:
  rucio:
    kind: rucio
    url: {url}
    credentials: {{user: {user}, password: {password}}}
    options: {{scope: pileup, rses: [PILEUP-1, PILEUP-2]}}
limits: {{inside: {inside}}}
tests:
  - {{name: sets, use: catalogue.create, options: {{group: sets}}}}
  - {{name: register, use: catalogue.register, options: {{group: files, batch: 20, copies: 2}}, cleanup: {cleanup}}}
  - {{name: attach, use: catalogue.attach, after: [sets, register], options: {{batch: 20}}}}
  - {{name: where, use: catalogue.replicas, after: [attach], options: {{files: 20, collection: sets, copies: 2}}}}
"""
LOGINS = """
pileup: 1
title: Logins
places: processes:15
targets:
  rucio: {{kind: rucio, url: {url}, credentials: {{user: {user}, password: {password}}}, options: {{scope: pileup}}}}
tests: [{{name: login, use: catalogue.login, load: {{clients: 15, times: {times}}}}}]
"""
ROUND_TRIP = 100 * 10**6
"""Of the example from far, ns."""
LAUNCHED = """
pileup: 1
title: Launched
targets: {{rucio: {{kind: rucio, launch: {{python: {python}}}}}}}
tests: [{{name: login, use: catalogue.login}}]
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningRucio]:
    with rucio(tmp_path_factory.mktemp("rucio")) as running:
        yield running


def attached(
    server: RunningRucio, folder: Path, cleanup: str = "always", inside: str = "/pileup", **login: str
) -> Path:
    path = folder / "attached.yaml"
    words = {"url": server.url, "cleanup": cleanup, "inside": inside, **server.login(), **login}
    path.write_text(ATTACHED.format(**words))
    return path


def left(server: RunningRucio) -> dict[str, int]:
    tables = ("replicas", "contents")
    ask = "SELECT count(*) FROM dev.{} WHERE name LIKE 'pileup-%'"
    return {table: int(server.ask(ask.format(table))[0][0]) for table in tables}


@pytest.mark.long
def test_what_a_run_makes_at_a_site_is_gone_with_it(server: RunningRucio, tmp_path: Path) -> None:
    done = pileup("run", str(attached(server, tmp_path)), "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    run = json.loads((tmp_path / run_folder(done) / "run.json").read_text())
    assert [case["outcome"] for case in run["cases"]] == ["passed"] * 4
    assert left(server) == {"replicas": 0, "contents": 0}
    secret = server.login()["password"]
    written = [path for path in (tmp_path / run_folder(done)).rglob("*") if path.is_file()]
    assert written and not any(secret.encode() in path.read_bytes() for path in written)


@pytest.mark.long
def test_what_the_suite_keeps_stays_until_it_is_cleaned(server: RunningRucio, tmp_path: Path) -> None:
    suite = attached(server, tmp_path, cleanup="never")
    done = pileup("run", str(suite), "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert left(server) == {"replicas": 40, "contents": 20}
    name = server.ask("SELECT min(name) FROM dev.replicas WHERE name LIKE 'pileup-%'")[0][0]
    assert server.target().purge(name.partition(".")[0]) == ""


@pytest.mark.long
def test_outside_of_the_limit_nothing_is_made(server: RunningRucio, tmp_path: Path) -> None:
    done = pileup("run", str(attached(server, tmp_path, inside="/user.jdoe")), "--quiet", cwd=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "outside /user.jdoe" in done.stdout
    assert left(server) == {"replicas": 0, "contents": 0}


@pytest.mark.long
def test_a_wrong_password_makes_the_target_unavailable(server: RunningRucio, tmp_path: Path) -> None:
    done = pileup("run", str(attached(server, tmp_path, password="wrong")), "--quiet", cwd=tmp_path)
    assert done.returncode == 5, done.stdout + done.stderr
    assert "does not let pileup in" in done.stdout


@pytest.mark.long
def test_the_example_shows_what_bulk_is_worth(tmp_path: Path) -> None:
    require_rucio()
    short = ("--set", "length=1 s", "--set", "files=100", "--set", "singles=8")
    done = pileup("run", "suite:catalogue", "--quiet", *short, cwd=tmp_path, drawn=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    folder = tmp_path / run_folder(done)
    results = json.loads((folder / "results.json").read_text())
    cases = {case["name"]: case for case in results["cases"]}
    assert {case["outcome"] for case in cases.values()} == {"passed"}
    assert (folder / "report.html").stat().st_size > 10_000


@pytest.mark.long
def test_logins_from_fifteen_places_have_each_a_token_in_the_database(server: RunningRucio, tmp_path: Path) -> None:
    times, asked = 300, "SELECT count(*) FROM dev.tokens"
    path = tmp_path / "logins.yaml"
    path.write_text(LOGINS.format(url=server.url, times=times, **server.login()))
    before = server.ask(asked)[0][0]
    done = pileup("run", str(path), "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    results = json.loads((tmp_path / run_folder(done) / "results.json").read_text())
    (load,) = (each for case in results["cases"] for each in case["operations"] if each["iteration"])
    assert load["counts"]["passed"] == times
    beside = 1 + 15  # each place looks at the target before it begins
    assert times <= server.ask(asked)[0][0] - before <= times + beside


@pytest.mark.timed
@pytest.mark.idle
def test_ways_to_one_answer_agree_and_differ_by_their_round_trips(tmp_path: Path) -> None:
    require_rucio()
    words = [word for value in ("files=60", "sets=3", "per_set=20") for word in ("--set", value)]
    done = pileup("run", "suite:catalogue-ways", "--quiet", *words, cwd=tmp_path, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    results = json.loads((tmp_path / run_folder(done) / "results.json").read_text())
    (agreed,) = results["equivalences"]
    assert agreed["verdict"] == "passed", agreed
    asked: dict[str, set[float]] = {}
    took: dict[tuple[str, bool], dict[str, float]] = {}
    for case in results["cases"]:
        for each in case["operations"]:
            if each["iteration"] and case["point"]:
                asked.setdefault(case["test"], set()).add(each["calls"] / each["counts"]["passed"])
                took[case["test"], case["point"]["rucio.path.latency"] != "0 ms"] = each["response"]
    requests = {"by-set": 3, "list-then-set": 6, "list-then-bulk": 4, "bulk": 1, "list-then-each": 63, "each": 60}
    assert asked == {test: {number} for test, number in requests.items()}
    trips = {each["test"]: each["figure"]["value"] for each in agreed["round_trips"]}
    assert set(trips) == set(requests)
    # what Rucio takes by itself varies with whatever else wants the cores: it is in no bound
    for test, number in requests.items():
        near, far = took[test, False], took[test, True]
        assert far["smallest"] >= number * ROUND_TRIP
        assert trips[test] == pytest.approx((far["mean"] - near["mean"]) / ROUND_TRIP)
    assert took["each", True]["mean"] > 10 * took["bulk", True]["smallest"]


def test_a_rucio_that_is_not_installed_is_named_with_the_command(tmp_path: Path) -> None:
    path = tmp_path / "launched.yaml"
    path.write_text(LAUNCHED.format(python="/nowhere/bin/python"))
    done = pileup("validate", str(path), cwd=tmp_path)
    assert done.returncode == 3, done.stdout
    assert "Rucio is not installed: there is no /nowhere/bin/python" in done.stdout + done.stderr
    assert "pip install rucio==" in done.stdout + done.stderr
