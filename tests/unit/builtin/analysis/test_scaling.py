"""The law of weak scaling, fitted to repeats."""

import pytest

from pileup.builtin.analysis.scaling import fitted, means


def test_a_law_without_noise_is_found():
    def truth(workers):
        return 3.0 * (1 + 0.02 * (workers - 1) + 0.001 * workers * (workers - 1))

    law = fitted([(workers, truth(workers)) for workers in (1, 2, 4, 8, 16) for _ in range(2)])
    assert (law.first.value, law.waiting.value, law.crosstalk.value) == pytest.approx((3.0, 0.02, 0.001))
    assert law.at(32) == pytest.approx(truth(32))


def test_of_two_sizes_only_the_waiting_is_known():
    law = fitted([(1, 2.0), (1, 2.2), (2, 2.4), (2, 2.6)])
    assert law.crosstalk is None
    assert law.says() == "T(1) = 2.1 ± 0.43 s, s = 0.19 ± 0.32"


def test_one_size_has_no_law():
    assert fitted([(2, 1.0), (2, 1.1)]) is None


def test_means_are_by_size():
    assert [(size, each.value) for size, each in means([(2, 4.0), (1, 1.0), (1, 2.0)]).items()] == [(1, 1.5), (2, 4.0)]


def test_times_that_no_law_gives_have_none():
    assert fitted([(48, 14.0), (128, 73.0), (192, 73.0)]) is None, "one worker would take less than no time"
