"""SQL as text: scripts taken apart into statements, what a statement does, and which parameters it names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""(?P<comment>--[^\n]*|/\*.*?\*/|^[ \t]*\#[^\n]*)
    |(?P<quoted>'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|`[^`]*`|\$(?P<tag>\w*)\$.*?\$(?P=tag)\$)
    |(?P<end>;)
    |(?P<code>[^'"`;/$\n-]+|.)""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_NAME = re.compile(r"(?<![:\w\\]):([A-Za-z_]\w*)(?!:)")
_COLON = re.compile(r"(?<![:\w\\]):(?=\w)")
_WORD = re.compile(r"[A-Za-z]+")
READING = {"select", "show", "explain", "describe", "desc", "values", "table"}
CHANGING = {"insert", "update", "delete", "merge", "replace"}


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of SQL. `names` are those of its parameters, written `:name`."""

    text: str
    """As SQLAlchemy's text() takes it: colons that name no parameter have a backslash before them."""
    plain: str
    """As it was written."""
    verb: str
    """What it does, in one word: select, insert, ...; that of its timed operation."""
    writes: bool
    """Whether it may change something. What locks rows and changes none (FOR UPDATE) does not."""
    names: frozenset[str]


def split(script: str) -> Iterator[str]:
    """Yield the statements of a script, which semicolons end; those in quotes and comments do not."""
    begin, something = 0, False
    for found in _TOKEN.finditer(script):
        if found["end"]:
            if something:
                yield script[begin : found.start()].strip()
            begin, something = found.end(), False
        elif not found["comment"] and found[0].strip():
            something = True
    if something:
        yield script[begin:].strip()


def parse(text: str) -> Statement:
    """Return a statement with what is known of it. Raises ValueError when there is none, or several."""
    statements = list(split(text))
    if len(statements) != 1:
        raise ValueError(f"{len(statements)} statements where one belongs; expected one, or a list of `statements`")
    (plain,) = statements
    code, escaped = "", ""
    for found in _TOKEN.finditer(plain):
        bare = bool(found["code"])
        code += found[0] if bare else " "
        escaped += found[0] if bare else _COLON.sub(r"\\:", found[0])
    words = [word.lower() for word in _WORD.findall(code)]
    verb = words[0] if words else "query"
    changes = sorted(CHANGING.intersection(words))
    if verb == "with":
        verb = changes[0] if changes else "select"
    return Statement(escaped, plain, verb, verb not in READING, frozenset(_NAME.findall(code)))
