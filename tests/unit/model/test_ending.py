"""Endings: kinds that the engine and Python share, and their sentences."""

from pileup._core import _native
from pileup.model.ending import FINISHED, Ending, EndingKind


def test_the_engine_gives_kinds_that_are_known_and_places_add_two() -> None:
    assert set(EndingKind) - set(_native.ENDINGS) == {EndingKind.SET_UP_FAILED, EndingKind.PLACE_LOST}
    assert set(_native.ENDINGS) <= set(EndingKind)


def test_a_sentence_names_a_limit_and_a_set_up() -> None:
    assert str(Ending(EndingKind.LIMIT, "7 errors in a row")) == "limit: 7 errors in a row"
    assert str(Ending(EndingKind.SET_UP_FAILED, "no disk")) == "set-up failed: no disk"
    assert str(Ending(EndingKind.STOPPED, "stopped")) == "stopped"
    assert (str(FINISHED), FINISHED.early, Ending(EndingKind.ENGINE, "").early) == ("", False, True)
