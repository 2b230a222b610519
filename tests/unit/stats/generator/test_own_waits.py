"""What pileup did by itself is reported in words, and counted where programs look."""

from __future__ import annotations

from dataclasses import replace

from pileup.model.own_waits import EXPECT_WAIT, RECONNECT_PAUSE
from pileup.stats.frames.totals import measure
from pileup.stats.generator.own_waits import own_words

MS = 1_000_000


def told(frame, *rows):
    return own_words(measure([frame(1, *rows)]))


def test_t8_repeats_are_told(frame, row):
    read = replace(row([MS], "read"), calls=735, repeated=367)
    assert told(frame, read) == [
        "repeated: 367 of 735 calls were made again, because their kept connection ended before a byte of an answer "
        "came"
    ]
    assert measure([frame(1, read), frame(2, read)]).iterations()[0].repeated == 734
    assert told(frame, row([MS], "read")) == []


def test_t7_and_t23_waits_of_our_own_are_told(frame, row):
    iteration = row([MS], "write")
    (said,) = told(frame, iteration, row([1000 * MS] * 3, EXPECT_WAIT, iteration=False))
    assert said.startswith("pileup itself held back 3 bodies, 1 s each: ") and "`expect: never`" in said
    (said,) = told(frame, iteration, row([100 * MS, 1000 * MS], RECONNECT_PAUSE, iteration=False))
    assert said.startswith("after refused connections clients paused 0.1-1 s, 2 times ")
