"""Figures of special loads beside the log: recovery, excuses, bytes on their way, levels found or held, pairs."""

import math
from collections.abc import Iterator, Sequence

from pileup.model.results import FoundLevel, HeldLevel
from pileup.record import RunFolder
from tests.truth import conditions
from tests.truth.compared import MS, SECOND, Line, Seen, time_word
from tests.truth.press import Pressed
from tests.truth.started import Line as Logged

NEAR = 50 * MS
"""How far a recovery may be from the log's."""


def recoveries(run: Pressed, name: str) -> Iterator[Line]:
    """From the fault to the first answer to a request that came after it."""
    faults = [event for event in run.results.events if event.kind == "fault"]
    kills = run.servers[name].lines("killed")
    for number, (event, killed) in enumerate(zip(faults, kills, strict=True), 1):
        truth = first_success(run, name, killed["time"]) + killed["time"] - event.begin  # a command takes its time
        (outage,) = event.outages
        told = math.inf if outage.recovery is None else outage.recovery
        late = run.late(event.begin, event.begin + round(min(truth, 1e12)))
        agrees = told == truth or (abs(told - truth) < NEAR + late and told >= SECOND)
        yield Line(f"recovery after kill {number}", recovery_word(truth), recovery_word(told), agrees)


def recovery_word(value: float) -> str:
    """Return a recovery for the table."""
    return "never" if math.isinf(value) else time_word(value)


def first_success(run: Pressed, name: str, killed: int) -> float:
    """Return when the first answer was given to a request that came after the kill, until the next one; ns from it.

    By the log. Infinite: there was none.
    """
    kills = [line["time"] for line in run.servers[name].lines("killed")]
    until = min((kill for kill in kills if kill > killed), default=math.inf)
    ended = [line for line in run.servers[name].lines("ended") if killed < line["arrived"] and line["time"] < until]
    return min((line["time"] - killed for line in ended if line["status"] == 200), default=math.inf)


def in_hands(run: Pressed, name: str) -> list[int]:
    """Return the requests that had come and whose answers were not begun when the server was killed, by its log.

    The log names the kill just before it happens, and an answer just before it is sent: an answer that was begun at
    any time may have reached the client.
    """
    server = run.servers[name]
    last = max((kill["time"] for kill in server.lines("killed")), default=0)
    before = {line["id"] for line in server.lines("arrived") if line["time"] < last}
    return sorted(before - {line["id"] for line in server.lines("answers", "ended")})


def excused(run: Pressed) -> Line:
    """For how long pileup says that it was the bottleneck; it was stopped."""
    begin, end = run.stopped
    events = [event for event in run.results.events if event.kind == "generator"]
    told = sum(event.end - event.begin for event in events)
    (condition,) = run.conditions.values()
    covered = any(event.begin - SECOND <= begin and end <= event.end + SECOND for event in events)
    agrees = covered and told <= 0.1 * condition.length * SECOND
    return Line("pileup was the bottleneck", time_word(end - begin), time_word(told), agrees)


def moved(run: Pressed, name: str) -> Line:
    """Compare bytes/s with the pieces that the server noted as it sent them."""
    seen = Seen(run, name)
    pieces = [line["bytes"] for line in run.servers[name].lines("moved") if seen.begin <= line["time"] < seen.end]
    told = seen.told.throughput.value
    truth = sum(pieces) / seen.seconds
    slack = truth * seen.late_by / SECOND / seen.seconds
    agrees = told is not None and abs(told - truth) <= max(0.01 * truth, slack)
    return Line("bytes", f"{truth:.4g} B/s", "nothing" if told is None else f"{told:.4g} B/s", agrees)


def found(run: Pressed, name: str) -> FoundLevel:
    """Return what a search reports."""
    told = run.case(name).found
    assert told is not None
    return told


def level(run: Pressed, name: str) -> Line:
    """What the server has: its workers by their time.

    The interval must hold it, and the level that is reported is not a higher: it is the one that was measured, at the
    lower end of the interval. The estimate itself, the limit, is near, unless the machine held everybody up.
    """
    told, truth = found(run, name), conditions.FIND_CAPACITY
    if told.level is None or told.low is None or told.high is None:
        return Line("level found", f"{truth} /s", "nothing", False)
    calm = run.late(told.trials[0].begin, told.trials[-1].end) < NEAR
    held = told.low <= 1.1 * truth and told.high >= 0.9 * truth
    near = told.limit is not None and 0.75 * truth <= told.limit <= 1.25 * truth
    agrees = held and told.level <= 1.2 * truth and (near or not calm)
    return Line("level found", f"{truth} /s", f"{told.level:.4g} /s ({told.low:.4g} to {told.high:.4g})", agrees)


def in_system(lines: Sequence[Logged], at: int) -> int:
    """Return how many were in the system at a moment, by the log."""
    return sum(line["arrived"] <= at < line["time"] for line in lines)


def held(run: Pressed, name: str) -> HeldLevel:
    """Return what is reported of a load that was held."""
    told = run.case(name).held
    assert told is not None
    return told


def held_share(run: Pressed, name: str) -> Line:
    """The share of the looks after the settling at which the log had as many in its hands as the band allows."""
    told, lines = held(run, name), run.servers[name].lines("ended")
    looks = told.times[-told.looks :]
    truth = sum(told.low <= in_system(lines, at) <= told.high for at in looks) / max(1, len(looks))
    agrees = told.share is not None and abs(told.share - truth) <= 2 / max(1, len(looks))
    return Line("share held", f"{truth:.0%}", "nothing" if told.share is None else f"{told.share:.0%}", agrees)


def paired(run: Pressed) -> Line:
    """The mean over pairs of the difference of mean times, by the log pair by pair."""
    (comparison,) = [each for each in run.results.comparisons if (each.test, each.metric) == ("pair", "mean")]
    (difference,) = comparison.differences
    truth, told = true_difference(run), difference.difference
    if told.value is None or told.interval is None:
        return Line("difference", time_word(truth), "nothing", False)
    half = (told.interval.high - told.interval.low) / 2
    near = abs(told.value - truth) < max(0.3 * MS, half / 2)  # a busy machine makes intervals wide, and answers late
    agrees = near and told.interval.low <= truth <= told.interval.high
    words = f"{time_word(told.value)} ({time_word(told.interval.low)} to {time_word(told.interval.high)})"
    return Line("difference", time_word(truth), words, agrees)


def true_difference(run: Pressed) -> float:
    """Return the mean over repeats of the difference between the second and the first way, ns."""
    took = {line["id"]: line["time"] - line["arrived"] for line in run.servers["pair"].lines("ended")}
    rows = RunFolder.open(run.folder).operations().arrays("id", "case_id", "phase", where="parent = 0")
    by_case: dict[int, list[int]] = {}
    for number, case, phase in zip(*(rows[word].tolist() for word in ("id", "case_id", "phase")), strict=True):
        if phase == "measure" and number in took:
            by_case.setdefault(case, []).append(took[number])
    means: dict[str, dict[int, float]] = {way: {} for way in conditions.WAYS}
    for case in run.results.cases:
        means[case.point["pair.path"]][case.repeat] = sum(by_case[case.id]) / len(by_case[case.id])
    first, second = (means[way] for way in conditions.WAYS)
    return sum(second[repeat] - first[repeat] for repeat in first) / len(first)
