"""Loads of stages: what they ask for, and when they are measured."""

from pileup.model.loads.load import Load

SECOND = 10**9


def load(*stages: dict[str, object], kind: str = "rate") -> Load:
    """Return a load; each stage has level, for, ramp, warm_up in seconds."""
    plain = [{kind: stage.pop("level")} | {word: f"{seconds} s" for word, seconds in stage.items()} for stage in stages]
    return Load.model_validate({"stages": plain})


def test_pauses_and_ramps_are_not_measured() -> None:
    found = load(
        {"level": 0, "for": 5},
        {"level": 100, "ramp": 1, "warm_up": 1, "for": 2},
        {"level": 300, "for": 2},
        {"level": 50, "ramp": 3, "for": 4},
        {"level": 0, "for": 9},
    )
    assert found.spans == ((0, 4 * SECOND), (7 * SECOND, 11 * SECOND))
    assert found.levels == (
        (SECOND * 6, SECOND * 9, 100),
        (SECOND * 9, SECOND * 11, 300),
        (SECOND * 14, SECOND * 18, 50),
    )
    assert found.asked == (100 * 2 + 300 * 2 + 50 * 4) / 8
    assert found.lasting == 27 * SECOND


def test_closed_loads_and_plain_ones_have_no_more_than_they_say() -> None:
    closed = load({"level": 4, "ramp": 1, "for": 1}, {"level": 1, "ramp": 1, "for": 1}, kind="clients")
    assert (closed.asked, closed.spans) == (None, ((0, SECOND), (2 * SECOND, 3 * SECOND)))
    assert closed.levels == ((SECOND, 2 * SECOND, 4), (3 * SECOND, 4 * SECOND, 1))
    plain = Load.model_validate({"rate": 5, "ramp": "1 s", "for": "2 s"})
    assert (plain.asked, plain.spans, plain.levels) == (5, (), ())
    assert Load.model_validate({"every": "2 s"}).asked == 0.5
