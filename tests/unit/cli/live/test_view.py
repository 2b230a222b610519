"""The live view: what it reads from a folder that grows, what it shows on a terminal, what it prints without."""

import io
import json
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from pileup._core._native import Histogram
from pileup.cli.live.screen import WINDOWS, Look, clock, ended_line, screen, sparkline
from pileup.cli.live.state import FolderWatcher, State
from pileup.cli.live.tally import CaseTally
from pileup.cli.live.view import Lines, LiveView, Screen, progress, watch
from pileup.model.record import Frame, FrameRow, Phase, Sample, SampleRow
from pileup.record import RunFolder, TableWriter
from pileup.record.operations import ROW
from pileup.stats.frames.distribution import plain_quantile
from tests.manifests import run_of

SECOND = 10**9
BEGIN = 1_795_256_103 * SECOND


class Growing:
    """A run folder that a test lets grow; `now` is the time that the view sees."""

    def __init__(self, base: Path) -> None:
        self.now = BEGIN
        self.folder = RunFolder.create(base, "Copy stress", BEGIN)
        cases = [
            ("fill", "once", None, 60 * SECOND),
            ("copy", "closed, 8 clients for 10 s after 1 s ramp", None, 70 * SECOND),
            ("stat", "open, 150 /s for 10 s", 150.0, 70 * SECOND),
        ]
        self.info = {
            "title": "Copy stress",
            "started": BEGIN,
            "state": "running",
            "longest": 200 * SECOND,
            "cases": [
                {
                    "id": number,
                    "name": name,
                    "load": load,
                    "rate": rate,
                    "longest": longest,
                    "outcome": None,
                    "reason": "",
                    "started": None,
                    "ended": None,
                }
                for number, (name, load, rate, longest) in enumerate(cases, 1)
            ],
        }
        self.folder.save(run_of(self.info))
        self.watcher = FolderWatcher(self.folder.path, lambda: self.now)

    def begins(self, case: int) -> None:
        name = self.info["cases"][case - 1]["name"]
        self.folder.event("case", f"{name} begins", case=case, state="begins")

    def ends(self, case: int, outcome: str, reason: str = "") -> None:
        name = self.info["cases"][case - 1]["name"]
        end = {"state": "ended", "outcome": outcome, "reason": reason, "cut": False}
        self.folder.event("case", f"{name}: {outcome}", case=case, **end)

    def second(
        self, case: int, passed: int, *, phase: Phase = Phase.MEASURE, response: int = 20_000_000, **given: int
    ) -> None:
        self.now += SECOND
        times = Histogram()
        times.record(response, passed)
        counts = {"failed": 0, "refused": 0, "ambiguous": 0, "unfinished": 0, "lost": 0} | {
            name: n for name, n in given.items() if name not in {"missed", "place"}
        }
        row = FrameRow(
            "read",
            True,
            phase,
            passed=passed,
            bytes=passed * 1000,
            calls=passed,
            response=times.encode(),
            service=times.encode(),
            **counts,
        )
        frame = Frame(
            self.now,
            SECOND,
            given.get("place", 0),
            case,
            phase,
            passed + sum(counts.values()),
            given.get("missed", 0),
            3,
            8,
            0,
            b"",
            (row,),
        )
        self.folder.append_frame(frame)

    def look(self) -> State:
        return self.watcher.look()

    def text(self, width: int = 100, height: int = 40) -> str:
        return "\n".join(line.plain for line in screen(self.look(), width, height))


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Growing]:
    growing = Growing(tmp_path)
    yield growing
    growing.folder.close()


