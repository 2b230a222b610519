"""The variables of our environment that servers, their helpers and processes of other users get."""

from __future__ import annotations

import os
from collections.abc import Mapping

ALLOWED = frozenset(
    {
        *("PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "VIRTUAL_ENV"),
        *("HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TERM", "TZ", "LANG", "LANGUAGE"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "X509_CERT_DIR"),
    }
)
"""Variables that say where things are and how to write them; none of them holds a secret."""
LOCALE = "LC_"


def handed_on(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the allowed variables of our environment, and `more`: tokens and passwords in it are not for others."""
    ours = {name: value for name, value in os.environ.items() if name in ALLOWED or name.startswith(LOCALE)}
    return ours | dict(more or {})
