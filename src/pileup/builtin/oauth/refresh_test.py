"""Renew tokens at an issuer."""

from __future__ import annotations

from pathlib import Path

from pileup.builtin.oauth.issuer import OFFLINE, Grant
from pileup.plugin import Failed, Op, Test, option


class TokenRefresh(Test):
    """Renew an access token with a refresh token (RFC 6749, 6), as the operation `refresh`.

    Each client has a refresh token of its own: the first comes with an access token whose scope has `offline_access`
    (operation `fetch`), the next with each renewal, where the issuer gives a new one each time. A client whose
    refresh token was refused begins with a fetch again. `refresh_token_file` is for issuers that give the first one to
    human beings alone: it is for a load of one client, unless the issuer lets it be used again.
    """

    name = "token.refresh"
    needs = "oauth2"

    scope: str = option("", help="what tokens are for; when empty, what the issuer gives")
    audience: str = option("", help="for whom tokens are; when empty, what the issuer gives")
    refresh_token_file: str | None = option(None, help="file that holds the first refresh token")

    _refresh: str | None = None

    def check(self) -> None:
        """Refuse a file that is not there."""
        if self.refresh_token_file is not None and not Path(self.refresh_token_file).is_file():
            raise ValueError(f"there is no file {self.refresh_token_file}; expected one with a refresh token")

    def run(self, op: Op) -> None:
        """Renew once; with a token to be renewed first, where there is none yet."""
        if self._refresh is None:
            self._refresh = self._first(op)
        before, self._refresh = self._refresh, None
        with op("refresh") as refresh:
            refresh.calls = 1
            grant: Grant = self.target.refresh(before, self.scope, self.audience)
            refresh.bytes = grant.size
        self._refresh = grant.refresh or before

    def _first(self, op: Op) -> str:
        if self.refresh_token_file is not None:
            return Path(self.refresh_token_file).read_text().strip()
        with op("fetch") as fetch:
            fetch.calls = 1
            grant: Grant = self.target.fetch(f"{self.scope} {OFFLINE}".strip(), self.audience)
            fetch.bytes = grant.size
            if grant.refresh is None:
                raise Failed("the issuer gives no refresh token", f"one for the scope {OFFLINE}", "refresh_token_file")
        return grant.refresh

    def bounds(self, iterations: int) -> tuple[int | None, int | None]:
        """Two operations each at most."""
        return iterations * 2, None
