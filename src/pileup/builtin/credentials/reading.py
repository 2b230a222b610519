"""Credentials of a suite read and checked: who pileup is for a target."""

from __future__ import annotations

from pathlib import Path

from pileup.builtin.credentials.authorities import is_folder
from pileup.builtin.credentials.identity import Identity
from pileup.builtin.oauth.renewal import renewed
from pileup.plugin import TargetError
from pileup.plugin.credentials import DISCOVER, Credentials, surroundings


def identity_of(credentials: Credentials, host: str, *, secret: bool, tls: bool) -> Identity:
    """Read the credentials for one host.

    `secret` says whether what is sent stays between the two (over TLS, or within this machine), `tls` whether there
    is TLS at all. Raises TargetError: something that is not found or cannot be read, a token that is none, a secret
    that would go over the wire in plain.
    """
    _consistent(credentials)
    token, token_file = _token(credentials)
    if (token or token_file or credentials.user) and not secret:
        what = f"credentials would go to {host} in plain"
        raise TargetError(what, "a url with TLS, such as https://", "pileup sends secrets over TLS or to this machine")
    proxy = _discovered(credentials.proxy, "proxy")
    certificate, key = (proxy, proxy) if proxy else (credentials.certificate, credentials.key)
    if not tls and (credentials.ca or certificate):
        raise TargetError(f"certificates are given, but {host} is accessed without TLS", "a url with TLS")
    ca = _discovered(credentials.ca, "ca")
    for word, path in {"certificate": certificate, "key": key}.items():
        _readable(word if not proxy else "proxy", path)
    if ca is not None and not is_folder(ca):
        _readable("ca", ca)
    password = credentials.password.get_secret_value() if credentials.password else None
    return Identity(token, token_file, credentials.user, password, ca, certificate, key)


def _consistent(credentials: Credentials) -> None:
    """Raise TargetError for words that contradict each other, or that only S3 takes."""
    if credentials.access_key or credentials.secret_key or credentials.session_token or credentials.profile:
        raise TargetError("credentials have keys or a profile, which only S3 takes", "kind `s3`, or other credentials")
    if credentials.issuer is not None and (credentials.token is not None or credentials.token_file is not None):
        raise TargetError("credentials have an issuer and a token", "one of the two")
    bearer = credentials.bearer
    if credentials.user is not None and bearer:
        raise TargetError("credentials have a token and a user", "one of the two")
    if credentials.token is not None and credentials.token_file is not None:
        raise TargetError("credentials have a token and a token_file", "one of the two")
    if credentials.user is not None and ":" in credentials.user:
        raise TargetError("the user name has a colon", "one without, as basic authentication asks")
    if credentials.password is not None and credentials.user is None:
        raise TargetError("credentials have a password but no user", "both")
    if credentials.proxy and (credentials.certificate or credentials.key):
        raise TargetError("credentials have a proxy and a certificate or key", "one of the two")
    if credentials.key and not credentials.certificate:
        raise TargetError("credentials have a key but no certificate", "both")


def _token(credentials: Credentials) -> tuple[str | None, str | None]:
    """Return the token, or the file that holds it."""
    if credentials.issuer is not None:
        return None, renewed(credentials.issuer)
    token, path = None, credentials.token_file
    if credentials.token is not None:
        token = credentials.token.get_secret_value()
    if token == DISCOVER:
        token, found = surroundings().token()
        path = None if found is None else str(found)
    said = token if path is None else _readable("token_file", path).strip()
    if said is not None and (not said or not said.isascii() or not said.isprintable() or " " in said):
        raise TargetError(
            "the bearer token is empty or has characters that no token has",
            "one line of letters, digits and . _ - ~ + /",
        )
    return token, path


def _discovered(given: str | None, word: str) -> str | None:
    """Return a path of the credentials, looked for where the word asks for it."""
    if given != DISCOVER:
        return given
    around = surroundings()
    return str(around.proxy() if word == "proxy" else around.ca())


def _readable(word: str, path: str | None) -> str:
    """Return the text of a file of credentials; its name is reported when that fails, its content never."""
    try:
        return Path(path).read_text(errors="replace") if path else ""
    except OSError as problem:
        raise TargetError(
            f"{word} {path} cannot be read: {problem.strerror}", "a file that this user can read"
        ) from problem
