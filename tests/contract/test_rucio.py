"""What a real Rucio over a real PostgreSQL says of what it does, held against its tables."""

import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from pileup.builtin.catalogue.attach_test import CatalogueAttach
from pileup.builtin.catalogue.create_test import CatalogueCreate
from pileup.builtin.catalogue.delete_test import CatalogueDelete
from pileup.builtin.catalogue.list_test import CatalogueList
from pileup.builtin.catalogue.login_test import CatalogueLogin
from pileup.builtin.catalogue.lookup_test import CatalogueLookup
from pileup.builtin.catalogue.names import CatalogueTest
from pileup.builtin.catalogue.register_test import CatalogueRegister
from pileup.builtin.catalogue.replicas_test import CatalogueReplicas
from pileup.builtin.rucio.session import Session
from pileup.model.errors import Ambiguous, Failed, NotThere, Refused, TargetError, ThereAlready
from pileup.plugin import Cause, Context, Outcome
from pileup.plugin.testing import run_once
from tests.servers.rucio import RunningRucio, rucio

pytestmark = pytest.mark.long
LIFETIME = 3.0
OWN = "pileup-20261123T220000Z-0123abcd"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningRucio]:
    few = {"pool": 2, "pool_wait": "1 s", "threads": 30}
    with rucio(tmp_path_factory.mktemp("rucio"), token_lifetime=f"{LIFETIME:g} s", **few) as running:
        yield running


@pytest.fixture
def session(server: RunningRucio) -> Iterator[Session]:
    session = server.target().session()
    session.log_in()
    yield session
    session.end()


def names(number: int, group: str) -> list[str]:
    return [f"{group}.{k:07d}" for k in range(number)]


def rows(server: RunningRucio, table: str, beginning: str) -> int:
    return int(server.ask(f"SELECT count(*) FROM dev.{table} WHERE name LIKE '{beginning}%'")[0][0])


def run(test: type[CatalogueTest], server: RunningRucio, own: str, **options: Any) -> Any:
    done = run_once(test, server.target(), context=Context(own=own), **options)
    assert done.passed, done.error
    return done


def test_it_is_recognised(server: RunningRucio) -> None:
    assert server.target().probe().startswith("Rucio ")


def test_who_has_the_password_gets_a_token_that_is_theirs(server: RunningRucio) -> None:
    done = run(CatalogueLogin, server, "", ask_account=True, lasts="2 s")
    assert [each.name for each in done.operations] == ["login", "whoami"]
    assert server.ask("SELECT count(*) FROM dev.tokens WHERE identity = 'pileup'")[0][0] >= 2


def test_a_token_alone_is_enough(server: RunningRucio, tmp_path: Path) -> None:
    copy = tmp_path / "token"
    copy.write_text(server.token_file.read_text())
    session = server.attached({"token_file": str(copy)}).session()
    assert not session.must_log_in
    assert session.account() == "root"


def test_a_token_that_is_over_is_told_apart_and_renewed(server: RunningRucio) -> None:
    session = server.target().session()
    assert session.must_log_in
    login = session.log_in()
    assert login.lasts is not None and login.lasts / 1e9 <= LIFETIME + 1
    assert not session.must_log_in
    time.sleep(LIFETIME + 1.2)
    with pytest.raises(Refused) as caught:
        session.scopes()
    assert caught.value.cause is Cause.TOKEN_EXPIRED
    assert session.must_log_in
    session.log_in()
    assert "pileup" in session.scopes()


def test_a_wrong_password_and_an_unknown_scope_are_told_in_three_parts(server: RunningRucio) -> None:
    with pytest.raises(TargetError) as caught:
        server.attached({**server.login(), "password": "wrong"}).probe()
    assert caught.value.expected and caught.value.hint
    assert "does not let pileup in: 401 CannotAuthenticate" in caught.value.what
    with pytest.raises(TargetError, match=r"no scope 'nowhere'.*expected one of pileup, pileup.empty"):
        server.attached(server.login(), scope="nowhere").probe()
    assert server.attached(server.login()).probe().startswith("Rucio ")


def test_an_empty_scope_is_listed(server: RunningRucio) -> None:
    run(CatalogueList, server, "", scope="pileup.empty", entries=0)
    with pytest.raises(NotThere, match="there is no scope 'nowhere'"):
        run_once(CatalogueList, server.target(), scope="nowhere")


@pytest.mark.parametrize("batch", [1, 40])
def test_the_way_of_files_through_the_catalogue(server: RunningRucio, batch: int) -> None:
    own = f"way{batch}"
    run(CatalogueCreate, server, own, group="sets")
    run(CatalogueCreate, server, own, group="boxes", kind="container", batch=batch)
    run(CatalogueList, server, own, collection="sets", entries=0)
    run(CatalogueRegister, server, own, group="files", batch=batch, copies=2, size="1 GB")
    assert server.ask(f"SELECT count(*), sum(bytes) FROM dev.replicas WHERE name LIKE '{own}.files.%'") == [
        (2 * batch, 2 * batch * 10**9)
    ]
    run(CatalogueAttach, server, own, batch=batch)
    assert rows(server, "contents", f"{own}.sets") == batch
    run(CatalogueList, server, own, collection="sets", entries=batch)
    run(CatalogueReplicas, server, own, files=batch, batch=batch, copies=2)
    run(CatalogueReplicas, server, own, files=batch, collection="sets", copies=2)
    run(CatalogueDelete, server, own, batch=batch, copies=2, verify=True)
    assert rows(server, "replicas", f"{own}.files") == rows(server, "contents", f"{own}.sets") == 0
    assert rows(server, "dids", f"{own}.files") == 0
    run(CatalogueDelete, server, own, group="sets", what="collections")
    assert server.ask(
        f"SELECT expired_at <= now() AT TIME ZONE 'utc' FROM dev.dids WHERE name = '{own}.sets.0000000'"
    ) == [(True,)]


