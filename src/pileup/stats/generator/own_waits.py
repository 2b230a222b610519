"""What pileup did by itself inside a load, in words: requests made again, bodies held back, pauses."""

from __future__ import annotations

from pileup.model.own_waits import BESIDE_RELAY, EXPECT_WAIT, RECONNECT_PAUSE
from pileup.model.units import counted, format_count, format_time
from pileup.record.tally import Tally
from pileup.stats.frames.totals import Measured


def own_words(measured: Measured) -> list[str]:
    """Return a sentence for each kind of act that a reader would take for the system's; none where there was none."""
    found = []
    repeated = sum(tally.repeated for tally in measured.iterations())
    if repeated:
        calls = sum(tally.calls for tally in measured.iterations())
        found.append(
            f"repeated: {format_count(repeated)} of {format_count(calls)} calls were made again, because the server "
            "had closed the kept connection before it could read them"
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
    low, high = (format_time(float(f"{edge:.2g}")) for edge in (times.min, times.max))
    return low if low == high else f"{low} to {high}"
