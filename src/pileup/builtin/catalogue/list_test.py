"""List a scope or a collection of a catalogue."""

from __future__ import annotations

from pileup.builtin.catalogue.names import OWN_GROUP, CatalogueTest
from pileup.plugin import Ambiguous, Count, Failed, NotThere, Op, Refused, option
from pileup.plugin.units import counted


class CatalogueList(CatalogueTest):
    """List the names in a collection, or at the top of a scope, as the operation `list`.

    The number of names is checked if `entries` says it; they are the answer of the test for `equivalent`. Names of
    which a collection holds the same one twice fail it, and so does a scope that does not exist.
    """

    name = "catalogue.list"

    scope: str = option("", help="scope to list where no `collection` is given; default: that of the target")
    collection: str = option("", pattern=OWN_GROUP, help="group of collections that another test has made")
    collections: Count = option(1, ge=1, help="how many there are: iterations take them in turn")
    entries: Count | None = option(None, ge=0, help="names that must be in it")

    def check(self) -> None:
        """Refuse a scope beside a collection."""
        if self.scope and self.collection:
            raise ValueError("scope and collection are both given; expected one of them")

    def setup(self) -> None:
        """Log in, and look for a scope other than that of the target, which was looked for when it was opened."""
        super().setup()
        if self.scope in ("", self.target.names_scope):
            return
        try:
            self._session.need_scope(self.scope)
        except NotThere:
            raise
        except (Ambiguous, Failed, Refused):  # the first iteration meets it, too
            self._session.end()

    def run(self, op: Op) -> None:
        """List once."""
        self.renew(op)
        name = self.names(self.collection, op.number % self.collections, 1)[0] if self.collection else ""
        with op("list", name or self.scope) as listing:
            listing.calls = 1
            reply = self._session.content(name) if name else self._session.top(self.scope or self.target.names_scope)
            listing.bytes = reply.size
            found = [(each.scope, each.name) for each in reply.entries]
            self.expect(len(set(found)) == len(found), "a name is listed twice")
            wanted = self.entries in (None, len(found))
            self.expect(wanted, f"{counted(len(found), 'entry', 'entries')}, expected {self.entries}")
        self.answer(found)

    def bounds(self, iterations: int) -> tuple[int | None, int | None]:
        """The listing, and a login at most."""
        return iterations * 2, None