def test_an_answer_that_lacks_something_fails(server: RunningRucio) -> None:
    own = "lacks"
    run(CatalogueRegister, server, own, group="files", batch=2)
    done = run_once(CatalogueReplicas, server.target(), context=Context(own=own), files=2, batch=2, copies=2)
    assert not done.passed and "2 files without 2 replicas" in done.error
    done = run_once(CatalogueList, server.target(), context=Context(own=own), scope="pileup.empty", entries=1)
    assert not done.passed and "0 entries, expected 1" in done.error


@pytest.mark.parametrize("bulk", [True, False])
def test_a_file_without_a_replica_gives_exactly_one_record(server: RunningRucio, session: Session, bulk: bool) -> None:
    own = f"bare{bulk:d}"
    (sets,), files = names(1, f"{own}.sets"), names(3, f"{own}.files")
    session.create("dataset", [sets])
    for rse in ("PILEUP-1", "PILEUP-2"):
        session.register(rse, files, 5)
    session.attach(sets, files)
    server.ask(f"DELETE FROM dev.replicas WHERE name = '{files[1]}'")
    by_file = session.replicas(files).entries if bulk else [session.replicas([each]).entries[0] for each in files]
    found = sorted((each.name, len(each.places)) for each in by_file)
    assert found == list(zip(files, (2, 0, 2), strict=True))
    run(CatalogueLookup, server, own, files=3, by="file", batch=3 if bulk else 1, listed=True)
    by_set = sorted((each.name, len(each.places)) for each in session.replicas([sets]).entries)
    assert by_set == [(files[0], 2), (files[2], 2)], "asked for a data set, Rucio leaves it out"
    done = run_once(CatalogueLookup, server.target(), context=Context(own=own), files=3)
    assert not done.passed and "2 files found, expected 3" in done.error


def test_what_rucio_says_no_to_is_told_apart(session: Session) -> None:
    name = names(1, "no")[0]
    session.create("dataset", [name])
    with pytest.raises(ThereAlready):
        session.create("dataset", [name])
    with pytest.raises(ThereAlready):
        session.create("dataset", names(3, "no"))
    with pytest.raises(NotThere):
        session.content("no.such.set")
    with pytest.raises(NotThere):
        session.attach(name, ["no.such.file"])
    with pytest.raises(NotThere):
        session.register("NO-SUCH-RSE", ["no.file"], 1)
    with pytest.raises(NotThere):
        session.remove("PILEUP-1", ["no.such.file"])
    with pytest.raises(Failed):
        session.attach("no.such.set", [name])


def test_nothing_outside_of_the_limit_is_changed(server: RunningRucio) -> None:
    target = server.target()
    target.inside = "/pileup/mine-"
    session = target.session()
    for act in (
        lambda: session.create("dataset", ["yours-1"]),
        lambda: session.register("PILEUP-1", ["mine-1", "yours-1"], 1),
        lambda: session.remove("PILEUP-1", ["yours-1"]),
        lambda: session.erase("yours-1"),
    ):
        with pytest.raises(Refused, match="outside /pileup/mine-"):
            act()
    session.create("dataset", ["mine-1"])
    session.end()


def test_what_a_run_has_made_is_removed_and_nothing_else(server: RunningRucio, session: Session) -> None:
    session.create("dataset", [f"{OWN}.sets.0", f"{OWN}.empty.0", "others.0"])
    session.create("container", [f"{OWN}.boxes.0"])
    for rse in ("PILEUP-1", "PILEUP-2"):
        session.register(rse, [*names(30, f"{OWN}.files"), "others.1"], 5)
    session.attach(f"{OWN}.sets.0", names(30, f"{OWN}.files"))
    session.attach(f"{OWN}.boxes.0", [f"{OWN}.sets.0"])
    assert server.target().purge(OWN) == ""
    assert rows(server, "replicas", OWN) == 0
    left = server.ask(f"SELECT name, expired_at IS NOT NULL FROM dev.dids WHERE name LIKE '{OWN}%'")
    assert left == [(f"{OWN}.empty.0", True)]
    assert rows(server, "dids", "others.") == 2 and rows(server, "replicas", "others.") == 2


def test_sixty_uploads_at_once_are_accounted_for(server: RunningRucio) -> None:
    """Each request that was acknowledged is in the database, whole; each that was refused is not there."""
    each = 20
    target = server.target()

    def upload(number: int) -> str:
        session = target.session()
        try:
            session.log_in()
            session.register("PILEUP-1", names(each, f"upload{number:02d}"), 7)
        except Refused:
            return Outcome.REFUSED.name
        except Ambiguous:
            return Outcome.AMBIGUOUS.name
        except Failed:
            return Outcome.FAILED.name
        finally:
            session.end()
        return Outcome.PASSED.name

    with ThreadPoolExecutor(60) as pool:
        told = list(pool.map(upload, range(60)))
    counts = dict(server.ask("SELECT left(name, 8), count(*) FROM dev.replicas WHERE name LIKE 'upload%' GROUP BY 1"))
    print(Counter(told))
    assert told.count("PASSED") > 0
    for number, outcome in enumerate(told):
        there = int(counts.get(f"upload{number:02d}", 0))
        assert there == {"PASSED": each, "AMBIGUOUS": there}.get(outcome, 0), (number, outcome, there)
        assert there in (0, each)
