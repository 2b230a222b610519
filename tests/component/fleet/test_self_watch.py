"""What a place samples of itself: counters of a made-up /proc, and a watch of this process."""

import mmap
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from pileup.fleet import loop_lag, self_watch
from pileup.fleet.self_watch import CounterReading, SelfWatch, Stops, give_back, read, samples
from pileup.model import self_metrics
from pileup.plugin import Daemon, Launcher, Line
from pileup.run.servers.supervisor import Supervisor

SECOND = 10**9


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    for number, text in ((7, "900000000 50000000 12"), (8, "100000000 300000000 3"), (9, "gone")):
        task = tmp_path / "self" / "task" / str(number)
        task.mkdir(parents=True)
        (task / "schedstat").write_text(text + "\n")
    (tmp_path / "self" / "statm").write_text("900 300 12 1 0 40 0\n")
    for number in range(4):
        (tmp_path / "self" / "fd" / str(number)).mkdir(parents=True)
    (tmp_path / "stat").write_text("cpu  10 0 10 60 0 0 0 20 5 0\ncpu0 1 1 1 1 1 1 1 1\n")
    (tmp_path / "pressure").mkdir()
    (tmp_path / "pressure" / "cpu").write_text("some avg10=0.00 avg60=0.00 avg300=0.00 total=250000\nfull total=1\n")
    return tmp_path


def test_counters_are_read_as_the_kernel_writes_them(proc: Path) -> None:
    found = read(proc)
    assert found.threads == {7: (900_000_000, 50_000_000), 8: (100_000_000, 300_000_000)}
    assert found.machine == (20, 100)
    assert found.waited == 250_000_000
    page = os.sysconf("SC_PAGE_SIZE")
    assert (found.rss, found.anonymous) == (300 * page, 288 * page)


def test_what_a_system_does_not_tell_is_left_out(tmp_path: Path) -> None:
    found = read(tmp_path)
    assert (found.threads, found.machine, found.waited) == ({}, None, None)
    found.children = 0  # other tests have started processes
    assert [each.metric for each in samples(found, found, 0)] == [self_metrics.CPU, self_metrics.TOTAL]


def test_shares_are_of_the_interval(proc: Path) -> None:
    after = read(proc)
    after.time, after.cpu, after.children = 2 * SECOND, SECOND, SECOND // 2
    before = CounterReading(0, 0, {7: (100_000_000, 0)}, (10, 60), 50_000_000)
    found = {each.metric: each for each in samples(before, after, 3)}
    assert {each.labels for each in found.values()} == {"place=3"}
    wanted = {
        self_metrics.CPU: 50,
        self_metrics.CHILDREN: 25,
        self_metrics.TOTAL: 75,
        self_metrics.THREAD: 40,
        self_metrics.RUN_QUEUE: 17.5,
        self_metrics.STEAL: 25,
    }
    wanted |= {
        self_metrics.PRESSURE: 10,
        self_metrics.OPEN_FILES: 4,
        self_metrics.RSS: 300 * os.sysconf("SC_PAGE_SIZE"),
        self_metrics.RSS_ANON: 288 * os.sysconf("SC_PAGE_SIZE"),
    }
    assert {name: each.value for name, each in found.items()} == pytest.approx(wanted)


def test_a_watch_samples_this_process() -> None:
    told: queue.Queue[tuple[int, dict[str, float]]] = queue.Queue()
    watch = SelfWatch(2, lambda moment, found: told.put((moment, {each.metric: each.value for each in found})))
    try:
        begin, (moment, found) = time.time_ns(), told.get(timeout=20)
        while set(found) == {self_metrics.STOPPED}:  # a busy machine: that is told at once
            moment, found = told.get(timeout=20)
    finally:
        watch.close()
    assert abs(moment - begin) < 20 * SECOND
    assert {
        self_metrics.CPU,
        self_metrics.TOTAL,
        self_metrics.RSS,
        self_metrics.OPEN_FILES,
        self_metrics.LAG,
        self_metrics.THREAD,
        self_metrics.RUN_QUEUE,
    } <= set(found)
    assert 0 <= found[self_metrics.LAG] < 20


WATCHED = """
import sys, threading, time
from pileup.fleet.self_watch import SelfWatch

watch = SelfWatch(0, lambda moment, found: [
    print(moment, each.value, flush=True) for each in found if each.metric == "stopped"])
print("ready", flush=True)
sys.stdin.read()
watch.close()
"""