def test_trials_are_told_apart_from_what_is_measured(run: Growing) -> None:
    find = run.info["cases"][1]["find"] = {"trials": [], "measuring": None}
    run.info["cases"][1]["started"] = run.now
    run.folder.save(run_of(run.info))
    run.second(2, 100, phase=Phase.WARM_UP)
    run.second(2, 10, phase=Phase.COOLDOWN)
    assert "copy  trial 1  " in run.text()
    find["trials"] = [{"level": 10.0}]
    run.folder.save(run_of(run.info))
    run.second(2, 50, phase=Phase.RAMP)
    assert "copy  trial 2  " in run.text()
    assert "cool-down" not in run.text()
    find["measuring"] = run.now
    run.info["cases"][1]["rate"] = 20.0
    run.folder.save(run_of(run.info))
    run.second(2, 20, phase=Phase.WARM_UP)
    assert "copy  warm-up  " in run.text()
    run.second(2, 20, phase=Phase.MEASURE)
    assert "copy  measuring  " in run.text()
    assert run.look().cases[2].tally.so_far().counts().passed == 20
    assert "of 20 /s" in run.text()
    # where that level was not confirmed a lower one is measured: what was before is not part of the figures
    find["measuring"] = run.now
    run.folder.save(run_of(run.info))
    run.look()
    run.second(2, 7, phase=Phase.MEASURE)
    assert run.look().cases[2].tally.so_far().counts().passed == 7
    run.second(2, 1, phase=Phase.COOLDOWN)
    assert "copy  cool-down  " in run.text()


def test_a_case_is_known_by_its_event_before_run_json_says_so(run: Growing) -> None:
    run.begins(1)
    assert [case.name for case in run.look().running] == ["fill"]
    run.ends(1, "failed", "no room on the disk")
    state = run.look()
    assert [(case.name, case.outcome, case.reason) for case in state.finished] == [
        ("fill", "failed", "no room on the disk")
    ]
    assert not state.running


def test_counts_are_those_of_the_measured_part_once_it_has_begun(run: Growing) -> None:
    run.begins(2)
    run.second(2, 50, phase=Phase.RAMP)
    case = run.look().cases[2]
    assert case.tally.so_far().counts().passed == 50
    run.second(2, 100, failed=2)
    run.second(2, 100, missed=4)
    counts = run.look().cases[2].tally.so_far().counts()
    assert (counts.passed, counts.failed, counts.missed) == (200, 2, 4)


def test_set_up_and_clean_up_are_not_counted(run: Growing) -> None:
    run.begins(2)
    run.second(2, 7, phase=Phase.SETUP)
    run.second(2, 9, phase=Phase.CLEANUP)
    assert not run.look().cases[2].tally.parts


def test_rates_and_quantiles_are_those_of_the_last_five_seconds(run: Growing) -> None:
    run.begins(2)
    for _ in range(10):
        run.second(2, 10, response=900_000_000)
    for _ in range(6):
        run.second(2, 200, response=5_000_000)
    recent = run.look().cases[2].tally.recent()
    assert recent.rate == 200
    assert plain_quantile(recent.due(), 0.99).value == pytest.approx(5_000_000, rel=0.002)
    whole = run.look().cases[2].tally.so_far().due()
    assert plain_quantile(whole, 0.99).value == pytest.approx(900_000_000, rel=0.002)


def test_places_press_together(run: Growing) -> None:
    run.begins(2)
    for _ in range(3):
        run.second(2, 100)
        run.now -= SECOND
        run.second(2, 100, place=1)
    tally = run.look().cases[2].tally
    assert tally.recent().rate == 200
    assert (tally.in_flight, tally.clients) == (6, 16)


def test_the_newest_value_of_a_monitor_is_shown(run: Growing) -> None:
    for load in (1.0, 2.5):
        run.folder.append_samples([SampleRow(run.now, "node", "here", Sample("load1", load))])
        run.look()
    run.folder.append_samples([SampleRow(run.now, "node", "here", Sample("cpu", 34.0, "%", "mode=user"))])
    assert re.search(r"node +user 34 %  load 2.5", run.text())


def test_a_run_that_was_taken_up_again_shows_the_cases_of_this_session(run: Growing) -> None:
    run.begins(1)
    run.second(1, passed=10)
    run.ends(1, "failed")
    later = time.time_ns() + 1
    run.info.update(sessions=[{"started": 1, "ended": None}, {"started": later, "ended": None}], void=[[1, 0]])
    run.folder.save(run_of(run.info))
    state = run.watcher.look()
    assert state.finished == []
    assert state.cases[1].tally.recent().rate == 0


