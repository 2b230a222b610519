"""The registry of verbs: what each does to its target. The same as the engine's `verb.rs`; a test compares the two.

Whoever must know what a step does asks here: guard rails, layers, clean-up, clients. A new verb is one entry here and
one in the engine, a method of `ProgramClient`, and one arm in each protocol that can do it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

Verb = Literal[
    "noop",
    "request",
    "write",
    "read",
    "stat",
    "list",
    "delete",
    "mkdir",
    "rename",
    "copy",
    "checksum",
    "open",
    "connect",
]
"""What a step does. `noop` nothing, on every target. `rename`: to the key without the suffix of its keys and with
`Step.to` behind it. `copy`: the target itself sends an object to a second one, `Step.destination`. `checksum`: ask the
server for the checksum of an object, and compare it with that of what a step before in the same iteration has read or
written of it, else with that of the known content. `open`: open for reading and close, no bytes. `connect`: a session
beside the client's own (connect, TLS, log in), ended again. A protocol that has not a verb says so: the operation
fails."""
HARMLESS = frozenset({"GET", "HEAD", "OPTIONS", "PROPFIND", "REPORT", "SEARCH", "TRACE"})
"""HTTP methods that change nothing (RFC 9110, 9.2.1; RFC 4918; RFC 3253; RFC 5323)."""
REMOVING = frozenset({"DELETE", "MOVE"})
"""HTTP methods after which something is gone from its name."""


class Names(StrEnum):
    """Which names a verb takes."""

    NONE = "none"
    URL = "url"
    """A part of a url, as it is written."""
    ONE = "one"
    """That of an object."""
    TWO = "two"
    """Those of an object before and after, on the same target."""
    ELSEWHERE = "elsewhere"
    """That of an object, and that of another on a second target."""


class Moves(StrEnum):
    """Which way the bytes of its object go."""

    NOTHING = "nothing"
    IN = "in"
    """From the target to the client."""
    OUT = "out"
    """From the client to the target."""
    BETWEEN = "between"
    """From the target to another, past the client."""

    @property
    def here(self) -> bool:
        """Whether they pass by the client."""
        return self in (Moves.IN, Moves.OUT)


class Makes(StrEnum):
    """What is there afterwards that was not there before."""

    NOTHING = "nothing"
    """Nothing that is known."""
    FILE = "file"
    FOLDER = "folder"


@dataclass(frozen=True, slots=True)
class Traits:
    """What a verb does. Of a request, whose method says it, the most that it may do."""

    changes: bool = False
    """Whether it changes what is on its target, or on the second one."""
    deletes: bool = False
    """Whether something is gone from its name afterwards."""
    names: Names = Names.ONE
    moves: Moves = Moves.NOTHING
    makes: Makes = Makes.NOTHING


VERBS: Mapping[Verb, Traits] = {
    "noop": Traits(names=Names.NONE),
    "request": Traits(changes=True, deletes=True, names=Names.URL),
    "write": Traits(changes=True, moves=Moves.OUT, makes=Makes.FILE),
    "read": Traits(moves=Moves.IN),
    "stat": Traits(),
    "list": Traits(),
    "delete": Traits(changes=True, deletes=True),
    "mkdir": Traits(changes=True, makes=Makes.FOLDER),
    "rename": Traits(changes=True, deletes=True, names=Names.TWO, makes=Makes.FILE),
    "copy": Traits(changes=True, names=Names.ELSEWHERE, moves=Moves.BETWEEN, makes=Makes.FILE),
    "checksum": Traits(),
    "open": Traits(),
    "connect": Traits(names=Names.NONE),
}


def traits_of(verb: Verb, method: str = "") -> Traits:
    """Return what a verb does; of a request what its HTTP method (GET when it is empty) does."""
    traits = VERBS[verb]
    if traits.names is not Names.URL:
        return traits
    method = (method or "GET").upper()
    return replace(traits, changes=method not in HARMLESS, deletes=method in REMOVING)
