"""Clients in Python: what they can do is what they have methods for."""

from __future__ import annotations

import pytest

from pileup.builtin.http.curl import Curl
from pileup.builtin.xrootd.bindings import XrootdBindings
from pileup.builtin.xrootd.xrdcp import XrdCopy
from pileup.model.program import Keys, Step
from pileup.model.verbs import VERBS
from pileup.plugin import Call, ProgramClient
from pileup.plugin.program_client import METHODS

KEYS = Keys("f")


class Looker(ProgramClient):
    name = "looker"

    def stat(self, call: Call) -> int:
        return 0


class Opener(Looker):
    def open_file(self, call: Call) -> None:
        return


def test_a_client_has_the_verbs_of_its_methods_and_of_those_that_it_inherits() -> None:
    assert (ProgramClient.verbs, Looker.verbs, Opener.verbs) == ({"noop"}, {"noop", "stat"}, {"noop", "stat", "open"})
    assert all(hasattr(ProgramClient, name) for name in METHODS.values())
    assert METHODS.keys() == VERBS.keys() - {"noop"}


def test_those_of_other_software_have_what_it_can() -> None:
    assert XrdCopy.verbs == {"noop", "read", "write", "copy", "checksum"}
    assert VERBS.keys() - Curl.verbs == {"connect", "copy"}
    assert VERBS.keys() - XrootdBindings.verbs == {"connect", "copy", "request"}


@pytest.mark.parametrize("verb", ["copy", "request", "rename"])
def test_a_verb_that_a_client_has_not_is_refused_before_a_run(verb: str) -> None:
    step = Step("do", verb, KEYS)  # type: ignore[arg-type]
    told = f"`client: looker` has no {verb}; expected a client that has it, or another test"
    assert (Looker.problem(step), Looker.problem(Step("s", "stat", KEYS))) == (told, "")
