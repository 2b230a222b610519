"""The registry of verbs: one, in the engine and in Python."""

import json
from typing import get_args

import pytest

from pileup._core import _native
from pileup.model.program import Destination, Keys, Program, Step
from pileup.model.verbs import VERBS, Makes, Moves, Names, Verb, traits_of

FIELDS = ("changes", "deletes", "names", "moves", "makes")


def test_the_engine_has_the_same_registry() -> None:
    own = {verb: tuple(getattr(traits, name) for name in FIELDS) for verb, traits in VERBS.items()}
    assert own == _native.VERBS
    assert list(own) == list(_native.VERBS) == list(get_args(Verb))


def test_what_makes_deletes_or_takes_in_changes() -> None:
    for verb, traits in VERBS.items():
        touches = traits.deletes or traits.makes is not Makes.NOTHING or traits.moves in (Moves.OUT, Moves.BETWEEN)
        assert traits.changes >= touches, verb
        assert (traits.names is Names.ELSEWHERE) == (traits.moves is Moves.BETWEEN), verb


@pytest.mark.parametrize(
    ("method", "changes", "deletes"),
    [
        ("", False, False),
        ("get", False, False),
        ("PROPFIND", False, False),
        ("PUT", True, False),
        ("POST", True, False),
        ("delete", True, True),
        ("MOVE", True, True),
        ("FROBNICATE", True, False),
    ],
)
def test_of_a_request_its_method_says_what_it_does(method: str, changes: bool, deletes: bool) -> None:
    traits = Step("ask", "request", method=method).traits
    assert (traits.changes, traits.deletes) == (changes, deletes)
    assert traits == traits_of("request", method)


def test_a_step_knows_what_it_makes_and_where() -> None:
    keys, to = Keys("d/f", 3, suffix=".a"), Destination("other", Keys("x", 3))
    assert Step("w", "write", keys).made == Step("m", "mkdir", keys).made == keys
    assert Step("r", "rename", keys, to=".b").made == Keys("d/f", 3, suffix=".b")
    copy = Step("c", "copy", keys, destination=to)
    assert (copy.made, copy.changes_here, copy.traits.changes) == (None, False, True)
    assert [Step("s", verb, keys).made for verb in ("read", "delete", "request", "noop")] == [None] * 4


def test_only_a_step_with_a_second_target_says_so_to_the_engine_and_the_journal() -> None:
    keys = Keys("x", 2)
    steps = Step("w", "write", keys), Step("c", "copy", keys, destination=Destination("b", keys))
    write, copy = json.loads(json.dumps(Program(steps).to_native()))["steps"]
    assert "destination" not in write
    assert copy["destination"] == {"target": "b", "keys": write["keys"], "pull": False, "streams": None}
    assert _native.Steps(json.dumps(Program(steps).to_native()), 1).destination(1, 1) == "x000001"