def test_the_screen_tells_what_matters(run: Growing) -> None:
    run.begins(1)
    run.ends(1, "passed")
    run.begins(3)
    for _ in range(6):
        run.second(3, 120, failed=1, missed=2)
    run.folder.event("monitor", "monitor node: OSError: gone")
    text = run.text()
    assert "Copy stress" in text
    assert "0:06 of at most 3:20" in text
    assert "1 of 3 cases" in text
    assert re.search(r"stat  measuring .* open, 150 /s for 10 s", text)
    assert "started 121 /s of 150 /s" in text
    assert "in flight 3  clients 8" in text
    assert "passed 720  failed 6  missed 12" in text
    assert re.search(r"last 5 s +p50 20 ms +p90 20 ms +p99 no answer", text), "3 of 123 that were due did not pass"
    assert ended_line(run.look().cases[1]).plain.startswith("✓ fill  passed")
    assert "! monitor node: OSError: gone" in text


def test_a_slow_load_has_the_rate_of_ten_intervals_and_a_slower_one_none(run: Growing) -> None:
    for each, rate in zip(run.info["cases"][1:], (0.1, 0.01), strict=True):
        each.update(started=run.now, rate=rate)
    run.folder.save(run_of(run.info))
    for second in range(101):
        run.second(2, 1 if second % 10 == 9 else 0, response=70_000_000)
        run.now -= SECOND
        run.second(3, 1 if second == 7 else 0, response=70_000_000)
    text = run.text()
    assert "started 0.1 /s of 0.1 /s" in text
    assert re.search(r"last 1 min 40 s +p50 70.1 ms", text)
    slow = text[text.index("stat  measuring") :]
    assert re.search(r"iterations +in flight 3", slow)
    assert "/h" not in slow.splitlines()[1]
    lines = [progress(case) for case in run.look().cases.values() if case.started]
    assert lines[0].startswith("measuring: passed 0.1 /s, started 0.1 /s of 0.1 /s, 100 B/s, p50 70.1 ms, "), lines
    assert lines[1].startswith("measuring: 3 in flight"), lines


@pytest.mark.parametrize(("width", "height"), [(79, 23), (40, 10), (200, 60), (20, 3), (1, 1)])
def test_it_fits_into_any_terminal(run: Growing, width: int, height: int) -> None:
    run.begins(2)
    for _ in range(3):
        run.second(2, 100)
    for number in range(10):
        run.folder.event("monitor", f"message {number} " + "long " * 60)
    lines = screen(run.look(), width, height)
    assert len(lines) <= height
    assert all(line.cell_len <= width for line in lines)


def test_of_many_cases_that_have_ended_the_last_are_shown_and_the_others_counted(run: Growing) -> None:
    run.info["cases"] = [
        {
            "id": n,
            "name": f"case{n}",
            "load": "once",
            "outcome": "passed",
            "started": BEGIN + n,
            "ended": BEGIN + n * SECOND,
        }
        for n in range(1, 501)
    ]
    run.folder.save(run_of(run.info))
    assert len(run.text(80, 24).splitlines()) <= 24
    out = io.StringIO()
    face = Screen(Console(file=out, width=80, height=24, force_terminal=True, color_system=None))
    face.show(run.look())
    face.close()
    text = out.getvalue()
    assert "case500  passed" in text
    assert "480 more cases have ended" in text
    assert "case480  passed" not in text


def test_a_folder_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    watcher = FolderWatcher(tmp_path / "none", lambda: BEGIN)
    assert screen(watcher.look(), 80, 24)[0].plain.startswith("starting")


def test_torn_files_are_read_again(run: Growing) -> None:
    run.begins(2)
    run.second(2, 100)
    path = run.folder.path / "frames" / "0.table"
    whole = path.read_bytes()
    path.write_bytes(whole[:-7])
    (run.folder.path / "run.json").write_text('{"format": 1, "tit')
    state = run.look()
    assert not state.cases
    path.write_bytes(whole)
    run.folder.save(run_of(run.info))
    run.look()
    assert run.look().cases[2].tally.so_far().counts().passed == 100


