"""An issuer of tokens as a kind of target."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

from pileup.builtin.http.target import HttpTarget
from pileup.builtin.oauth.issuer import Grant, Issuer
from pileup.plugin import Ambiguous, Failed, TargetError


class Oauth2Target(HttpTarget):
    """Token issuer that speaks OAuth 2.0 (RFC 6749), such as INDIGO IAM, EGI Check-in, CILogon or Keycloak.

    The url is that of the issuer; where tokens are asked for, its metadata say (`.well-known/openid-configuration`, or
    `.well-known/oauth-authorization-server` of RFC 8414). Credentials: `user` is the client (client_id) and `password`
    its secret, and `ca` who signs the issuer's certificate. A secret is sent over TLS only, or to this machine itself.
    Tokens are never part of the record, a message or a list of processes. Options are those of kind `http`.
    """

    kind = "oauth2"
    provides: ClassVar[frozenset[str]] = frozenset({"any", "http", "oauth2"})

    @cached_property
    def issuer(self) -> Issuer:
        """The issuer, asked with the credentials of the target. Raises TargetError."""
        return self._issuer(self.patience)

    def _issuer(self, patience: int) -> Issuer:
        who = self.identity
        if who.user is None:
            raise TargetError("the target has no client", "credentials: {user: CLIENT, password: SECRET}")
        return Issuer(self.url, who, patience / 1e9, self.reach())

    def fetch(self, scope: str = "", audience: str = "") -> Grant:
        """Ask for a token with the secret of the client. Raises Refused, Failed, Ambiguous."""
        return self.issuer.fetch(scope, audience)

    def refresh(self, token: str, scope: str = "", audience: str = "") -> Grant:
        """Ask for a token with a refresh token. Raises Refused, Failed, Ambiguous."""
        return self.issuer.refresh(token, scope, audience)

    def probe(self) -> str:
        """Ask for the metadata; whether the client is known, its first request says."""
        self._look("HEAD")
        first = self._issuer(self.first_answer)
        try:
            found = first.metadata
        except (Failed, Ambiguous) as problem:
            raise TargetError(f"{self.url} cannot be reached: {problem.what}", "an answer", "is it up?") from problem
        finally:
            first.close()
        grants = ", ".join(found.grants)
        return "OAuth 2.0 issuer" + (f", grants {grants}" if grants else "")
