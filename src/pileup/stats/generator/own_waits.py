"""Acts of pileup itself inside a load, in words: repeated requests, held back bodies, pauses."""

from __future__ import annotations

from pileup.model.own_waits import BESIDE_RELAY, EXPECT_WAIT, RECONNECT_PAUSE
from pileup.model.units import counted, format_count, format_range, format_time
from pileup.record.tally import Tally
from pileup.stats.frames.totals import Measured


def own_words(measured: Measured) -> list[str]:
    """Return a sentence for each kind of act, so that a reader does not attribute it to the system."""
    found = []
    repeated = sum(tally.repeated for tally in measured.iterations())
    if repeated:
        calls = sum(tally.calls for tally in measured.iterations())
        found.append(
            f"repeated: {format_count(repeated)} of {format_count(calls)} calls were made again, because their "
            "kept connection ended before a byte of an answer came"
        )
    for tally in measured.named(EXPECT_WAIT):
        found.append(
            f"pileup itself held back {format_count(tally.ended)} bodies, {_lengths(tally)} each: the server gave "
            f"no word on `Expect: 100-continue` (operation `{EXPECT_WAIT}`; service times leave it out, "
            "`expect: never` avoids it)"
        )
    for tally in measured.named(RECONNECT_PAUSE):
        found.append(
            f"after refused connections clients paused {_lengths(tally)}, {format_count(tally.ended)} times "
            f"(operation `{RECONNECT_PAUSE}`; set by the target's option `reconnect_pause`)"
        )
    for tally in measured.named(BESIDE_RELAY):
        found.append(
            f"{counted(tally.ended, 'redirect')} led to servers past the relay of `path` (operation `{BESIDE_RELAY}`): "
            "what they answered came without its latency"
        )
    return found


def _lengths(tally: Tally) -> str:
    """Return the shortest and the longest to two digits: a histogram has the edges of its bins."""
    times = tally.service
    low, high = (float(f"{edge:.2g}") for edge in (times.min, times.max))
    return format_time(low) if low == high else format_range(low, high, "time")
