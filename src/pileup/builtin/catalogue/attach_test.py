"""Attach files to collections of a catalogue."""

from __future__ import annotations

from pileup.builtin.catalogue.names import GROUP, CatalogueTest
from pileup.plugin import Count, Op, option


class CatalogueAttach(CatalogueTest):
    """Attach files to a data set, or data sets to a container, as the operation `attach`: `batch` by one request.

    Iterations take the files of the `group` one after another, and the collections in turn. Other tests of the run have
    made both. A file that is attached already fails.
    """

    name = "catalogue.attach"

    group: str = option("files", pattern=GROUP, help="group of what is attached")
    collection: str = option("sets", pattern=GROUP, help="group of the collections")
    collections: Count = option(1, ge=1, help="how many collections there are")
    batch: Count = option(1, ge=1, le=10_000, help="files in one request")

    def run(self, op: Op) -> None:
        """Attach the next ones."""
        self.renew(op)
        name = self.names(self.collection, op.number % self.collections, 1)[0]
        files = self.numbered(self.group, op, self.batch)
        with op("attach", name) as attaching:
            attaching.calls = 1
            self._session.attach(name, files)

    def bounds(self, iterations: int) -> tuple[int | None, int | None]:
        """The request, and a login at most."""
        return iterations * 2, 0
