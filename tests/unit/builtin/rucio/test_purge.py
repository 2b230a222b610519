"""What of a run's names is removed, and what is said of the rest."""

import pytest

from pileup.builtin.rucio.purge import purge
from pileup.builtin.rucio.rest import Entry, Reply
from pileup.model.errors import Failed, Refused


class FakeSession:
    """A catalogue in memory: file -> storage elements, and collections."""

    def __init__(self, files: dict[str, list[str]], collections: dict[str, str]) -> None:
        self.files, self.collections = files, collections
        self.closed: list[str] = []
        self.erased: list[str] = []
        self.refuses = False

    def find(self, prefix: str) -> list[Entry]:
        found = [Entry(name, kind="FILE") for name in self.files]
        found += [Entry(name, kind=kind) for name, kind in self.collections.items()]
        return [each for each in found if each.name.startswith(prefix)]

    def close_collection(self, name: str) -> None:
        if name in self.closed:
            raise Failed("409 UnsupportedOperation")
        self.closed.append(name)

    def replicas(self, names: list[str]) -> Reply:
        return Reply([Entry(name, places=tuple(self.files[name])) for name in names], 0)

    def remove(self, rse: str, names: list[str]) -> None:
        if self.refuses:
            raise Refused("401 AccessDenied")
        for name in names:
            self.files[name].remove(rse)
            if not self.files[name]:
                del self.files[name]

    def erase(self, name: str) -> None:
        self.erased.append(name)


@pytest.fixture
def session() -> FakeSession:
    files = {f"mine.{k:04d}": ["SE1"] + (["SE2"] if k % 2 else []) for k in range(1200)}
    return FakeSession(
        {**files, "yours.1": ["SE1"]}, {"mine.set": "DATASET", "mine.box": "CONTAINER", "yours": "DATASET"}
    )


def test_all_replicas_of_the_run_go_and_its_collections_expire(session: FakeSession) -> None:
    assert purge(session, "mine.") == ""  # type: ignore[arg-type]
    assert session.files == {"yours.1": ["SE1"]}
    assert set(session.closed) == set(session.erased) == {"mine.set", "mine.box"}


def test_a_collection_that_is_closed_already_is_no_error(session: FakeSession) -> None:
    session.closed = ["mine.set"]
    assert purge(session, "mine.") == ""  # type: ignore[arg-type]


def test_what_the_policy_of_a_site_keeps_is_told(session: FakeSession) -> None:
    session.refuses = True
    assert purge(session, "mine.") == "1,200 files, such as mine.0000: 401 AccessDenied"  # type: ignore[arg-type]
