"""Register replicas in a catalogue."""

from __future__ import annotations

from pileup.builtin.catalogue.names import OWN_GROUP, CatalogueTest, rses_of
from pileup.plugin import Count, Op, Size, option


class CatalogueRegister(CatalogueTest):
    """Register files with their replicas, as the operation `register`: `batch` by one request.

    With several `copies` there is a request for each storage element. Nothing is written there. Files of a `group` have
    numbers from 0 on, by which other tests of the run know them.
    """

    name = "catalogue.register"

    group: str = option("", pattern=OWN_GROUP, help="name of the group; when empty, one of this load alone")
    batch: Count = option(1, ge=1, le=10_000, help="files in one request")
    copies: Count = option(1, ge=1, le=100, help="replicas of each file, on the first storage elements of the target")
    size: Size = option(1 << 30, help="size that the files are said to have")

    def run(self, op: Op) -> None:
        """Register the next ones."""
        self.renew(op)
        names = self.numbered(self.group, op, self.batch)
        for rse in rses_of(self, self.copies):
            with op("register", names[0]) as registering:
                registering.calls = 1
                self._session.register(rse, names, self.size)

    def bounds(self, iterations: int) -> tuple[int | None, int | None]:
        """A request for each copy, and a login at most."""
        return iterations * (self.copies + 1), 0
