"""Look all files of collections up in a catalogue, in one of several ways."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pileup.builtin.catalogue.names import GROUP, CatalogueTest
from pileup.plugin import Count, Op, option
from pileup.plugin.units import counted


class CatalogueLookup(CatalogueTest):
    """Look up all files of a group of collections, with their replicas: what an iteration asks, and how, is the way.

    With `listed` each collection is listed first, as the operation `list`. Then its replicas are asked for, as
    `replicas`: by a request for the collection, or by requests for `batch` of its files, 1 for each by itself. Without
    `listed` the names are known from elsewhere. All ways have the same answer, for `equivalent`: name and storage
    elements of each file. Each file must be in it once.
    """

    name = "catalogue.lookup"

    group: str = option("files", pattern=GROUP, help="group of the files")
    files: Count = option(ge=1, le=10**6, help="how many there are")
    collection: str = option("sets", pattern=GROUP, help="group of the collections that hold them")
    collections: Count = option(1, ge=1, help="how many collections there are")
    by: Literal["collection", "file"] = option("collection", help="what a request for replicas names")
    batch: Count = option(1, ge=1, le=10_000, help="files in one request, where it names files")
    listed: bool = option(False, help="list each collection first")

    def run(self, op: Op) -> None:
        """Look all of them up."""
        self.renew(op)
        sets = self.names(self.collection, 0, self.collections)
        listed = [name for each in sets for name in self._list(op, each)] if self.listed else []
        rows = list(self._replicas(op, sets, listed))
        found = {name for name, _ in rows}
        wanted = set(self.names(self.group, 0, self.files))
        self.expect(len(rows) == len(found), "a file is in the answer twice")
        self.expect(found == wanted, f"{counted(len(found), 'file')} found, expected {self.files}")
        self.answer(rows)

    def _list(self, op: Op, name: str) -> list[str]:
        with op("list", name) as listing:
            listing.calls = 1
            reply = self._session.content(name)
            listing.bytes = reply.size
        return [each.name for each in reply.entries]

    def _replicas(self, op: Op, sets: list[str], listed: list[str]) -> Iterator[tuple[str, str]]:
        """Yield name and storage elements of each entry of each answer."""
        names = sets if self.by == "collection" else listed if self.listed else self.names(self.group, 0, self.files)
        size = 1 if self.by == "collection" else self.batch
        for first in range(0, len(names), size):
            with op("replicas", names[first]) as asking:
                asking.calls = 1
                reply = self._session.replicas(names[first : first + size])
                asking.bytes = reply.size
            yield from ((each.name, " ".join(each.places)) for each in reply.entries)

    def bounds(self, iterations: int) -> tuple[int | None, int | None]:
        """A listing for each collection, the requests for replicas, and a login at most."""
        asked = self.collections if self.by == "collection" else -(-self.files // self.batch)
        return iterations * (asked + 1 + self.collections * self.listed), None
