"""Native workers started from Python: counts, content and outcomes of every protocol in the table."""

import json
from pathlib import Path
from typing import Any

import pytest

from pileup._core._native import PracticeStorage, Press, now
from pileup.model.program import Content, Keys, Program, Step
from pileup.model.record import Outcome


def program(*steps: Step) -> str:
    return json.dumps(Program(steps).to_native())


def spec(protocol: str, **settings: Any) -> str:
    return json.dumps({"protocol": protocol, "settings": settings})


def run(press: Press, client: str, steps: str) -> None:
    press.native(client, steps)
    assert press.wait(20)
    assert press.over


NOOP = Step("nothing", "noop")
WRITE = Step("write", "write", Keys("f", 20), content=Content(1, 100_000))
READ = Step("read", "read", Keys("f", 20), content=Content(1, 100_000))


def test_noop_counts_are_exact(bench: Any) -> None:
    press = bench.press(kind="times", times=1000, clients=4)
    run(press, spec("noop"), program(NOOP))
    frame = press.frame()
    assert [(row["operation"], row["iteration"], row["passed"]) for row in frame["rows"]] == [("nothing", True, 1000)]
    assert frame["started"] == 1000
    table = bench.table()
    assert len(table.named("nothing")) == len(table.rows) == 1000
    assert set(table.rows["parent"]) == {0}


def test_several_steps_have_a_parent(bench: Any) -> None:
    run(bench.press(kind="times", times=10), spec("noop"), program(NOOP, Step("again", "noop", repeat=2)))
    table = bench.table()
    parents = table.named("iteration")
    assert (len(parents), len(table.named("nothing")), len(table.named("again"))) == (10, 10, 20)
    assert set(table.named("again")["parent"]) == set(parents["id"])


def test_an_open_load_starts_at_its_instants(bench: Any) -> None:
    press = bench.press(kind="open", rate=1000.0, for_=50_000_000)
    run(press, spec("noop"), program(NOOP))
    bench.check_instants(press, bench.table().rows, step=10**6, count=50)


@pytest.mark.parametrize("pacing", ["coarse", "precise"])
def test_pacing_leaves_the_instants_as_they_are(bench: Any, pacing: str) -> None:
    press = bench.press(kind="open", rate=2000.0, for_=100_000_000, pacing=pacing)
    run(press, spec("noop"), program(NOOP))
    rows = bench.table().rows
    bench.check_instants(press, rows, step=500_000, count=200)
    if pacing == "coarse":
        bench.check_together(rows)


MS = 10**6
LEVELS = [(2, 0, 100), (1, 50, 100), (2, 0, 50)]


def test_clients_of_two_shards_come_and_go_with_the_level(bench: Any) -> None:
    segments = [{"level": level, "ramp": ramp * MS, "warm_up": 0, "for": for_ * MS} for level, ramp, for_ in LEVELS]
    start = now() + 50 * MS
    load = {"kind": "closed", "segments": segments, "start": start, "shards": 2, "think": {"fixed": MS}}
    presses = [bench.press(shard=shard, **load) for shard in (0, 1)]
    for press in presses:
        press.native(spec("noop"), program(NOOP))
    assert all(press.wait(20) for press in presses)
    rows = bench.table().rows
    at = (rows["intended"] - start) / MS
    assert set(rows["client"]) == {0, 1}
    assert at.min() >= 0 and at.max() < 300
    second = at[rows["client"] == 1]
    assert not ((second >= 150) & (second < 250)).any(), (
        "the level falls to 1 from 100 to 150 ms and is 2 again at 250 ms"
    )
    assert (second < 150).any() and (second >= 250).any()
    assert set(rows["phase"][(at >= 100) & (at < 150)]) == {1}
    assert set(rows["phase"][(at < 100) | (at >= 150)]) == {3}


