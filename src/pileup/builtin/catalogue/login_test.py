"""Log in to a catalogue."""

from __future__ import annotations

from pileup.builtin.catalogue.names import CatalogueTest
from pileup.plugin import Duration, Op, option
from pileup.plugin.units import format_time


class CatalogueLogin(CatalogueTest):
    """Open a session of a catalogue: ask for a token with a password, as the operation `login`.

    Passes when a token comes. A wrong password is refused, no answer is ambiguous: there may be a token that nobody
    has. Each login is on a new connection, as that of a new user is, unless `keep_connection` is set.
    """

    name = "catalogue.login"

    keep_connection: bool = option(False, help="log in again on the connection of before")
    ask_account: bool = option(False, help="also ask whose the token is, as the operation `whoami`: a session in use")
    lasts: Duration | None = option(None, gt=0, help="fail unless the token is good for at least this long")

    def setup(self) -> None:
        """Log in with the first iteration only."""
        self._session = self.target.session()

    def run(self, op: Op) -> None:
        """Log in once."""
        if not self.keep_connection:
            self._session.end()
        with op("login") as login:
            login.calls = 1
            found = self._session.log_in()
            if self.lasts is not None:
                told = "an unknown time" if found.lasts is None else format_time(found.lasts)
                enough = found.lasts is not None and found.lasts >= self.lasts
                self.expect(enough, f"the token lasts {told}, expected {format_time(self.lasts)}")
        if self.ask_account:
            with op("whoami") as asking:
                asking.calls = 1
                who = self._session.account()
                self.expect(who == found.account, f"the token is of {who!r}, expected {found.account!r}")

    def bounds(self, iterations: int) -> tuple[int | None, int | None]:
        """One operation each, or two."""
        return iterations * (2 if self.ask_account else 1), 0