@pytest.mark.long
def test_t09_a_stop_of_the_process_is_a_sample_of_its_own() -> None:
    words = [sys.executable, "-c", WATCHED]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.35)
        process.send_signal(signal.SIGSTOP)
        stopped = time.time_ns()
        time.sleep(0.4)
        continued = time.time_ns()
        process.send_signal(signal.SIGCONT)
        time.sleep(0.3)
        told, _ = process.communicate("", timeout=20)
    found = [(int(moment), float(value)) for moment, value in (line.split() for line in told.splitlines())]
    moment, seconds = max(found, key=lambda each: each[1])
    length = (continued - stopped) / 1e9
    assert length - 0.11 < seconds < length + 0.25, (found, length)
    assert 0 <= moment - continued < 0.3 * SECOND


@pytest.mark.parametrize(("used", "stood"), [(90, True), (500, False), (160, False)])
def test_a_watch_that_is_late_while_other_threads_run_is_no_stop(used: int, stood: bool) -> None:
    """A process that took 0.9 of a core: whether it took CPU, too, while its watch was 400 ms late."""
    ms = 10**6
    stops = Stops(0)
    assert not stops.was_one(0, 100 * ms, 90 * ms)
    assert stops.was_one(400 * ms, 100 * ms, 90 * ms + used * ms) is stood
    assert not stops.was_one(ms, 100 * ms, 90 * ms + used * ms)


def test_the_worst_tick_of_any_loop_is_taken_once() -> None:
    loop_lag.take()
    loop_lag._worst.add(5)
    loop_lag._worst.add(9)
    loop_lag._worst.add(2)
    assert loop_lag.take() == 9
    assert loop_lag.take() is None


def test_places_are_read_out_of_labels() -> None:
    assert self_metrics.place_of(self_metrics.label(12)) == 12
    assert self_metrics.place_of("kind=x,place=3") == 3
    assert self_metrics.place_of("") is None


def test_what_processes_have_used_that_were_started_here_counts_apart() -> None:
    before, after = CounterReading(0, 0), CounterReading(2 * 10**9, 10**9, children=10**9)
    assert {each.metric: each.value for each in samples(before, after, 0)} == {"cpu": 50.0, "children_cpu": 50.0} | {
        "total_cpu": 100.0
    }
    spent = read().children
    subprocess.run([sys.executable, "-c", "sum(range(3_000_000))"], check=True)
    assert read().children > spent


def test_servers_that_were_launched_are_not_counted(tmp_path: Path) -> None:
    burn = "import time\nwhile time.process_time() < 0.3: pass\nprint('burnt', flush=True)\n"
    server = Daemon((sys.executable, "-Ic", f"{burn}time.sleep(100)"), Line("burnt"))
    supervisor, before = Supervisor(), read()
    supervisor.launch("se", Launcher((server,), url="http://127.0.0.1:1/"), tmp_path / "se")
    supervisor.end_all()
    assert read().children - before.children < SECOND // 10
    supervisor.launch("se", Launcher((server,), url="http://127.0.0.1:1/"), tmp_path / "se")
    os.kill(supervisor.pids("se")[0], signal.SIGKILL)
    while supervisor.alive("se"):
        time.sleep(0.01)
    supervisor.end_all()
    assert read().children - before.children < SECOND // 10


def peak(kept: list[bytes]) -> None:
    """Hold 60 MB in pieces that the allocator takes from a thread's own memory, and keep the last of them."""
    pieces = [os.urandom(100_000) for _ in range(600)]
    kept.append(pieces.pop())


def held() -> int:
    rss = read().rss
    assert rss is not None
    return rss


def test_pages_of_a_file_are_no_memory_of_its_own(tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.write_bytes(os.urandom(20_000_000))
    before = read()
    with library.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        assert sum(mapped[:: mmap.PAGESIZE]) > 0
        after = read()
    assert after.rss is not None and before.rss is not None
    assert after.anonymous is not None and before.anonymous is not None
    assert after.rss - before.rss > 15_000_000
    assert after.anonymous - before.anonymous < 5_000_000


def test_memory_that_is_free_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[bytes] = []
    before = held()
    thread = threading.Thread(target=peak, args=(kept,))
    thread.start()
    thread.join()
    assert held() - before > 40 << 20, "the allocator keeps it below what is still in use"
    give_back()
    assert held() - before < 10 << 20
    given: list[float] = []
    monkeypatch.setattr(self_watch, "GIVEN_BACK", SECOND)
    monkeypatch.setattr(self_watch, "give_back", lambda: given.append(time.monotonic()))
    watch = SelfWatch(0, lambda moment, found: None)
    until = time.monotonic() + 5
    while len(given) < 2:
        assert time.monotonic() < until
        time.sleep(0.05)
    watch.close()
