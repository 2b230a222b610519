"""Files that did not come are named by several clients at once."""

import csv
import threading
from pathlib import Path

from pileup.builtin.tape.requests import FAILED, Fate, Request
from pileup.builtin.tape.storm import TapeStorm
from pileup.builtin.tape.watch import NAMED, Watch
from pileup.plugin import Context

CLIENTS, TIMES = 4, 200


def test_one_head_is_written_however_many_clients_begin_at_once(tmp_path: Path) -> None:
    folders = [tmp_path / str(number) for number in range(TIMES)]
    together = threading.Barrier(CLIENTS)

    def client(number: int) -> None:
        for folder in folders:
            folder.mkdir(exist_ok=True)
            watch = Watch(TapeStorm(None, Context(keep_in=lambda folder=folder: folder), files=1))
            request = Request(f"r{number}", ["/a"], 0)
            together.wait(60)
            watch.take(request, [Fate("/a", FAILED, "no cartridge")])

    clients = [threading.Thread(target=client, args=(number,)) for number in range(CLIENTS)]
    for each in clients:
        each.start()
    for each in clients:
        each.join(60)
    for folder in folders:
        with (folder / NAMED).open(newline="") as text:
            rows = list(csv.DictReader(text))
        assert sorted(row["request"] for row in rows) == [f"r{number}" for number in range(CLIENTS)]
        assert {(row["path"], row["fate"], row["reason"]) for row in rows} == {("/a", FAILED, "no cartridge")}
