"""The screen of a run that goes on: lines of text for any size of terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from rich.text import Text

from pileup.cli.live import generator
from pileup.cli.live.state import CaseState, State
from pileup.cli.live.tally import Now, quantiles
from pileup.cli.marks import BARS, DONE, LEFT, in_ascii, style_of, styled
from pileup.model import self_metrics
from pileup.model.figure_words import amount, unanswered
from pileup.model.figures import Counts
from pileup.model.marks import mark
from pileup.model.record import OF_DUE, Phase
from pileup.model.units import counted, format_bandwidth, format_count, format_rate, format_size, format_time
from pileup.stats.verdicts.so_far import SoFar

PHASES = {
    Phase.SETUP: "preparing",
    Phase.RAMP: "ramp",
    Phase.WARM_UP: "warm-up",
    Phase.MEASURE: "measuring",
    Phase.COOLDOWN: "cool-down",
    Phase.CLEANUP: "cleaning up",
}
LABEL = 13
"""Width of the first column."""


def phase_of(case: CaseState) -> str:
    """Return in words what a case is doing."""
    if not case.tally.parts:
        return "preparing"
    return f"trial {case.trial}" if case.trial else PHASES[Phase(case.tally.phase)]


WINDOWS = (30, 60, 120, 240)
"""Seconds that sparklines show."""
KEYS = ("? help", "q stop", "f freeze", "Tab next case", "+ - window")
HELP = (
    ("?", "this help, or back"),
    ("q", "end the run in order, as Ctrl-C once; Ctrl-C twice ends it at once"),
    ("f", "freeze the screen, or go on; the run always goes on"),
    ("Tab", "next case, where several are under way"),
    ("+ -", "more or fewer seconds in the sparklines"),
    ("Ctrl-Z", "suspend"),
)
MARKS = "criteria: ✓ met so far   ~ met, not shown by its interval   ✗ not met   ? too few values"


@dataclass(slots=True)
class Look:
    """How the user wants to see it."""

    ascii: bool = False
    """Whether the terminal shows ASCII alone."""
    keys: bool = False
    """Whether there is a keyboard."""
    watching: bool = False
    """Whether the run is another process's: then `q` leaves it alone."""
    help: bool = False
    frozen: bool = False
    first: int = 0
    """Running cases that are skipped."""
    window: int = 60
    """Seconds in a sparkline."""

    def zoom(self, steps: int) -> None:
        """Show more or fewer seconds."""
        place = WINDOWS.index(self.window) + steps
        self.window = WINDOWS[max(0, min(len(WINDOWS) - 1, place))]


def screen(state: State, width: int, height: int, look: Look | None = None) -> list[Text]:
    """Return the lines, at most `height` of them, none wider than `width`."""
    look = look or Look()
    foot = [_keys(look)] if look.keys and height > 2 else []
    parts = [_head(state, width), _help(look)] if look.help else _parts(state, width, look)
    lines = [line for part in parts if part for line in (*part, Text(""))][:-1]
    lines = [*lines[: max(1, height - len(foot))], *foot]
    return [_fit(in_ascii(line) if look.ascii else line, width) for line in lines]


def _parts(state: State, width: int, look: Look) -> list[list[Text]]:
    running = state.running
    first = look.first % len(running) if running else 0
    shown = (running[first:] + running[:first])[:2]
    body = [line for case in shown for line in _case(case, state.now, width, look)]
    if len(running) > len(shown):
        body.append(styled(f"and {counted(len(running) - len(shown), 'more case')}", style="dim"))
    if not running and state.cases:
        body = [styled(_between(state), style="dim")]
    return [_head(state, width), body, [*_machine(state, width), *_generator(state, width)], _messages(state)]


def _keys(look: Look) -> Text:
    words = [*KEYS]
    words[1] = "q leave" if look.watching else words[1]
    words[2] = "f go on" if look.frozen else words[2]
    words[4] += f" {look.window} s"
    line = styled("FROZEN  ", style="bold yellow") if look.frozen else Text("")
    return line + styled("  ".join(words), style="dim")


def _help(look: Look) -> list[Text]:
    told = [(key, "leave; the run goes on" if key == "q" and look.watching else text) for key, text in HELP]
    return [*(styled(f"{key:<8}", style="bold") + Text(text) for key, text in told), Text(""), Text(MARKS)]


