"""When a bearer token ends, as far as it says so itself."""

from __future__ import annotations

import json
import time
from base64 import urlsafe_b64decode


def end_of(token: str) -> float | None:
    """Return when a JWT ends (`exp`, RFC 7519, 4.1.4), seconds since the epoch; None for any other token.

    Nothing is verified: who asks wants to know whether a token is still worth showing.
    """
    try:
        claims = token.split(".")[1]
        end = json.loads(urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))["exp"]
    except (ValueError, LookupError, TypeError):
        return None
    return float(end) if isinstance(end, int | float) else None


def is_over(token: str) -> bool:
    """Return whether a token has ended by now."""
    end = end_of(token)
    return end is not None and end <= time.time()
