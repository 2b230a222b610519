"""What the compiled recorder writes is read here, also when its process was killed."""

import json
import os
import signal
import subprocess
import sys
import textwrap

import pytest

from pileup._core._native import Press, Recorder
from pileup.record import RunFolder
from tests.manifests import run_of

LOAD = {
    "case": 1, "name": "copy", "target": 0, "place": 0, "shard": 0, "shards": 1, "seed": 1, "start": 0, "kind": "times",
    "times": 5, "clients": None, "rate": None, "arrivals": "constant", "ramp": 0, "warm_up": 0, "for": None,
    "think": None, "phase": None, "timeout": 10**10, "pacing": "normal", "workers": 1, "errors_in_a_row": None,
    "operations": None,
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    made = RunFolder.create(tmp_path, "x", 0)
    made.save(
        run_of({"cases": [{"id": 1, "name": "copy@1", "test": "copy", "target": "se"}], "targets": [{"name": "se"}]})
    )
    return made


def rows(folder):
    query = """SELECT operation, parent = 0, "key", error, outcome, phase, "case", test, target, bytes, calls,
        "end" >= start AND start >= intended FROM operations ORDER BY id"""
    with folder.operations().connect() as connection:
        return connection.execute(query).fetchall()


def test_rows_of_a_press(folder):
    recorder = Recorder(str(folder.operations_path(0)), 0)
    press = Press(recorder, json.dumps(LOAD))
    seat = press.seat(press.spawn())
    while (op := seat.next()) is not None:
        with op("read", f"/data/é{op.number}") as reading:
            reading.bytes, reading.calls = 10, 2
        op.finish(op.number % 2, "wrong byte" if op.number % 2 else "")
    recorder.flush()
    running = rows(folder)
    recorder.close()
    folder.convert()
    ended = rows(folder)
    assert running == ended
    inner = [row for row in ended if not row[1]]
    outer = [row for row in ended if row[1]]
    assert [row[2] for row in inner] == [f"/data/é{number}" for number in range(5)]
    assert {row[9:11] for row in inner} == {(10, 2)}
    assert [(row[0], row[3], row[4]) for row in outer] == [
        ("iteration", "wrong byte" if number % 2 else "", "failed" if number % 2 else "passed") for number in range(5)
    ]
    assert {row[5:9] for row in ended} == {("measure", "copy@1", "copy", "se")}
    assert all(row[11] for row in ended)


WRITER = """
    import sys, json
    from pathlib import Path
    from pileup._core._native import Press, Recorder
    from pileup.model.record import Frame, Sample, SampleRow
    from pileup.record import RunFolder
    folder = RunFolder.open(sys.argv[1])
    recorder = Recorder(str(folder.operations_path(0)), 0)
    press = Press(recorder, sys.argv[2])
    seat = press.seat(press.spawn())
    for _ in range(4):
        seat.next().finish(0)
    folder.append_frame(Frame(1, 1, 0, 1, 3, 1, 0, 0, 1, 1, b"", ()))
    folder.append_samples([SampleRow(1, "node", "h", Sample("load1", 1.0))])
    folder.journal("server", "started", pid=1)
    recorder.flush()
    print("ready", flush=True)
    seat.next()
    input()
"""


def test_a_run_that_was_killed_is_read(folder):
    command = [sys.executable, "-c", textwrap.dedent(WRITER), str(folder.path), json.dumps(LOAD)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as process:
        try:
            assert process.stdout.readline() == b"ready\n"
        finally:
            process.send_signal(signal.SIGKILL)
        assert process.wait(20) == -signal.SIGKILL
    again = RunFolder.open(folder.path)
    assert len(rows(again)) == 4  # the fifth has not told its end yet
    assert (len(list(again.frames())), len(list(again.samples())), len(list(again.journal_entries()))) == (1, 1, 1)
    again.convert()
    assert len(rows(again)) == 4
