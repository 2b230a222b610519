"""Ask a catalogue where files are."""

from __future__ import annotations

from pileup.builtin.catalogue.names import GROUP, OWN_GROUP, CatalogueTest
from pileup.plugin import Count, Op, option
from pileup.plugin.units import counted


class CatalogueReplicas(CatalogueTest):
    """Ask for the replicas of files, as the operation `replicas`: of `batch` by one request, or of a whole collection.

    The answer must have each file once, no other, and each with `copies` replicas. It is the answer of the test for
    `equivalent`: name and storage elements of each file.
    """

    name = "catalogue.replicas"

    group: str = option("files", pattern=GROUP, help="group of the files")
    files: Count = option(1, ge=1, le=10**9, help="how many there are: iterations take them in turn")
    batch: Count = option(1, ge=1, le=10_000, help="files in one request")
    collection: str = option("", pattern=OWN_GROUP, help="group of collections: ask for all that is in one of them")
    collections: Count = option(1, ge=1, help="how many collections there are: iterations take them in turn")
    copies: Count | None = option(None, ge=0, help="replicas that each file must have")

    def check(self) -> None:
        """Refuse more files in a request than there are."""
        if self.batch > self.files:
            raise ValueError(f"batch {self.batch} of {self.files} files; expected at most `files`")

    def run(self, op: Op) -> None:
        """Ask once."""
        self.renew(op)
        wanted = self._wanted(op)
        asked = self.names(self.collection, op.number % self.collections, 1) if self.collection else wanted
        with op("replicas", asked[0]) as asking:
            asking.calls = 1
            reply = self._session.replicas(asked)
            asking.bytes = reply.size
            self._judge({each.name: each.places for each in reply.entries}, len(reply.entries), wanted)
        self.answer((each.name, " ".join(each.places)) for each in reply.entries)

    def _wanted(self, op: Op) -> list[str]:
        """Return the files that the answer must have."""
        if self.collection:
            return self.names(self.group, 0, self.files)
        whole = self.names(self.group, 0, self.files) if self.batch == self.files else []
        first = op.number * self.batch
        return whole or [self.names(self.group, k % self.files, 1)[0] for k in range(first, first + self.batch)]

    def _judge(self, found: dict[str, tuple[str, ...]], rows: int, wanted: list[str]) -> None:
        self.expect(rows == len(found), "a file is in the answer twice")
        told = f"the answer has {counted(len(found), 'file')}, expected {len(wanted)}"
        if self.collection and self.collections > 1:  # which files are in which one is not known
            self.expect(found.keys() <= set(wanted), "the answer has a file that is of no collection of the group")
        else:
            self.expect(found.keys() == set(wanted), told)
        if self.copies is not None:
            short = sum(len(places) != self.copies for places in found.values())
            self.expect(not short, f"{counted(short, 'file')} without {counted(self.copies, 'replica')}")

    def bounds(self, iterations: int) -> tuple[int | None, int | None]:
        """The request, and a login at most."""
        return iterations * 2, None
