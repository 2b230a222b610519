"""What an issuer says of itself: where tokens are asked for (RFC 8414; OpenID Connect Discovery 1.0)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from urllib.parse import urljoin

from pileup.builtin.http.connection import Connections
from pileup.builtin.http.location import Location, locate
from pileup.plugin import Failed, TargetError

OPENID = ".well-known/openid-configuration"
OAUTH = "/.well-known/oauth-authorization-server"
NOT_THERE = (404, 405, 410)
OK = 200


@dataclass(frozen=True, slots=True)
class Metadata:
    """What is known of an issuer."""

    issuer: str
    token_endpoint: Location
    jwks_uri: str
    grants: tuple[str, ...]
    """Grant types that it says it knows; empty: it does not say."""
    methods: tuple[str, ...]
    """How clients may say who they are; RFC 8414, 2: client_secret_basic where nothing is said."""


def ask(connections: Connections, url: str) -> Metadata:
    """Return the metadata of the issuer at a url.

    Raises TargetError for what is not an issuer, Failed and Ambiguous as `Connections.send` does.
    """
    answer = connections.send("GET", OPENID)
    if answer.status in NOT_THERE:  # RFC 8414, 3.1: between the host and the path of the issuer
        home = connections.beside(locate(urljoin(url, "/")))
        answer = home.send("GET", OAUTH + locate(url).path.rstrip("/"))
        home.close()
    if answer.status != OK:
        raise _no_issuer(url, f"its metadata are answered with {answer.status} {answer.head.reason}".rstrip())
    return parse(url, answer.body)


def parse(url: str, body: bytes) -> Metadata:
    """Read metadata. Raises TargetError for what is not those of this issuer."""
    try:
        found = json.loads(body)
    except ValueError:
        raise _no_issuer(url, "its metadata are not JSON") from None
    issuer, endpoint = (found.get(name) if isinstance(found, dict) else None for name in ("issuer", "token_endpoint"))
    if not isinstance(issuer, str) or not isinstance(endpoint, str):
        raise _no_issuer(url, "its metadata name no issuer or no token_endpoint")
    if issuer.rstrip("/") != url.rstrip("/"):  # RFC 8414, 3.3: somebody else's tokens must not be taken for its own
        raise TargetError(
            f"{url} says that the issuer is {issuer:.200}", "the same", "give the url as the issuer writes it"
        )
    where = locate(endpoint)
    if not where.secret:
        raise TargetError(f"{url} wants secrets at {where.url}, in plain", "https://", "ask the issuer's admin")
    return Metadata(
        issuer,
        where,
        _text(found.get("jwks_uri")),
        _texts(found.get("grant_types_supported")),
        _texts(found.get("token_endpoint_auth_methods_supported")) or ("client_secret_basic",),
    )


def _no_issuer(url: str, why: str) -> TargetError:
    return TargetError(
        f"{url} is not a token issuer: {why}", "its metadata (RFC 8414)", "correct the url of the issuer"
    )


def _text(found: object) -> str:
    return found if isinstance(found, str) else ""


def _texts(found: object) -> tuple[str, ...]:
    return tuple(text for text in found if isinstance(text, str)) if isinstance(found, list) else ()


def text_of(body: bytes) -> dict[str, object]:
    """Return the JSON object of an answer. Raises Failed when it is not one."""
    try:
        found = json.loads(body)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise Failed("the issuer's answer is not a JSON object")
    return found
