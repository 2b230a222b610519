"""What the tests of catalogues have in common: a session for each client, and names that other tests know, too."""

from __future__ import annotations

from typing import Any, ClassVar

from pileup.plugin import Ambiguous, Failed, Op, Refused, Test

GROUP = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,60}$"
OWN_GROUP = r"^([A-Za-z0-9][A-Za-z0-9_-]{0,60})?$"
"""As GROUP, or nothing."""
PRIVATE = "pileup"
"""What names begin with on a catalogue that is the run's own as a whole."""
DIGITS = 7


class CatalogueTest(Test):
    """Base of the tests: every client has a session of its own, whose token is renewed as the operation `login`."""

    needs: ClassVar[str] = "catalogue"

    _session: Any = None
    """The client of the target."""

    def setup(self) -> None:
        """Log in; a catalogue that does not let the client in is asked again by the first iteration."""
        self._session = self.target.session()
        try:
            if self._session.must_log_in:
                self._session.log_in()
        except (Ambiguous, Failed, Refused):
            self._session.end()

    def teardown(self) -> None:
        """Close the connection."""
        self._session.end()

    def renew(self, op: Op) -> None:
        """Log in where there is no token, or not for long enough: the operation `login`."""
        if self._session.must_log_in:
            with op("login") as login:
                login.calls = 1
                self._session.log_in()

    def names(self, group: str, first: int, count: int) -> list[str]:
        """Return names of a group by their numbers; of no group: names that no other load makes."""
        begin = f"{self.context.own or PRIVATE}.{group or self.stamp}"
        return [f"{begin}.{number:0{DIGITS}}" for number in range(first, first + count)]

    def numbered(self, group: str, op: Op, batch: int) -> list[str]:
        """Return the names of one iteration: each has the next ones of its group."""
        return self.names(group, op.number * batch, batch)


def rses_of(test: Test, copies: int) -> list[str]:
    """Return as many storage elements as there are to be copies. Raises Failed when there are fewer."""
    storage: list[str] = test.target.storage
    if len(storage) < copies:
        told = f"{copies} copies, and the target has {len(storage)} storage elements"
        raise Failed(told, f"at least {copies}", "name them: the option `rses` of the target")
    return storage[:copies]
