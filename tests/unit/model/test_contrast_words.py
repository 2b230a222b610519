"""What a comparison says first, in a sentence."""

import pytest

from pileup.model.contrast_words import sentence
from pileup.stats.compare.runs import compare_runs
from tests.unit.stats.contrasts import MS, case, operation, run

BASE = {"failed": 0}


def told(candidate, baseline=None, smallest=0.05):
    base = baseline or operation(20 * MS)
    (against,) = compare_runs([run(case(base))], [[run(case(candidate), folder="/runs/two")]], smallest).against
    return sentence(against, smallest)


@pytest.mark.parametrize(
    ("candidate", "said"),
    [
        (operation(30 * MS), "Regressed: 3 of 6 metrics are worse by 5 % or more, the most copy mean +50.0 %."),
        (operation(10 * MS), "Improved: 3 of 6 metrics are better by 5 % or more, the most copy mean -50.0 %."),
        (operation(30 * MS, rate=300.0), "; 2 are better."),
        (operation(20 * MS), "The same within 5 %: 5 metrics."),
    ],
)
def test_the_sentence_says_what_is_better_or_worse(candidate, said):
    assert told(candidate).endswith(said), told(candidate)


def test_a_small_change_is_called_small():
    thin = operation(20 * MS, 0.001), operation(20.4 * MS, 0.001)
    assert told(thin[1], thin[0]).startswith("Changed by less than 5 %: ")


def test_what_is_not_detected_is_not_called_the_same():
    wide = operation(20 * MS, 0.3), operation(21 * MS, 0.3)
    assert told(wide[1], wide[0]) == "No change of 5 % or more detected (5 metrics)."