def _between(state: State) -> str:
    if state.ended:
        return "done"
    left = len(state.cases) - len(state.finished)
    return "making targets ready" if left and not state.finished else "next case" if left else "cleaning up and judging"


def _fit(line: Text, width: int) -> Text:
    line.rstrip()
    line.truncate(width, overflow="ellipsis")
    line.no_wrap = True
    return line


def _bar(share: float, width: int) -> Text:
    done = min(width, max(0, round(share * width)))
    return styled(DONE * done, style="cyan") + styled(LEFT * (width - done), style="bright_black")


def sparkline(values: Iterable[float], width: int) -> str:
    """Return the last `width` values as bars, the largest of them full height."""
    shown = list(values)[-width:] if width > 0 else []
    top = max(shown, default=0)
    return "".join(BARS[min(7, int(value / top * 7.999))] if top > 0 and value > 0 else " " for value in shown)


def _head(state: State, width: int) -> list[Text]:
    elapsed = max(0, state.now - state.started) if state.started else 0
    cap = f"at most {clock(state.longest)}" if state.longest else ""
    right = f"{clock(elapsed)} of about {clock(state.expected)}" if state.expected else clock(elapsed)
    if cap and len(right) + len(cap) + 12 <= width:
        right += f", {cap}" if state.expected else f" of {cap}"
    title = styled(state.title or "starting", style="bold")
    title.truncate(max(8, width - len(right) - 2), overflow="ellipsis")
    gap = " " * max(2, width - title.cell_len - len(right))
    done = len(state.finished)
    count = f"  {done} of {counted(len(state.cases), 'case')}"
    whole = state.expected or state.longest
    share = max(min(elapsed / whole, 0.99) if whole else 0, done / len(state.cases) if state.cases else 0)
    share = 1.0 if state.ended else min(share, 0.99)
    return [title + styled(gap + right, style="dim"), _bar(share, max(4, width - len(count))) + Text(count)]


