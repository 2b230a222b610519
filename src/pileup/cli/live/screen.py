"""The screen of a run that goes on: lines of text for any size of terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich.text import Text

from pileup.cli.live import generator
from pileup.cli.live.state import CaseState, State
from pileup.cli.live.tally import Now, Point, quantiles
from pileup.model import self_metrics
from pileup.model.figures import Counts
from pileup.model.record import OF_DUE, Phase
from pileup.model.units import counted, format_bandwidth, format_count, format_rate, format_size, format_time

BARS = "▁▂▃▄▅▆▇█"
PHASES = {
    Phase.SETUP: "preparing",
    Phase.RAMP: "ramp",
    Phase.WARM_UP: "warm-up",
    Phase.MEASURE: "measuring",
    Phase.COOLDOWN: "cool-down",
    Phase.CLEANUP: "cleaning up",
}
STYLES = {
    "passed": "green",
    "failed": "red",
    "error": "red",
    "not run": "dim",
    "unavailable": "yellow",
    "unknown": "yellow",
}
SIGNS = {"passed": "✓", "failed": "✗", "error": "✗", "not run": "-", "unavailable": "!", "unknown": "?"}
LABEL = 13
"""Width of the first column."""


def phase_of(case: CaseState) -> str:
    """Return in words what a case is doing."""
    if not case.tally.parts:
        return "preparing"
    return f"trial {case.trial}" if case.trial else PHASES[Phase(case.tally.phase)]


def screen(state: State, width: int, height: int) -> list[Text]:
    """Return the lines, at most `height` of them, none wider than `width`."""
    head = _head(state, width)
    running = state.running
    body = [line for case in running[:2] for line in _case(case, state.now, width)]
    if len(running) > 2:
        body.append(Text(f"and {len(running) - 2} more cases", style="dim"))
    if not running and state.cases:
        body = [Text(_between(state), style="dim")]
    machine, messages = [*_machine(state), *_generator(state)], _messages(state)
    rest = height - sum(len(part) + bool(part) for part in (head, body, machine, messages)) + 1
    parts = [head, body, machine, _finished(state, max(1, rest - 1)), messages]
    lines = [line for part in parts if part for line in (*part, Text(""))][:-1]
    return [_fit(line, width) for line in lines[: max(1, height)]]


def _between(state: State) -> str:
    if state.ended:
        return "done"
    left = len(state.cases) - len(state.finished)
    return "making targets ready" if left and not state.finished else "next case" if left else "cleaning up and judging"


def _fit(line: Text, width: int) -> Text:
    line.truncate(width, overflow="ellipsis")
    line.no_wrap = True
    return line


def _bar(share: float, width: int) -> Text:
    done = min(width, max(0, round(share * width)))
    return Text("━" * done, style="cyan") + Text("━" * (width - done), style="bright_black")


def sparkline(values: Iterable[float], width: int) -> str:
    """Return the last `width` values as bars, the largest of them full height."""
    shown = list(values)[-width:]
    top = max(shown, default=0)
    return "".join(BARS[min(7, int(value / top * 7.999))] if top > 0 and value > 0 else " " for value in shown)


def _head(state: State, width: int) -> list[Text]:
    elapsed = max(0, state.now - state.started) if state.started else 0
    limit = f" of at most {clock(state.longest)}" if state.longest else ""
    right = f"{clock(elapsed)}{limit}"
    title = Text(state.title or "starting", style="bold")
    title.truncate(max(8, width - len(right) - 2), overflow="ellipsis")
    gap = " " * max(2, width - title.cell_len - len(right))
    done = len(state.finished)
    count = f"  {done} of {counted(len(state.cases), 'case')}"
    share = max(elapsed / state.longest if state.longest else 0, done / len(state.cases) if state.cases else 0)
    share = 1.0 if state.ended else min(share, 0.99)
    return [title + Text(gap + right, style="dim"), _bar(share, max(4, width - len(count))) + Text(count)]


def clock(nanoseconds: int) -> str:
    """Return a duration as `0:42` or `1:02:03`."""
    minutes, seconds = divmod(int(nanoseconds // 10**9), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def _label(word: str) -> Text:
    return Text(f"{word:<{LABEL}}", style="dim")


def _case(case: CaseState, now: int, width: int) -> list[Text]:
    tally = case.tally
    elapsed = max(0, now - (case.started or now))
    head = (
        Text(case.name, style="bold cyan")
        + Text(f"  {phase_of(case)}", style="yellow")
        + Text(f"  {clock(elapsed)}  {case.load}", style="dim")
    )
    recent, part, history = tally.now(), tally.so_far(), tally.history
    line = _quantiles("last 5 s", recent.quantiles)
    lines = [head, _rates(case, recent, history, width), _with_spark(line, [each.tail for each in history], width)]
    if (due := part.due(tally.timeout)).n:
        lines.append(_quantiles("so far", quantiles(due)))
    return [*lines, _counts(part.counts())]


def _rates(case: CaseState, recent: Now, history: Iterable[Point], width: int) -> Text:
    tally = case.tally
    line = _label("iterations") + Text(f"{format_rate(recent.rate):<11}", style="bold")
    if case.rate:
        behind = recent.started_rate < 0.95 * case.rate and tally.phase == Phase.MEASURE
        asked = f"started {format_rate(recent.started_rate)} of {format_rate(case.rate)}  "
        line += Text(asked, style="yellow" if behind else "")
    if recent.bandwidth:
        line += Text(f"{format_bandwidth(recent.bandwidth)}  ", style="bold")
    line += Text(f"in flight {format_count(tally.in_flight)}  clients {format_count(tally.clients)}  ")
    if tally.open:
        line += Text(f"open {format_count(tally.open)}  ", style="bold")
    return _with_spark(line, [each.rate for each in history], width)


def _with_spark(line: Text, values: Iterable[float], width: int) -> Text:
    """Put a sparkline of what room is left behind a line, if that is enough to be read."""
    room = width - line.cell_len - 1
    return line + Text(sparkline(values, min(room, 60)), style="cyan") if room >= 8 else line


def _quantiles(word: str, quantiles: dict[str, str]) -> Text:
    line = _label(word)
    for name, told in quantiles.items():
        line += Text(f"{name} ", style="dim") + Text(f"{told:<11}")
    return line


def _counts(counts: Counts) -> Text:
    line = _label("outcomes")
    for name in OF_DUE:
        count = getattr(counts, name)
        if count or name in {"passed", "failed", "missed"}:
            style = "green" if name == "passed" else "red" if count else "dim"
            line += Text(f"{name} ", style="dim") + Text(f"{format_count(count)}  ", style=style)
    return line


def _machine(state: State) -> list[Text]:
    """Return the numbers of the node monitor worth a glance, and what each process monitor sees."""
    monitors = dict.fromkeys(key[0] for key in state.metrics if key[0] != self_metrics.MONITOR)
    lines = [_label(name) + Text("  ".join(parts)) for name in monitors if (parts := _glance(state, name))]
    return lines[:3]


def _generator(state: State) -> list[Text]:
    """Return how the generator is, of the place that is worst off; a warning when it is the limit."""
    told = generator.words(state)
    if told is None:
        return []
    return [_label("generator") + Text(told.text, style="bold yellow" if told.limit else "")]


def _glance(state: State, monitor: str) -> list[str]:
    def get(metric: str, labels: str = "") -> float | None:
        found = state.metrics.get((monitor, metric, labels))
        return found[0] if found else None

    parts = []
    modes = [(mode, get("cpu", f"mode={mode}")) for mode in ("user", "system", "iowait")]
    if modes[0][1] is not None:
        parts.append(" ".join(f"{mode} {value:.0f} %" for mode, value in modes if value is not None))
    used, total, load = get("memory", "kind=used"), get("memory", "kind=total"), get("load1")
    if load is not None:
        parts.append(f"load {load:.1f}")
    if used is not None and total:
        parts.append(f"memory {100 * used / total:.0f} % of {format_size(total)}")
    for metric in ("network", "disk"):
        ways = [
            value for way in ("in", "out", "read", "write") if (value := get(metric, f"direction={way}")) is not None
        ]
        parts += [f"{metric} {format_bandwidth(sum(ways))}"] if ways else []
    return parts or _any(state, monitor)


def _any(state: State, monitor: str) -> list[str]:
    """Return the first few numbers of any other monitor, sums rather than means."""
    found = [(key, value) for key, value in state.metrics.items() if key[0] == monitor and key[2] in {"", "of=all"}]
    return [f"{metric.replace('_', ' ')} {_number(*value)}" for (_, metric, _), value in found[:5]]


def _number(value: float, unit: str) -> str:
    if unit == "B":
        return format_size(value)
    return format_bandwidth(value) if unit == "B/s" else f"{value:.4g}{f' {unit}' if unit else ''}"


def _finished(state: State, room: int) -> list[Text]:
    done = state.finished
    shown = done[-room:] if len(done) <= room else done[-max(1, room - 1) :]
    lines = [_ended(case) for case in shown]
    return (
        [Text(f"{counted(len(done) - len(shown), 'case')} before", style="dim"), *lines]
        if len(shown) < len(done) and room > 1
        else lines
    )


def _ended(case: CaseState) -> Text:
    outcome = case.outcome or ""
    style = STYLES.get(outcome, "")
    took = format_time(case.ended - case.started) if case.started and case.ended else ""
    line = Text(f"{SIGNS.get(outcome, '?')} ", style=style) + Text(f"{case.name}  ") + Text(outcome, style=style)
    return line + Text("".join(f"  {word}" for word in (took, case.reason) if word), style="dim")


def _messages(state: State) -> list[Text]:
    return [
        Text("! ", style="red") + Text(message.text + (f"  ({message.count} x)" if message.count > 1 else ""))
        for message in list(state.messages)[-3:]
    ]
