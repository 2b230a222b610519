"""An issuer asked for tokens: the grants of RFC 6749 that need no human being."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from urllib.parse import quote_plus, urlencode

from pileup.builtin.credentials.identity import Identity
from pileup.builtin.http.connection import REFUSALS, Answer, Connections
from pileup.builtin.http.location import locate
from pileup.builtin.oauth.metadata import Metadata, ask, text_of
from pileup.plugin import Failed, Refused, TargetError

OK, BAD = 200, 400
FORM = "application/x-www-form-urlencoded"
LONGEST = 120
"""Characters of what an issuer says that are shown."""
BASIC, POST = "client_secret_basic", "client_secret_post"
OFFLINE = "offline_access"
"""The scope that asks for a refresh token (OpenID Connect Core 1.0, 11)."""


@dataclass(frozen=True, slots=True, repr=False)
class Grant:
    """What an issuer has granted. Holds secrets: never shown."""

    token: str
    lasts: int | None
    """Nanoseconds from the answer on; None: the issuer does not say."""
    scope: str
    refresh: str | None
    """Token for the next one, where there is one."""
    size: int
    """Bytes of the answer."""

    def __repr__(self) -> str:
        return "Grant(secret)"


class Issuer:
    """One issuer as one client of it sees it. Connections are kept by thread."""

    def __init__(self, url: str, who: Identity, patience: float, reach: tuple[str, int] | None = None) -> None:
        """`who` has the client as user and its secret as password; `patience` in seconds.

        `reach` is where to connect to in the place of the server of the url.
        """
        where = locate(url)
        if not where.secret:
            raise TargetError(
                f"the secret of a client would go to {where.host} in plain",
                "an issuer with https://",
                "pileup sends secrets over TLS or to this machine",
            )
        self._url = url
        self._who = who
        self._patience = patience
        self._where = where
        self._reach = reach
        self._open = Connections(where, replace(who, user=None, password=None), {}, patience, reach=reach)

    @cached_property
    def metadata(self) -> Metadata:
        """What it says of itself. Raises TargetError for what is not an issuer, Failed, Ambiguous."""
        return ask(self._open, self._url)

    @cached_property
    def _tokens(self) -> Connections:
        nobody = replace(self._who, user=None, password=None)
        there = self.metadata.token_endpoint
        same = (there.host, there.port) == (self._where.host, self._where.port)
        return Connections(there, nobody, {}, self._patience, reach=self._reach if same else None)

    def fetch(self, scope: str | None = None, audience: str | None = None) -> Grant:
        """Ask for a token with the client's secret. Raises Refused, Failed, Ambiguous."""
        return self._grant({"grant_type": "client_credentials"}, scope, audience)

    def refresh(self, token: str, scope: str | None = None, audience: str | None = None) -> Grant:
        """Ask for a token with a refresh token. Raises Refused, Failed, Ambiguous."""
        return self._grant({"grant_type": "refresh_token", "refresh_token": token}, scope, audience)

    def close(self) -> None:
        """Close the connections of this thread."""
        self._open.close()
        if "_tokens" in self.__dict__:
            self._tokens.close()

    def _grant(self, form: dict[str, str], scope: str | None, audience: str | None) -> Grant:
        user, secret = self._who.user or "", self._who.password or ""
        form |= {name: text for name, text in (("scope", scope), ("audience", audience)) if text}
        headers = {"Content-Type": FORM, "Accept": "application/json"}
        tokens = self._tokens
        if BASIC in self.metadata.methods or POST not in self.metadata.methods:
            known = replace(self._who, user=quote_plus(user), password=quote_plus(secret))  # RFC 6749, 2.3.1
            headers |= known.headers()
        else:
            form |= {"client_id": user, "client_secret": secret}
        answer = tokens.send("POST", "", urlencode(form).encode(), headers)
        return _granted(answer, hidden=(secret, *form.values()))


def _granted(answer: Answer, hidden: tuple[str, ...]) -> Grant:
    """Return what an answer grants. Raises Refused where the issuer refuses, else Failed."""
    status = answer.status
    if status != OK:
        said = f"HTTP {status} {answer.head.reason}".rstrip() + _why(answer, hidden)
        raise Refused(said) if status == BAD or status in REFUSALS else Failed(said)
    found = text_of(answer.body)
    token, lasts = found.get("access_token"), found.get("expires_in")
    if not isinstance(token, str) or not token.isascii() or not token.isprintable() or not token.strip():
        raise Failed("the issuer's answer has no access_token")
    if str(found.get("token_type", "")).lower() != "bearer":  # RFC 6749, 7.1: what is not understood must not be used
        raise Failed("the issuer's token is not of type Bearer")
    good = isinstance(lasts, int | float) and not isinstance(lasts, bool) and lasts > 0
    refresh, scope = found.get("refresh_token"), found.get("scope")
    return Grant(
        token,
        int(float(str(lasts)) * 1e9) if good else None,
        scope if isinstance(scope, str) else "",
        refresh if isinstance(refresh, str) else None,
        len(answer.body),
    )


def _why(answer: Answer, hidden: tuple[str, ...]) -> str:
    """Return what an issuer says of a refusal (RFC 6749, 5.2), unless it repeats a secret."""
    try:
        found = text_of(answer.body)
    except Failed:
        return ""
    said = [str(found[name]) for name in ("error", "error_description") if isinstance(found.get(name), str)]
    text = "".join(sign for sign in ": ".join(said) if sign.isprintable())[:LONGEST]
    secret = any(each and len(each) >= 8 and each in text for each in hidden)
    return f" ({text})" if text and not secret else ""
