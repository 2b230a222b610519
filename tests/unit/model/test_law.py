"""Laws of random times: what is refused, and how long a draw may be."""

import pytest
from pydantic import ValidationError

from pileup.model.law import Law


@pytest.mark.parametrize(
    "law",
    [
        {},
        {"fixed": "1 s", "exponential": "1 s"},
        {"uniform": ["2 s", "1 s"]},
        {"lognormal": ["1 s", "nan"]},
        {"lognormal": ["1 s", -0.1]},
        {"lognormal": ["1 s", 1000]},
        {"bimodal": ["1 s", "2 s", 1.1]},
    ],
)
def test_what_is_no_law_is_refused(law: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Law.model_validate(law)


@pytest.mark.parametrize(
    ("law", "longest"),
    [
        ({"fixed": 5}, 5),
        ({"uniform": [1, 9]}, 9),
        ({"exponential": 10}, 200),
        ({"normal": [10, 2]}, 22),
        ({"lognormal": [10, 0]}, 10),
        ({"bimodal": [10, 3, 0.5]}, 10),
    ],
)
def test_a_draw_is_practically_never_longer(law: dict[str, object], longest: int) -> None:
    assert Law.model_validate(law).longest == longest


def test_the_widest_law_is_still_a_number() -> None:
    assert Law.model_validate({"lognormal": ["100000 d", 10]}).longest > 0