def test_each_case_has_a_history_of_its_own(run: Growing) -> None:
    run.begins(2)
    run.second(2, 5000)
    run.ends(2, "passed")
    run.begins(3)
    for passed in (50, 100, 200):
        run.second(3, passed)
    assert [each.rate for each in run.look().cases[3].tally.history] == [50, 100, 200]
    assert re.search(r"iterations .*▂▄█", run.text(120))


def test_the_newest_errors_of_operations_are_shown(run: Growing) -> None:
    writer = TableWriter(run.folder.operations_path(0), "operations", ROW)
    rows = np.zeros(3, ROW)
    rows["case"], rows["operation"], rows["outcome"] = 2, 1, [1, 0, 1]
    rows["error"] = [2, 0, 2]
    writer.append(rows, [b"read", b"503 Service Unavailable"], ("operation", "error"))
    writer.close()
    run.begins(2)
    shown = run.text()
    assert "! copy read: 503 Service Unavailable" in shown
    assert "(2 x)" not in shown, "only the newest are looked at: their number would be wrong"


def test_equal_messages_are_counted(run: Growing) -> None:
    for _ in range(3):
        run.folder.event("monitor", "monitor x: gone")
    assert [(message.text, message.count) for message in run.look().messages] == [("monitor x: gone", 3)]


def printed(run: Growing, face: Lines, out: io.StringIO) -> list[str]:
    face.show(run.look())
    lines = out.getvalue().splitlines()
    out.truncate(0)
    out.seek(0)
    return lines


def test_without_a_terminal_lines_tell_beginning_end_and_every_ten_seconds(run: Growing) -> None:
    out = io.StringIO()
    face = Lines(Console(file=out, width=40))
    run.begins(2)
    state = run.look()
    state.cases[2].started = run.now
    assert [line[9:] for line in printed(run, face, out)] == [
        "Copy stress: 3 cases, at most 3 min 20 s",
        "copy begins: closed, 8 clients for 10 s after 1 s ramp",
    ]
    for _ in range(9):
        run.second(2, 100)
        assert printed(run, face, out) == []
    run.second(2, 100, failed=1)
    (line,) = printed(run, face, out)
    assert line[9:].startswith(
        "copy measuring: passed 100 /s, 100 kB/s, p50 20 ms, p90 20 ms, p99 20 ms, 3 in flight; 1,000 passed, 1 failed"
    )
    run.ends(2, "passed")
    assert [line[9:] for line in printed(run, face, out)] == ["copy passed (1,000 passed, 1 failed)"]
    assert printed(run, face, out) == []


def test_a_case_that_begins_and_ends_between_two_looks_gets_both_lines(run: Growing) -> None:
    out = io.StringIO()
    run.begins(1)
    run.ends(1, "failed", "exit code 3")
    assert [line[9:] for line in printed(run, Lines(Console(file=out, width=200)), out)] == [
        "Copy stress: 3 cases, at most 3 min 20 s",
        "fill begins: once",
        "fill failed: exit code 3",
    ]


def test_watch_prints_lines_where_there_is_no_terminal(run: Growing) -> None:
    out = io.StringIO()
    with watch(run.folder.path, Console(file=out, width=120), quiet=False):
        run.begins(1)
        run.ends(1, "passed")
    assert "fill passed" in out.getvalue()


def test_watch_draws_on_a_terminal_and_leaves_it_clean(run: Growing) -> None:
    out = io.StringIO()
    console = Console(file=out, width=80, height=24, force_terminal=True, color_system=None)
    with watch(run.folder.path, console, quiet=False):
        run.begins(1)
    text = out.getvalue()
    assert "Copy stress" in text
    assert text.rstrip().endswith(("\x1b[2K", "\x1b[?25h", "\x1b[1A\x1b[2K")), "the lines are taken away at the end"


def test_quiet_says_nothing(run: Growing) -> None:
    out = io.StringIO()
    with watch(run.folder.path, Console(file=out), quiet=True):
        run.begins(1)
    assert out.getvalue() == ""


