"""Kinds of storage by their urls: for the words of the schema, for targets without a kind, for suites of one line."""

from __future__ import annotations

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


def urls(kind: str) -> str:
    """Return how urls of a kind begin, in words: `file:// or a path`."""
    named = ", ".join(f"{scheme}://" for scheme in SCHEMES[kind] if scheme)
    return f"{named} or a path" if "" in SCHEMES[kind] else named


def in_words() -> str:
    """Return which kind follows from which url, in words."""
    return ", ".join(f"{kind} ({urls(kind)})" for kind in STORAGE)