def clock(nanoseconds: int) -> str:
    """Return a duration as `0:42` or `1:02:03`."""
    minutes, seconds = divmod(int(nanoseconds // 10**9), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def _label(word: str) -> Text:
    return styled(f"{word:<{LABEL}}" if len(word) < LABEL else f"{word} ", style="dim")


def _case(case: CaseState, now: int, width: int, look: Look) -> list[Text]:
    tally = case.tally
    elapsed = max(0, now - (case.started or now))
    head = (
        styled(case.name, style="bold cyan")
        + styled(f"  {phase_of(case)}", style="yellow")
        + styled(f"  {clock(elapsed)}  {case.load}", style="dim")
    )
    recent, part, history = tally.now(), tally.so_far(), tally.history[-look.window :]
    rates = _with_spark(_rates(case, recent, width), [each.rate for each in history], width, format_rate)
    last = _quantiles(f"last {format_time(tally.window)}", recent.quantiles, width)
    lines = [head, *rates, *_with_spark(last, [each.tail for each in history], width, format_time)]
    if (due := part.due(tally.timeout)).n:
        lines += _quantiles("so far", quantiles(due), width)
    return [*lines, *_counts(part.counts(), width), *map(_criterion, case.judged)]


def _criterion(each: SoFar) -> Text:
    line = styled(f"{mark(each.verdict).sign} {each.id:<{LABEL - 3}} ", style=style_of(each.verdict)) + styled(
        f"{_value(each):<11}", style="bold"
    )
    return line + styled(f"wanted {each.wanted:<12}") + Text(each.says, style="dim")


def _value(each: SoFar) -> str:
    figure = each.figure
    if figure.above is not None:
        return unanswered(replace(figure, note=""))
    return "-" if figure.value is None else amount(figure.value, figure.dimension)


def _flow(word: str, parts: Iterable[Text], width: int) -> list[Text]:
    """Put parts behind a label, on as many lines as they need."""
    lines = [_label(word)]
    for part in parts:
        if lines[-1].cell_len > LABEL and lines[-1].cell_len + len(part.plain.rstrip()) > width:
            lines.append(_label(""))
        lines[-1] = lines[-1] + part
    return lines


def _rates(case: CaseState, recent: Now, width: int) -> list[Text]:
    tally = case.tally
    parts = [styled(f"{format_rate(recent.rate):<11}", style="bold")] if case.has_rate else []
    if case.rate and case.has_rate:
        behind = recent.started_rate < 0.95 * case.rate and tally.phase == Phase.MEASURE
        asked = f"started {format_rate(recent.started_rate)} of {format_rate(case.rate)}  "
        parts.append(styled(asked, style="yellow" if behind else ""))
    if recent.bandwidth and case.has_rate:
        parts.append(styled(f"{format_bandwidth(recent.bandwidth)}  ", style="bold"))
    parts += [Text(f"in flight {format_count(tally.in_flight)}  "), Text(f"clients {format_count(tally.clients)}  ")]
    if tally.open:
        parts.append(styled(f"open {format_count(tally.open)}  ", style="bold"))
    return _flow("iterations", parts, width)


def _with_spark(lines: list[Text], values: Sequence[float], width: int, unit: Callable[[float], str]) -> list[Text]:
    """Put a sparkline with its largest value behind the last line, or below it where there is no room."""
    if len(values) < 2 or not max(values):
        return lines
    told = f" max {unit(max(values))}"
    room = width - lines[-1].cell_len - len(told)
    if room < LEAST and width >= NARROW:
        lines, room = [*lines, _label("")], width - LABEL - len(told)
    if room < LEAST:
        return lines
    return [*lines[:-1], lines[-1] + styled(sparkline(values, room), style="cyan") + styled(told, style="dim")]


LEAST = 8
"""Characters of a sparkline that can be read."""
NARROW = 50
"""Columns from which on a sparkline gets a line of its own."""


def _quantiles(word: str, quantiles: dict[str, str], width: int) -> list[Text]:
    return _flow(
        word, (styled(f"{name} ", style="dim") + Text(f"{told:<11}") for name, told in quantiles.items()), width
    )


def _counts(counts: Counts, width: int) -> list[Text]:
    parts = []
    for name in OF_DUE:
        count = getattr(counts, name)
        if count or name in {"passed", "failed", "missed"}:
            style = "green" if name == "passed" else "red" if count else "dim"
            parts.append(styled(f"{name} ", style="dim") + styled(f"{format_count(count)}  ", style=style))
    return _flow("outcomes", parts, width)


def _machine(state: State, width: int) -> list[Text]:
    """Return the numbers of the node monitor worth a glance, and what each process monitor sees."""
    monitors = dict.fromkeys(key[0] for key in state.metrics if key[0] != self_metrics.MONITOR)
    found = [(name, parts) for name in monitors if (parts := _glance(state, name))][:3]
    return [line for name, parts in found for line in _flow(name, (Text(f"{part}  ") for part in parts), width)]


def _generator(state: State, width: int) -> list[Text]:
    """Return how the generator is, of the place that is worst off; a warning when it is the bottleneck."""
    told = generator.words(state)
    if told is None:
        return []
    style = "bold yellow" if told.limit else ""
    return _flow("generator", (styled(f"{part}  ", style=style) for part in told.text.split("  ")), width)


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
    return format_bandwidth(value) if unit == "B/s" else f"{format_count(value)}{f' {unit}' if unit else ''}"


def ended_line(case: CaseState) -> Text:
    """Return what stays of a case that has ended: outcome, time, criteria, reason."""
    outcome = case.outcome or ""
    sign, style = mark(outcome).sign, style_of(outcome)
    took = f"  {format_time(case.ended - case.started)}" if case.started and case.ended else ""
    line = styled(f"{sign} ", style=style) + styled(f"{case.name}  ", style="bold") + styled(outcome, style=style)
    line += styled(took, style="dim")
    for each in case.judged:
        line += styled(f"  {mark(each.verdict).sign} {each.id}", style=style_of(each.verdict)) + styled(
            f" {_value(each)}", style="dim"
        )
    return line + styled(f"  {case.reason}" if case.reason else "", style="dim")


def opening(state: State) -> str:
    """Return what will run, and for how long."""
    about = f", about {format_time(state.expected)}" if state.expected else ""
    most = f", at most {format_time(state.longest)}" if state.longest else ""
    return f"{state.title}: {counted(len(state.cases), 'case')}{about}{most}"


def _messages(state: State) -> list[Text]:
    return [
        styled("! ", style="red") + Text(message.text + (f"  ({message.count} x)" if message.count > 1 else ""))
        for message in list(state.messages)[-3:]
    ]
