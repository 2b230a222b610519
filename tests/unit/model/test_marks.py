"""Each verdict and outcome has one mark, whoever shows it."""

import pytest

from pileup.model.contrast import BETTER, WORSE
from pileup.model.marks import MARKS, NOTHING, Tone, mark
from pileup.model.record import CaseOutcome
from pileup.model.verdict import RunVerdict, Verdict

KNOWN = [*Verdict, *CaseOutcome, *RunVerdict, BETTER, WORSE]


@pytest.mark.parametrize("word", KNOWN)
def test_every_word_is_known(word: str) -> None:
    assert str(word) in MARKS


def test_met_is_told_from_what_is_not_shown_and_not_met() -> None:
    signs = {verdict: mark(verdict).sign for verdict in Verdict}
    assert (signs[Verdict.MET], signs[Verdict.MET_NOT_SHOWN], signs[Verdict.NOT_MET]) == ("✓", "~", "✗")
    assert signs[Verdict.NOT_MET_NOT_SHOWN] == signs[Verdict.NOT_MET]
    assert mark(Verdict.MET_NOT_SHOWN).tone is Tone.UNSURE


def test_any_other_word_has_a_dash() -> None:
    assert mark("nonsense") == NOTHING