def test_a_terminal_that_has_gone_does_not_end_the_run(run: Growing) -> None:
    class Gone:
        beat = 1.0

        def show(self, state: State) -> None:
            raise BrokenPipeError

        def wait(self, seconds: float, over: threading.Event) -> None:
            return

        def close(self) -> None:
            return

    view = LiveView(run.folder.path, Gone())
    view.start()
    view.stop()


def test_run_json_is_read_again_when_it_has_changed_and_only_then(run: Growing) -> None:
    run.look()
    folder = run.watcher._open()
    read: list[int] = []
    kept = folder.manifest
    folder.manifest = lambda: (read.append(1), kept())[1]  # type: ignore[method-assign]
    run.look()
    assert read == []
    run.info["title"] = "Another title"
    run.folder.save(run_of(run.info))
    assert run.look().title == "Another title"
    assert read == [1]


def criteria(run: Growing, *checks: str) -> None:
    run.info["criteria"] = [
        {"id": f"C{number}", "says": f"sentence {number}", "check": text} for number, text in enumerate(checks, 1)
    ]
    for case in run.info["cases"]:
        case["test"] = case["name"]
    run.folder.save(run_of(run.info))


def test_criteria_are_below_their_case_with_figure_and_threshold(run: Growing) -> None:
    criteria(
        run,
        "p90(copy.response) < 50 ms",
        "fraction(copy.failed) < 0.1 %",
        "rate(copy.passed) >= 500 /s",
        "p90(stat.response) < 1 s",
        "p90(copy.open) < 1 s",
    )
    run.begins(2)
    run.second(2, 100, phase=Phase.WARM_UP)
    assert "wanted" not in run.text(), "nothing is measured yet"
    for _ in range(3):
        run.second(2, 100)
    text = run.text(120)
    assert re.search(r"^✓ C1 +20 ms +wanted < 50 ms +sentence 1$", text, re.MULTILINE)
    assert re.search(r"^~ C2 +0 % +wanted < 0.1 % ", text, re.MULTILINE), "300 cannot show one in a thousand"
    assert re.search(r"^✗ C3 +100 /s +wanted >= 500 /s ", text, re.MULTILINE), text
    assert "C4" not in text, "it is about another test"
    assert "C5" not in text, "single operations are judged at the end"
    run.ends(2, "passed")
    assert re.fullmatch(r"✓ copy  passed .* ✓ C1 20 ms  ~ C2 0 %  ✗ C3 100 /s", ended_line(run.look().cases[2]).plain)


def test_a_criterion_at_other_points_is_not_shown(run: Growing) -> None:
    criteria(run, "p90(copy.response) < 50 ms")
    run.info["criteria"][0]["at"] = [{"se.threads": "4"}]
    run.info["cases"][1]["point"] = {"se.threads": "8"}
    run.folder.save(run_of(run.info))
    run.begins(2)
    run.second(2, 100)
    assert "C1" not in run.text()


def test_the_expected_time_comes_first_and_the_cap_second(run: Growing) -> None:
    run.info["expected"] = 70 * SECOND
    run.folder.save(run_of(run.info))
    run.now += 42 * SECOND
    assert "0:42 of about 1:10, at most 3:20" in run.text().splitlines()[0]
    assert run.text(40).splitlines()[0].endswith("0:42 of about 1:10"), "the cap is left out where there is no room"


def test_sparklines_say_their_largest_value_and_its_unit(run: Growing) -> None:
    run.begins(2)
    for passed in (50, 100, 200):
        run.second(2, passed)
    for width in (59, 79, 159, 199):
        assert re.search(r"▂▄█ max 200 /s", run.text(width)), width
        assert re.search(r"█ max 20 ms", run.text(width)), width


@pytest.mark.parametrize("width", [59, 79, 159, 199])
def test_figures_are_whole_from_60_columns_on(run: Growing, width: int) -> None:
    run.begins(3)
    for _ in range(6):
        run.second(3, 120, failed=1, missed=2)
    run.folder.append_samples(
        [SampleRow(run.now, "node", "here", Sample("cpu", 34.0, "%", f"mode={each}")) for each in ("user", "system")]
        + [SampleRow(run.now, "node", "here", Sample("load1", 2.5))]
    )
    lines = [line for line in run.text(width).splitlines() if "open, 150" not in line]
    assert not [line for line in lines if "…" in line]
    assert "clients 8" in "\n".join(lines)


