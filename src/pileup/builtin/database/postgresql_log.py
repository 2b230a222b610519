"""PostgreSQL's log in JSON: what it says of statements that took long.

Format: https://www.postgresql.org/docs/current/runtime-config-logging.html, "Using JSON-Format Log Output" (PostgreSQL
15 and later). A line is an entry; it is written when the statement has ended, to the millisecond. It has neither locks
nor rows.
"""

from __future__ import annotations

import calendar
import json
import re
import time

from pileup.builtin.database.slow_log import LONGEST, SECOND, SlowQuery, kind_of

DURATION = re.compile(
    r"duration: (?P<ms>[0-9.]+) ms  (?:statement|execute [^:]*|fetch from [^:]*): (?P<statement>.*)", re.S
)
"""What log_min_duration_statement writes; parsing and binding, which it also writes, are no statements of their own."""
STAMP = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\.(\d{3}) (\S+)")
UNIVERSAL = frozenset({"UTC", "GMT"})


def slow_query(line: str) -> SlowQuery | None:
    """Read a line; None for anything but a slow statement. Times of another zone than UTC are this machine's."""
    try:
        told = json.loads(line)
        found = DURATION.fullmatch(told["message"])
        stamp = STAMP.fullmatch(told["timestamp"])
    except (ValueError, KeyError, TypeError):
        return None
    if found is None or stamp is None:
        return None
    took = round(float(found["ms"]) * 10**6)
    kind = kind_of(found["statement"][:LONGEST])
    return SlowQuery(
        kind, _moment(*stamp.groups()) - took, took, 0, 0, 0, 0, told.get("dbname", ""), told.get("user", "")
    )


def _moment(text: str, milliseconds: str, zone: str) -> int:
    """Return a time, ns since the epoch."""
    parts = time.strptime(text, "%Y-%m-%d %H:%M:%S")
    seconds = calendar.timegm(parts) if zone in UNIVERSAL else int(time.mktime(parts))
    return seconds * SECOND + int(milliseconds) * 10**6