def test_an_endless_load_goes_on_until_it_is_stopped(bench: Any) -> None:
    press = bench.press(kind="closed", clients=2, endless=True, think={"fixed": MS})
    press.native(spec("noop"), program(NOOP))
    assert not press.wait(0.05)
    press.stop(False)
    assert press.wait(20)
    assert (press.ending[0], press.frame()["clients"]) == ("stopped", 2)
    assert set(bench.table().rows["outcome"]) == {0}


def test_posix_writes_and_verifies(bench: Any, tmp_path: Path) -> None:
    client = spec("posix", root=str(tmp_path / "data"))
    (tmp_path / "data").mkdir()
    run(bench.press(kind="times", times=20), client, program(WRITE))
    run(bench.press(kind="times", times=20), client, program(READ))
    broken = tmp_path / "data" / "f000003"
    broken.write_bytes(broken.read_bytes()[:-1] + b"!")
    run(bench.press(kind="times", times=20), client, program(READ))
    table = bench.table()
    assert (len(table.named("write")), len(table.named("read"))) == (20, 40)
    assert table.named("write")["bytes"].tolist() == [100_000] * 20
    failed = table.rows[table.rows["outcome"] != 0]
    assert [table.texts[number] for number in failed["key"]] == ["f000003"]
    assert failed["outcome"].tolist() == [Outcome.FAILED]


@pytest.mark.parametrize("keep_alive", [True, False])
def test_http_against_practice_storage(bench: Any, tmp_path: Path, keep_alive: bool) -> None:
    log = tmp_path / "log.csv"
    server = PracticeStorage(json.dumps({"log": str(log)}))
    client = spec("http", url=f"http://127.0.0.1:{server.port}/", keep_alive=keep_alive)
    run(bench.press(kind="times", times=20, clients=2), client, program(WRITE))
    run(bench.press(kind="times", times=20, clients=2), client, program(READ))
    server.stop()
    table = bench.table()
    assert table.rows["outcome"].tolist() == [0] * 40
    lines = [line.split(",") for line in log.read_text().splitlines()[1:]]
    told = {int(line[0]): line[1] for line in lines}
    assert set(table.named("write")["id"]) == {number for number, method in told.items() if method == "PUT"}
    assert set(table.named("read")["id"]) == {number for number, method in told.items() if method == "GET"}


def test_errors_are_grouped_and_end_the_load(bench: Any, tmp_path: Path) -> None:
    press = bench.press(kind="times", times=1000, errors_in_a_row=7)
    run(press, spec("posix", root=str(tmp_path)), program(READ))
    assert press.ending == ("limit", "7 errors in a row")
    table = bench.table()
    assert len(table.rows) == 7
    assert len(set(table.text("error"))) == 1


@pytest.mark.parametrize(
    ("client", "steps", "says"),
    [
        (
            '{"protocol": "ftp", "settings": {}}',
            program(NOOP),
            r"no protocol \"ftp\"; expected noop, posix, http, s3 or xroot \(",
        ),
        ("5", program(NOOP), r"a client for the engine: .*; expected protocol and settings \("),
        (spec("noop"), "{}", r"a program for the engine: .*; expected steps \("),
        (spec("noop"), '{"steps": []}', "expected"),
        (spec("posix"), program(NOOP), "expected"),
        (spec("http", url="gopher://x"), program(NOOP), "expected"),
        (spec("http", url="http://x", colour="red"), program(NOOP), "expected"),
    ],
)
def test_what_the_engine_does_not_know_is_refused(bench: Any, client: str, steps: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        bench.press(kind="once").native(client, steps)


def test_stopping_at_once_leaves_nothing_under_way(bench: Any) -> None:
    press = bench.press(kind="closed", clients=5, for_=3600 * 10**9)
    press.native(spec("noop"), program(Step("wait", "noop", cost_ns=3600 * 10**9)))
    frames = []
    while sum(frame["started"] for frame in frames) < 5:
        frames.append(press.frame())
        press.wait(0.005)
    press.stop(True)
    assert press.wait(10)
    table = bench.table()
    assert table.rows["outcome"].tolist() == [Outcome.UNFINISHED] * 5
