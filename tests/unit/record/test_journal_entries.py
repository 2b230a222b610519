"""Entries of the journal and events have types: what is of another one counts as if it were not there, and is named."""

from pathlib import Path

import pytest

from pileup.model.program import Keys, Program, Step
from pileup.model.record import CaseOutcome
from pileup.record import RunFolder


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path, "t", 0)


def test_a_program_comes_back_as_it_was(folder: RunFolder) -> None:
    removal = Program((Step("delete", "delete", Keys("a/f", 3), headers=(("x", "y"),)),))
    folder.journal("objects", "made", target="se", case="fill", remove=removal.to_native())
    (entry,) = folder.journal_entries()
    assert (entry.what, entry.state, entry.target, entry.remove) == ("objects", "made", "se", removal)
    assert entry.given >= {"what", "state", "target", "case", "remove"}
    assert entry.wrong == frozenset()


def test_what_is_of_another_type_is_not_there_and_named(folder: RunFolder) -> None:
    folder.journal("server", "begun", target=["se"], pid="1", ticks=True, mark="m", remove={"steps": [7]}, own=None)
    (entry,) = folder.journal_entries()
    assert (entry.target, entry.pid, entry.ticks, entry.mark, entry.remove) == ("", 0, 0, "m", None)
    assert entry.wrong == {"target", "pid", "ticks", "remove"}
    assert "own" in entry.given


def test_an_event_keeps_its_whole_line(folder: RunFolder) -> None:
    folder.event("case", "a: passed", case=1, state="ended", outcome="passed", cut=False, more=[1])
    folder.event("case", "a: fine", case=1, state="ended", outcome="fine", begin="now")
    known, odd = folder.events()
    assert (known.case, known.ended, known.words["more"]) == (1, CaseOutcome.PASSED, [1])
    assert (odd.ended, odd.outcome, odd.begin, odd.words["begin"]) == (None, "fine", None, "now")