def test_everything_is_ascii_where_the_terminal_has_no_more(run: Growing) -> None:
    criteria(run, "p90(copy.response) < 50 ms")
    run.info["title"] = "Größe"
    run.folder.save(run_of(run.info))
    run.begins(2)
    for passed in (50, 100, 200):
        run.second(2, passed)
    text = "\n".join(line.plain for line in screen(run.look(), 79, 40, Look(ascii=True)))
    assert text.isascii()
    assert "Gr??e" in text
    assert re.search(r"^\+ C1", text, re.MULTILINE)
    assert "max 200 /s" in text


def test_keys_are_in_the_last_line_and_help_says_what_they_do(run: Growing) -> None:
    run.begins(2)
    look = Look(keys=True)
    assert screen(run.look(), 59, 30, look)[-1].plain == "? help  q stop  f freeze  Tab next case  + - window 60 s"
    look.zoom(1)
    look.zoom(1)
    look.zoom(1)
    assert look.window == WINDOWS[-1]
    look.help, look.frozen, look.watching = True, True, True
    lines = [line.plain for line in screen(run.look(), 79, 30, look)]
    assert lines[-1].startswith("FROZEN  ? help  q leave  f go on")
    assert any(line.startswith("Tab     next case") for line in lines)
    assert not any("Ctrl-C once" in line for line in lines), "q leaves a run of others alone"


def test_tab_brings_the_next_case(run: Growing) -> None:
    for case in (1, 2, 3):
        run.begins(case)
    run.look()
    shown = ["\n".join(line.plain for line in screen(run.look(), 79, 40, Look(first=first))) for first in (0, 1, 2)]
    names = [re.findall(r"^(fill|copy|stat)  preparing", text, re.MULTILINE) for text in shown]
    assert names == [["fill", "copy"], ["copy", "stat"], ["stat", "fill"]]
    assert shown[0].endswith("and 1 more case")


@pytest.mark.parametrize(("time", "text"), [(42 * SECOND, "0:42"), (3723 * SECOND, "1:02:03"), (0, "0:00")])
def test_clock(time: int, text: str) -> None:
    assert clock(time) == text


def test_sparkline() -> None:
    assert sparkline([0, 1, 2, 4, 8], 10) == " ▁▂▄█"
    assert sparkline([], 10) == ""
    assert sparkline([5, 5, 5], 2) == "██"


def test_run_json_stays_as_it_was(run: Growing) -> None:
    before = (run.folder.path / "run.json").read_bytes()
    run.look()
    assert (run.folder.path / "run.json").read_bytes() == before
    assert json.loads(before)["title"] == "Copy stress"


def test_in_the_cool_down_the_measured_part_still_stands_with_what_was_missed() -> None:
    tally = CaseTally()
    row = FrameRow("read", True, Phase.MEASURE, 7, 1, 0, 0, 0, 0, 0, 0, b"", b"")
    tally.take([Frame(10**9, 10**9, 0, 1, Phase.MEASURE, 8, 0, 0, 1, 0, b"", (row,))])
    tally.take([Frame(2 * 10**9, 10**9, 0, 1, Phase.COOLDOWN, 0, 5, 0, 1, 0, b"", ())])
    assert (tally.so_far().counts().passed, tally.so_far().missed) == (7, 5)


def test_what_outlives_its_iterations_is_counted_apart() -> None:
    tally = CaseTally()
    tally.take([Frame(10**9, 10**9, 0, 1, Phase.RAMP, 8, 0, 3, 4, 0, b"", ())])
    for place, still in ((0, 70), (1, 30), (0, 60)):
        tally.take([Frame(10**9, 0, place, 1, Phase.MEASURE, 0, 0, still, 0, 0, b"", ())])
    assert (tally.open, tally.in_flight, tally.clients, tally.phase) == (90, 3, 4, Phase.RAMP)
    assert tally.recent().seconds == 1
