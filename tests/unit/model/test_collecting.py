"""The garbage collector is as before after what it was kept out of, however that ends."""

import gc

import pytest

from pileup.model.collecting import SELDOM, seldom_collected, uncollected


def test_it_pauses_and_goes_on() -> None:
    assert gc.isenabled()
    with uncollected(), uncollected():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_looks_seldom_and_as_often_as_before_again() -> None:
    before, frozen = gc.get_threshold(), gc.get_freeze_count()
    with pytest.raises(ValueError, match="wrong"), seldom_collected():
        assert gc.get_threshold()[0] == SELDOM
        assert gc.get_freeze_count() > frozen
        raise ValueError("wrong")
    assert (gc.get_threshold(), gc.get_freeze_count()) == (before, 0)
