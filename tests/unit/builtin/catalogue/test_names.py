"""Names that tests of catalogues make, and what they make of answers."""

from typing import Any

import pytest

from pileup.builtin.catalogue.attach_test import CatalogueAttach
from pileup.builtin.catalogue.delete_test import CatalogueDelete
from pileup.builtin.catalogue.list_test import CatalogueList
from pileup.builtin.catalogue.login_test import CatalogueLogin
from pileup.builtin.catalogue.lookup_test import CatalogueLookup
from pileup.builtin.catalogue.register_test import CatalogueRegister
from pileup.builtin.catalogue.replicas_test import CatalogueReplicas
from pileup.builtin.rucio.rest import Entry, Login, Reply
from pileup.plugin import Context
from pileup.plugin.testing import run_once


class FakeSession:
    """Answers what it was given, and keeps what it was asked."""

    def __init__(self, rows: list[Entry]) -> None:
        self.rows = rows
        self.asked: list[Any] = []
        self.due = False

    @property
    def must_log_in(self) -> bool:
        return self.due

    def log_in(self) -> Login:
        self.asked.append("log in")
        self.due = False
        return Login("t", 5 * 10**9, "root")

    def account(self) -> str:
        return "somebody"

    def end(self) -> None:
        """Close nothing."""

    def __getattr__(self, name: str) -> Any:
        def ask(*words: Any) -> Reply:
            self.asked.append((name, *words))
            return Reply(self.rows, 10)

        return ask


class FakeTarget:
    """Has one session for everybody."""

    storage = ("SE1", "SE2")
    names_scope = "pileup"

    def __init__(self, *rows: Entry) -> None:
        self.made = FakeSession(list(rows))

    def session(self) -> FakeSession:
        return self.made

    def outcome_of(self, problem: BaseException) -> None:
        return None


def run(test: Any, target: FakeTarget, number: int = 0, own: str = "pileup-1", **options: Any) -> Any:
    return run_once(test, target, context=Context(own=own), number=number, **options)  # type: ignore[arg-type]


def test_each_iteration_has_the_next_names_of_its_group() -> None:
    target = FakeTarget()
    assert run(CatalogueRegister, target, 3, group="files", batch=2, copies=2, size="1 kB").passed
    names = ["pileup-1.files.0000006", "pileup-1.files.0000007"]
    assert target.made.asked == [("register", "SE1", names, 1000), ("register", "SE2", names, 1000)]


def test_names_of_no_group_are_of_one_load_alone() -> None:
    first, second = FakeTarget(), FakeTarget()
    run(CatalogueRegister, first)
    run(CatalogueRegister, second)
    assert first.made.asked != second.made.asked


def test_on_a_catalogue_of_its_own_names_begin_with_pileup() -> None:
    target = FakeTarget()
    run(CatalogueAttach, target, 5, own="", collections=2)
    assert target.made.asked == [("attach", "pileup.sets.0000001", ["pileup.files.0000005"])]


def test_more_copies_than_storage_elements_are_refused() -> None:
    done = run(CatalogueRegister, FakeTarget(), copies=3)
    assert not done.passed and "3 copies, and the target has 2 storage elements" in done.error


def row(name: str, *places: str) -> Entry:
    return Entry(name, "pileup", places=places)


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([row("pileup-1.files.0000000", "SE1"), row("pileup-1.files.0000001", "SE1")], ""),
        ([row("pileup-1.files.0000000", "SE1")], "the answer has 1 file, expected 2"),
        ([row("pileup-1.files.0000000", "SE1"), row("other", "SE1")], "the answer has 2 files, expected 2"),
        ([row("pileup-1.files.0000000", "SE1")] * 2, "a file is in the answer twice"),
        ([row("pileup-1.files.0000000"), row("pileup-1.files.0000001", "SE1")], "1 file without 1 replica"),
    ],
)
def test_an_answer_about_replicas_is_held_against_what_was_asked(rows: list[Entry], told: str) -> None:
    done = run(CatalogueReplicas, FakeTarget(*rows), files=2, batch=2, copies=1)
    assert done.passed is not bool(told)
    assert told in str(done.error or "")


