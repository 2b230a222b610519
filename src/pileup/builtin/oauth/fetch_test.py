"""Ask an issuer for tokens."""

from __future__ import annotations

from pileup.plugin import Duration, Op, Test, option
from pileup.plugin.units import format_time


class TokenFetch(Test):
    """Ask a token issuer for an access token with the secret of the client (RFC 6749, 4.4), as the operation `fetch`.

    Passes when a bearer token comes. 400, 401, 403, 429 and 503 count as refused, no answer as ambiguous: the issuer
    may have issued a token. The bytes counted are those of the answers.
    """

    name = "token.fetch"
    needs = "oauth2"

    scope: str = option("", help="what the token is for, e.g. `storage.read:/`; when empty, what the issuer gives")
    audience: str = option("", help="for whom the token is; when empty, what the issuer gives")
    lasts: Duration | None = option(None, gt=0, help="fail unless the token is good for at least this long")

    def run(self, op: Op) -> None:
        """Ask for one."""
        with op("fetch") as fetch:
            fetch.calls = 1
            grant = self.target.fetch(self.scope, self.audience)
            fetch.bytes = grant.size
            if self.lasts is not None:
                told = "an unknown time" if grant.lasts is None else format_time(grant.lasts)
                enough = grant.lasts is not None and grant.lasts >= self.lasts
                self.expect(enough, f"the token lasts {told}, expected {format_time(self.lasts)}")

    def bounds(self, iterations: int) -> tuple[int | None, int | None]:
        """One operation each; tokens have no size that is known before."""
        return iterations, None
