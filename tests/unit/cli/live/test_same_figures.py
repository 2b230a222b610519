"""The screen and the report have the same figures, in whatever pieces the frames of a run come to the screen."""

import random
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pileup._core._native import Histogram
from pileup.cli.live.state import FolderWatcher
from pileup.cli.live.tally import HISTORY, NEVER, OPEN, RECENT, CaseTally
from pileup.model import check as checks
from pileup.model.figures import Figure
from pileup.model.manifest import Manifest
from pileup.model.record import NOT_PASSED, OF_DUE, Frame, FrameRow, Phase
from pileup.model.results import CaseResult, Timeline
from pileup.record import RunFolder
from pileup.record.tally import SECOND
from pileup.stats import results
from pileup.stats.cases import CaseData, case_result
from pileup.stats.frames.distribution import plain_quantile
from pileup.stats.loads.gauge import Gauge
from tests.manifests import case_of
from tests.support import ROOT

BEGIN = 1_795_000_000 * SECOND
MS = 10**6
TIMEOUT = 50 * MS
LIFE = [Phase.RAMP] * 2 + [Phase.WARM_UP] * 2 + [Phase.MEASURE] * 9 + [Phase.COOLDOWN]
SHARES = (0.5, 0.9, 0.99)
GOLDEN = ROOT / "tests" / "golden" / "0.1" / "running"


class Load:
    """A load of several places whose frames are drawn: every counter of them, every part of its life."""

    def __init__(self, seed: int, places: int, begin: int = BEGIN, life: list[Phase] = LIFE) -> None:
        self.chance = random.Random(seed)
        self.begin, self.life = begin, life
        self.shares = [self.chance.choice((0.0, 0.01, 0.3)) for _ in NOT_PASSED]
        self.most = self.chance.choice((3, 60, 900))
        self.places = [list(self.frames(place)) for place in range(places)]

    def frames(self, place: int) -> Iterator[Frame]:
        early = self.chance.randrange(10**8)
        for second, phase in enumerate(self.life, 1):
            rows = [self.row(name, of) for name in ("copy", "read") for of in {phase, self.life[second - 2]}]
            yield self.frame(place, self.begin + second * SECOND - early, SECOND, phase, tuple(rows))
        time = self.begin + len(self.life) * SECOND - early + 2 * 10**8
        yield self.frame(place, time, 2 * 10**8, self.life[-1], (self.row("copy", Phase.MEASURE),))
        yield Frame(time, 0, place, 1, Phase.MEASURE, 0, 0, 7, 0, 0, b"", (self.row("job", Phase.MEASURE),))

    def frame(self, place: int, time: int, nanoseconds: int, phase: Phase, rows: tuple[FrameRow, ...]) -> Frame:
        started, missed, in_flight = (self.chance.randrange(most) for most in (900, 4, 9))
        late = self.times(started)
        return Frame(time, nanoseconds, place, 1, phase, started, missed, in_flight, 9, 10**8, late, rows)

    def row(self, name: str, phase: Phase) -> FrameRow:
        passed = self.chance.randrange(self.most)
        others = {word: round(share * passed) for word, share in zip(NOT_PASSED, self.shares, strict=True)}
        done, moved, timed_out = self.chance.randrange(900), self.chance.randrange(10**9), sum(others.values()) // 2
        return FrameRow(
            name,
            name == "copy",
            phase,
            passed=passed,
            **others,
            bytes=moved,
            calls=passed,
            response=self.times(passed),
            service=self.times(passed),
            timed_out=timed_out,
            repeated=1,
            done=done,
            moved=moved,
        )

    def times(self, number: int) -> bytes:
        histogram, left = Histogram(), number
        while left:
            count = min(left, 1 + number // 12)
            histogram.record(int(self.chance.lognormvariate(16, 1)), count)
            left -= count
        return histogram.encode() if number else b""

    @property
    def in_time(self) -> list[Frame]:
        """As a screen finds them: those of each place in their order, whose clocks agree to less than a second."""
        return sorted((frame for frames in self.places for frame in frames), key=lambda frame: frame.time)

    @property
    def by_place(self) -> list[Frame]:
        """As a folder has them."""
        return [frame for frames in self.places for frame in frames]


def in_pieces(frames: list[Frame], seed: int) -> Iterator[list[Frame]]:
    """Yield frames in pieces of any length; those of a piece come in any order of places."""
    chance, rest = random.Random(seed), list(frames)
    while rest:
        number = chance.choice((1, 1, 2, 5, 40))
        piece, rest = rest[:number], rest[number:]
        places = sorted({frame.place for frame in piece}, key=lambda _: chance.random())
        yield [frame for place in places for frame in piece if frame.place == place]


def same_figures(tally: CaseTally, case: CaseResult) -> None:
    """Compare what is so far with the figures of the report."""
    assert case.iterations is not None
    so_far, reported = tally.so_far(), case.iterations
    counts = so_far.counts()
    assert [getattr(counts, name) for name in OF_DUE] == [getattr(reported.counts, name) for name in OF_DUE]
    for share in SHARES:
        shown = plain_quantile(so_far.due(tally.timeout), share)
        assert without_interval(reported.quantiles[share]) == (shown.value, shown.above, shown.n), share
    assert case.timeline is not None
    same_seconds(tally, case.timeline)


def without_interval(figure: Figure) -> tuple[float | None, float | None, int]:
    return figure.value, figure.above, figure.n


def same_seconds(tally: CaseTally, drawn: Timeline) -> None:
    """Compare the history of the screen with the seconds that the report draws: where it draws a p99, it is that."""
    history = tally.history
    assert [each.rate for each in history] == list(drawn.passed)
    both = zip((each.tail for each in history), drawn.p99, strict=True)
    assert all(reported in (None, shown) for shown, reported in both)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), places=st.integers(1, 3))