def test_files_are_taken_in_turn() -> None:
    target = FakeTarget()
    run(CatalogueReplicas, target, 4, files=5, batch=2)
    assert target.made.asked[0][1] == [f"pileup-1.files.{k:07d}" for k in (3, 4)]


def test_a_listing_is_counted() -> None:
    rows = [row("a"), row("b")]
    assert run(CatalogueList, FakeTarget(*rows), collection="sets", entries=2).passed
    assert "2 entries, expected 3" in run(CatalogueList, FakeTarget(*rows), entries=3).error
    assert "a name is listed twice" in run(CatalogueList, FakeTarget(*rows, row("a"))).error


def test_a_token_that_is_due_is_renewed_first() -> None:
    target = FakeTarget()
    test = CatalogueAttach(target, Context(own="o"))  # type: ignore[arg-type]
    test.setup()
    target.made.due = True
    done = run(CatalogueAttach, target)
    assert [each.name for each in done.operations] == ["attach"]  # `setup` logs in, which is not timed
    assert "log in" in target.made.asked


def test_a_session_of_somebody_else_or_too_short_fails() -> None:
    assert "the token is of 'somebody', expected 'root'" in run(CatalogueLogin, FakeTarget(), ask_account=True).error
    assert "the token lasts 5 s, expected 1 min" in run(CatalogueLogin, FakeTarget(), lasts="1 min").error


def test_a_file_that_is_still_there_after_its_deletion_fails() -> None:
    done = run(CatalogueDelete, FakeTarget(), verify=True)
    assert "is still there" in done.error


@pytest.mark.parametrize(
    ("test", "options"),
    [
        (CatalogueReplicas, {"files": 1, "batch": 2}),
        (CatalogueList, {"scope": "a", "collection": "b"}),
        (CatalogueDelete, {"what": "collections", "verify": True}),
    ],
)
def test_options_that_contradict_each_other_are_refused(test: Any, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected"):
        test(**options)


class TwoSets(FakeSession):
    """Two sets with two files each."""

    def _held(self, name: str) -> list[Entry]:
        sets = {"pileup-1.sets.0000000": self.rows[:2], "pileup-1.sets.0000001": self.rows[2:]}
        return sets.get(name) or [each for each in self.rows if each.name == name]

    def content(self, name: str) -> Reply:
        self.asked.append(("content", name))
        return Reply(self._held(name), 10)

    def replicas(self, names: list[str]) -> Reply:
        self.asked.append(("replicas", len(names)))
        return Reply([each for name in names for each in self._held(name)], 10)


@pytest.mark.parametrize(
    ("way", "requests"),
    [
        ({}, ["replicas"] * 2),
        ({"listed": True}, ["content"] * 2 + ["replicas"] * 2),
        ({"listed": True, "by": "file", "batch": 4}, ["content"] * 2 + ["replicas"]),
        ({"by": "file", "batch": 3}, ["replicas"] * 2),
        ({"by": "file"}, ["replicas"] * 4),
    ],
)
def test_each_way_has_its_requests_and_the_same_files(way: dict[str, Any], requests: list[str]) -> None:
    files = [row(f"pileup-1.files.{k:07d}", "SE1") for k in range(4)]
    target = FakeTarget()
    target.made = TwoSets(files)
    done = run(CatalogueLookup, target, files=4, collections=2, **way)
    assert done.passed, done.error
    assert [each[0] for each in target.made.asked] == requests
    assert len(done.operations) == len(requests)
    assert CatalogueLookup(files=4, collections=2, **way).bounds(1) == (len(requests) + 1, None)  # type: ignore[call-arg]


def test_a_way_that_lacks_a_file_or_has_one_twice_fails() -> None:
    files = [row(f"pileup-1.files.{k:07d}", "SE1") for k in range(4)]
    target = FakeTarget()
    target.made = TwoSets(files)
    assert "4 files found, expected 5" in run(CatalogueLookup, target, files=5, collections=2).error
    target.made = TwoSets([*files, files[3]])
    assert "a file is in the answer twice" in run(CatalogueLookup, target, files=4, collections=2).error
