"""Limits of a suite file in any format, and its bytes as text."""

from __future__ import annotations

import re

from pileup.suite.problems import Position, Problems

LARGEST = 4 * 1024 * 1024
"""Bytes of a suite file."""
DEEPEST = 100
MOST_NODES = 100_000

UNPRINTABLE = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
"""Named by what it is, not by what it is not: Python takes milliseconds to compile a class of a million characters."""


class UnreadableError(Exception):
    """The rest cannot be read; the problem is noted."""


def decode(data: bytes, problems: Problems, origin: str = "", rank: int = 0) -> str:
    """Return the bytes as text without byte order mark. Raises UnreadableError; the problem says why.

    `origin` and `rank` give the position of text that is not from the file (see Position).
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        before = data[: problem.start]
        line, column = before.count(b"\n") + 1, problem.start - before.rfind(b"\n")
        found = f"byte 0x{data[problem.start]:02x} is not UTF-8"
        problems.add(Position(rank, line, column, origin), found, "text in UTF-8", "save the file as UTF-8")
        raise UnreadableError from problem
    bad = UNPRINTABLE.search(text)
    if bad:
        line, column = text.count("\n", 0, bad.start()) + 1, bad.start() - text.rfind("\n", 0, bad.start())
        problems.add(
            Position(rank, line, column, origin), f"control character U+{ord(bad.group()):04X}", "printable text"
        )
        raise UnreadableError
    return text