def test_all_figures_of_a_load_are_those_of_the_report(seed: int, places: int) -> None:
    load, tally = Load(seed, places), CaseTally(timeout=TIMEOUT)
    for piece in in_pieces(load.in_time, seed):
        tally.take(piece)
        tally.history, tally.so_far().due(TIMEOUT)  # whoever looks in between changes nothing
    data = CaseData(case_of({"timeout": TIMEOUT, "for": 9 * SECOND}), load.by_place, None)
    case = case_result(data, {})
    same_figures(tally, case)
    assert tally.so_far().rate == data.part.rate(data.measured.iterations()[0]).value
    assert tally.so_far().bandwidth == data.part.throughput(data.measured.iterations()[0]).value
    assert tally.open == 7 * places


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), places=st.integers(1, 3), until=st.integers(1, len(LIFE)))
def test_the_last_seconds_are_what_a_load_is_held_by(seed: int, places: int, until: int) -> None:
    frames = [frame for frame in Load(seed, places).in_time if frame.time <= BEGIN + until * SECOND]
    tally = CaseTally()
    for piece in in_pieces(frames, seed):
        tally.take(piece)
    now = max(frame.time for frame in frames)
    for text, shown in (
        ("rate(copy) < 1 /s", tally.recent().rate),
        ("rate(copy.bytes) < 1 B/s", tally.recent().bandwidth),
        ("p50(copy) < 1 s", plain_quantile(tally.recent().due(), 0.5).value),
        ("p99(copy) < 1 s", plain_quantile(tally.recent().due(), 0.99).value),
    ):
        check = checks.parse(text)
        gauge = Gauge(check, checks.resolve(check, ["copy"], []), {1}.__contains__, RECENT)
        assert gauge.look(now, frames, ()) == shown, text


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32), places=st.integers(1, 3))
def test_trials_are_in_the_figures_of_neither(seed: int, places: int) -> None:
    trial = Load(seed, places, life=[Phase.RAMP, Phase.WARM_UP, Phase.MEASURE, Phase.COOLDOWN])
    since = max(frame.time for frame in trial.in_time)
    load = Load(seed + 1, places, since)
    tally = CaseTally(timeout=TIMEOUT)
    tally.begin(NEVER)
    late = trial.in_time[-2:]  # read after run.json says that trials are over
    for piece in in_pieces(trial.in_time[:-2], seed):
        tally.take(piece)
    tally.begin(since)
    tally.take(late)
    for piece in in_pieces(load.in_time, seed):
        tally.take(piece)
    entry = case_of({"timeout": TIMEOUT, "for": 9 * SECOND, "find": {"measuring": since}})
    same_figures(tally, case_result(CaseData(entry, trial.by_place + load.by_place, None), {}))


