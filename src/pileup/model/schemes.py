"""Urls, and kinds of storage by them: for words of the schema, targets without a kind, and suites of one line."""

from __future__ import annotations

from urllib.parse import urlsplit

WEB = ("http", "https", "dav", "davs", "webdav", "webdavs")
STORAGE = {
    "xrootd": ("root", "roots", "xroot", "xroots"),
    "webdav": WEB,
    "s3": ("s3", "s3s"),
    "posix": ("file", ""),
}
"""Kinds of storage, and how their urls begin; a path alone has no scheme."""
SCHEMES = {**STORAGE, "http": WEB}
"""All kinds that a url may be of; a scheme of two kinds belongs to the first of them."""


def has_password(url: str) -> bool:
    """Return whether there is a password in a url: urls are shown and recorded. False for what is no url."""
    try:
        return bool(urlsplit(url).password)
    except ValueError:
        return False


def urls(kind: str) -> str:
    """Return how urls of a kind begin, in words: `file:// or a path`."""
    named = ", ".join(f"{scheme}://" for scheme in SCHEMES[kind] if scheme)
    return f"{named} or a path" if "" in SCHEMES[kind] else named


def in_words() -> str:
    """Return which kind follows from which url, in words."""
    return ", ".join(f"{kind} ({urls(kind)})" for kind in STORAGE)
