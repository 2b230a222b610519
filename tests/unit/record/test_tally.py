"""Frames added up: exactly, in any order, in bounded memory."""

import random

from hypothesis import given
from hypothesis import strategies as st

from pileup._core._native import Histogram
from pileup.model.record import OUTCOMES, Frame, FrameRow, Phase
from pileup.record.tally import MOST_PARTS, Durations, Pressed, Tally, add, amount, counted, merged, together, total

SECOND = 10**9


def encoded(*times: int) -> bytes:
    histogram = Histogram()
    for time in times:
        histogram.record(time)
    return histogram.encode() if times else b""


def row(operation: str, number: int, iteration: bool = True) -> FrameRow:
    """A row of which each counter is another multiple of a number, with as many durations as passed."""
    counters = {name: place * number for place, name in enumerate((*OUTCOMES, "bytes", "calls"), 1)}
    later = {name: place * number for place, name in enumerate(("timed_out", "repeated", "done", "moved"), 11)}
    times = encoded(*(1000 * (place + 1) for place in range(number)))
    return FrameRow(operation, iteration, Phase.MEASURE, response=times, service=times, **counters, **later)


def frame(*rows: FrameRow, time: int = SECOND, place: int = 0, in_flight: int = 0) -> Frame:
    return Frame(time, SECOND, place, 1, Phase.MEASURE, 3, 2, in_flight, 4, 5, b"", rows)


def plain(tally: Tally) -> list[object]:
    amounts = (tally.bytes, tally.calls, tally.timed_out, tally.repeated, tally.done, tally.moved)
    return [tally.counts, *amounts, tally.response.bins(), tally.service.bins()]


@given(st.lists(st.tuples(st.sampled_from(["copy", "read"]), st.integers(0, 40)), max_size=12), st.randoms())
def test_sums_are_exact_and_do_not_depend_on_the_order(told: list[tuple[str, int]], chance: random.Random) -> None:
    frames = [frame(row(name, number)) for name, number in told]
    first: dict[str, Tally] = {}
    for each in frames:
        add(each, first, lambda row: row.operation, Tally.of)
    chance.shuffle(frames)
    second: dict[str, Tally] = {}
    for each in frames:
        add(each, second, lambda row: row.operation, Tally.of)
    assert {name: plain(tally) for name, tally in first.items()} == {name: plain(each) for name, each in second.items()}
    for name, tally in first.items():
        sum_of = sum(number for each, number in told if each == name)
        assert list(tally.counts.values()) == [place * sum_of for place in range(1, 7)]
        assert (tally.done, tally.moved, tally.ended) == (13 * sum_of, 14 * sum_of, 21 * sum_of)
        assert tally.response.count == sum_of


def test_memory_does_not_grow_with_the_number_of_frames() -> None:
    durations, parts = Durations(), [encoded(place, 2 * place, 10**6 * place) for place in range(1, 500)]
    most = 0
    for part in parts:
        durations.add(part)
        most = max(most, len(durations.parts))
    assert most <= MOST_PARTS
    assert durations.whole().bins() == merged(parts).bins() == together([*map(Histogram.decode, parts)]).bins()
    assert len(durations.parts) == 1


def test_what_is_asked_for_again_and_again_is_the_same_sum() -> None:
    rows = [row("copy", number) for number in range(1, 100)]
    tally, live = Tally.of(rows[0]), Tally.live(rows[0])
    for each in rows:
        tally.take(each)
        live.take(each)
        assert live.response.count == live.counts["passed"]
    assert live.response.bins() == tally.response.bins()
    assert (live.counts, live.service.count) == (tally.counts, 0)
    assert tally.responses.once().bins() == tally.responses.whole().bins()


def test_nothing_adds_nothing() -> None:
    durations = Durations()
    durations.add(b"")
    assert (durations.parts, durations.whole().count) == ([], 0)
    assert total([]).ended == 0


def test_rows_are_counted_under_their_keys_and_none_is_no_key() -> None:
    both = frame(row("copy", 1), row("read", 2, iteration=False))
    found = counted([both, both], lambda row: row.iteration)
    assert [found[kind].counts["passed"] for kind in (True, False)] == [2, 4]
    assert counted([both], lambda row: None if row.iteration else row.operation).keys() == {"read"}
    assert total([both]).ended == 3 * 21
    assert amount(both, ("read", False), lambda row: row.moved) == 28
    assert amount(both, ("read", True), lambda row: row.moved) == 0


def test_the_newest_frame_of_a_place_says_what_is_under_way() -> None:
    pressed = Pressed()
    for time, in_flight in ((2, 7), (3, 9), (1, 8)):
        pressed.take(frame(time=time, in_flight=in_flight))
    assert (pressed.time, pressed.in_flight, pressed.clients) == (3, 9, 4)
    assert (pressed.started, pressed.missed, pressed.cpu) == (9, 6, 15)
    assert pressed.rate(30) == 10
    assert Pressed().rate(30) == 0