def test_a_long_load_takes_no_more_memory_than_a_short_one() -> None:
    load, tally = Load(3, 2, life=[Phase.MEASURE] * 400), CaseTally()
    tally.take(load.in_time)
    assert len(tally.history) == HISTORY
    assert len(tally._seconds.open) <= OPEN
    assert len(tally._newest) <= 2 * (RECENT // SECOND + 1)
    assert all(len(each.lateness.parts) + len(each.iterations()) <= 1 for each in tally.parts.values())


def test_a_case_that_has_ended_keeps_its_counts_alone() -> None:
    load, tally = Load(3, 2), CaseTally()
    tally.take(load.in_time)
    before = tally.so_far().counts()
    tally.settle()
    assert tally.so_far().counts() == before
    assert (tally.so_far().due().passed.count, tally.history) == (0, [])


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    """A run of an older release that goes on, its tables of frames still empty."""
    path = tmp_path / "run"
    shutil.copytree(GOLDEN, path)
    with_cases_that_go_on(path)
    shutil.rmtree(path / "events")
    for table in (path / "frames").iterdir():
        table.write_bytes(b"")
    return path


def with_cases_that_go_on(path: Path) -> Manifest:
    folder = RunFolder.open(path)
    run = folder.manifest()
    run = replace(run, cases=tuple(replace(case, outcome=None, ended=None) for case in run.cases))
    folder.save(run)
    folder.close()
    return run


@pytest.mark.parametrize("seed", range(3))
def test_a_folder_that_grows_is_shown_as_it_is_reported(golden: Path, seed: int) -> None:
    """Bytes of the tables come in random pieces, torn anywhere: what is shown at the end is what is reported."""
    chance, watcher = random.Random(seed), FolderWatcher(golden, lambda: BEGIN)
    for table in (golden / "frames").iterdir():
        whole = (GOLDEN / "frames" / table.name).read_bytes()
        edges = sorted({*(chance.randrange(len(whole)) for _ in range(12)), len(whole)})
        for edge in edges:
            table.write_bytes(whole[:edge])
            watcher.look()
    reported = {case.name: case for case in results(RunFolder.open(golden)).cases}
    state = watcher.look()
    assert {case.name for case in state.cases.values()} == {"check", "copy"}
    for case in state.cases.values():
        same_figures(case.tally, reported[case.name])


def test_frames_that_come_while_run_json_is_read_are_not_taken_for_trials(tmp_path: Path) -> None:
    """A search ends, and its level is measured, between two reads of one look."""
    folder = RunFolder.create(tmp_path, "t", BEGIN)
    entry = case_of({"name": "copy", "test": "copy", "started": BEGIN, "find": {"trials": [], "measuring": None}})
    run = replace(with_case(folder), cases=(entry,))
    folder.save(run)
    watcher = FolderWatcher(folder.path, lambda: BEGIN)
    watcher.look()
    assert watcher._folder is not None
    read = watcher._folder.manifest
    load = Load(1, 1, BEGIN + 1)

    def meanwhile() -> Manifest:
        found = read()
        assert entry.find is not None
        folder.save(replace(run, cases=(replace(entry, find=replace(entry.find, measuring=BEGIN + 1)),)))
        for frame in load.in_time:
            folder.append_frame(frame)
        watcher._folder.manifest = read  # type: ignore[union-attr, method-assign]
        return found

    watcher._folder.manifest = meanwhile  # type: ignore[method-assign]
    folder.save(run)  # a run.json that has not changed is not read again
    watcher.look()
    tally = watcher.look().cases[1].tally
    tally.timeout = TIMEOUT
    same_figures(tally, case_result(CaseData(case_of({"timeout": TIMEOUT}), load.by_place, None), {}))
    folder.close()


def with_case(folder: RunFolder) -> Manifest:
    """Return run.json of a run that has begun."""
    from tests.manifests import run_of

    run = run_of({"title": "t", "started": BEGIN, "state": "running"})
    folder.save(run)
    return run


def test_what_criteria_say_at_the_end_is_what_the_report_says() -> None:
    """Of a golden run that goes on: its frames are all that the screen has, and the report has the same figures."""
    found = results(RunFolder.open(GOLDEN))
    watcher = FolderWatcher(GOLDEN)
    known = {each.id: each for each in found.criteria}
    told = {each.id: each for case in watcher.look().cases.values() for each in case.judged}
    assert told
    for name, each in told.items():
        assert (each.figure.value, each.wanted) == (known[name].figure.value, known[name].threshold)
