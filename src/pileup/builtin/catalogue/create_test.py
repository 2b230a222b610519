"""Make collections in a catalogue."""

from __future__ import annotations

from typing import Literal

from pileup.builtin.catalogue.names import OWN_GROUP, CatalogueTest
from pileup.plugin import Count, Op, option


class CatalogueCreate(CatalogueTest):
    """Make data sets or containers, as the operation `create`: `batch` by one request.

    Those of a `group` have numbers from 0 on, by which other tests of the run know them. One that exists fails.
    """

    name = "catalogue.create"

    kind: Literal["dataset", "container"] = option("dataset", help="a data set holds files, a container collections")
    group: str = option("", pattern=OWN_GROUP, help="name of the group; when empty, one of this load alone")
    batch: Count = option(1, ge=1, le=10_000, help="collections in one request")

    def run(self, op: Op) -> None:
        """Make the next ones."""
        self.renew(op)
        names = self.numbered(self.group, op, self.batch)
        with op("create", names[0]) as creating:
            creating.calls = 1
            self._session.create(self.kind, names)

    def bounds(self, iterations: int) -> tuple[int | None, int | None]:
        """The request, and a login at most."""
        return iterations * 2, 0
