"""Delete replicas and collections from a catalogue."""

from __future__ import annotations

from typing import Literal

from pileup.builtin.catalogue.names import GROUP, CatalogueTest, rses_of
from pileup.plugin import Count, Op, option


class CatalogueDelete(CatalogueTest):
    """Delete the replicas of files, as the operation `delete`: `batch` by one request for each storage element.

    A file without any other replica is then gone, and is asked for if `verify` is set: the operation `verify`. Rucio
    itself lets no account delete replicas but as the policy of the site says; it refuses then. With `what: collections`
    collections expire, each by a request; Rucio's undertaker removes them. Files and collections are those of the
    `group`, one after another: another test of the run has made them.
    """

    name = "catalogue.delete"

    group: str = option("files", pattern=GROUP, help="group of what is deleted")
    what: Literal["replicas", "collections"] = option("replicas", help="what is deleted")
    batch: Count = option(1, ge=1, le=10_000, help="files in one request, or collections in one iteration")
    copies: Count = option(1, ge=1, le=100, help="replicas of each file, on the first storage elements of the target")
    verify: bool = option(False, help="ask for the first file of each request afterwards: it must be gone")

    def check(self) -> None:
        """Refuse to look after collections: they are there until the undertaker comes."""
        if self.verify and self.what == "collections":
            raise ValueError("verify with what: collections; expected replicas, which are deleted at once")

    def run(self, op: Op) -> None:
        """Delete the next ones."""
        self.renew(op)
        names = self.numbered(self.group, op, self.batch)
        if self.what == "collections":
            for name in names:
                with op("delete", name) as deleting:
                    deleting.calls = 1
                    self._session.erase(name)
            return
        for rse in rses_of(self, self.copies):
            with op("delete", names[0]) as deleting:
                deleting.calls = 1
                self._session.remove(rse, names)
        if self.verify:
            with op("verify", names[0]) as looking:
                looking.calls = 1
                self.expect(not self._session.exists(names[0]), f"{names[0]} is still there")

    def bounds(self, iterations: int) -> tuple[int | None, int | None]:
        """A request for each copy or collection, a look, and a login at most."""
        each = self.batch if self.what == "collections" else self.copies
        return iterations * (each + 2), 0
