"""Packets of events handed out: how many a second of CPU time from one coordinator, one by one and batched, beside a
task of Dask for each packet; and how long 300 simulated workers in one process wait for theirs.

    .venv/bin/python benchmarks/hand_out.py

A wait has the run queue of the machine in it: it says something on a machine that does nothing else.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from pileup.fleet.asking import Answer, Answering, pack_answers, unpack_asks
from pileup.fleet.wire import decode, encode
from pileup.plugin import Ask, Coordinator, Reply
from pileup.plugin.packets import File, Packet, Packetizer
from pileup.record import RunFolder

WORKERS, PACKETS, TASKS = 200, 40_000, 2_000
BATCH = 100
SIMULATED, LENGTH = 300, 10
SUITE = f"""
pileup: 1
title: Hand-out
places: processes:1
tests:
  - {{name: work, use: "./worker.py:Worker", load: {{clients: {SIMULATED}, warm_up: 2 s, for: {LENGTH} s}}}}
"""


class HandOut(Coordinator):
    """Hands out packets of one cluster, which take a second."""

    def __init__(self, workers: int, packets: int) -> None:
        self._packets = Packetizer([File(f"n{node}", range(packets // workers + 2)) for node in range(workers)])
        self._held: dict[int, Packet] = {}
        for worker in range(workers):
            self._packets.join(str(worker), f"n{worker}")

    def take(self, asks: Sequence[Ask], now: int) -> Iterator[Reply]:
        """Accept what is done, give the next."""
        told = ((str(ask.client), self._held.pop(ask.client, None), 1.0) for ask in asks)
        for worker, packet, _ in self._packets.exchange(told, now / 1e9):
            if packet is not None:
                self._held[int(worker)] = packet
                yield Reply(int(worker), {"packet": [packet.file, packet.begin, packet.end]})


WORKER = '''
"""A simulated worker: asks for a packet, and sleeps as if it read it."""
import asyncio, sys
sys.path.insert(0, "BENCHMARKS")
from hand_out import HandOut
from pileup.plugin import Test


class Worker(Test):
    """Asks and sleeps."""

    def coordinator(self):
        return HandOut(CLIENTS, 100_000)

    async def run(self, op):
        async with op("ask"):
            await self.ask_async({"do": "next"})
        await asyncio.sleep(self.context.random.uniform(0.5, 1.5))
'''


def rate(batch: int) -> float:
    """Return packets per second of CPU time of what the parent does: messages read, answered and written."""
    answering = Answering(HandOut(WORKERS, PACKETS), "hand-out", WORKERS, print)
    written: list[bytes] = []

    def answer(answers: Sequence[Answer]) -> None:
        written.append(encode("answers", pack_answers(1, answers)))

    messages = []
    for begin in range(0, WORKERS, batch):
        asks = [[client, {"do": "next", "seconds": 1.0}] for client in range(begin, begin + batch)]
        messages.append(encode("asks", {"part": 1, "asks": asks}, [b""] * batch)[4:])
    begun = time.process_time()
    for _ in range(PACKETS // WORKERS):
        for message in messages:
            answering.take(unpack_asks(decode(message)), answer)
    took = time.process_time() - begun
    assert len(written) == PACKETS // batch, "every message was answered"
    return PACKETS / took


def tasks() -> float:
    """Return tasks per second of CPU time of a scheduler of Dask and its client, here; what workers take is apart."""
    from distributed import Client, LocalCluster  # noqa: PLC0415  it takes a second, also in the process of the workers

    words = {"n_workers": 1, "threads_per_worker": 4, "host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    with LocalCluster(**words) as cluster, Client(cluster) as client:
        client.gather(client.map(nothing, range(200), pure=False))
        begun = time.process_time()
        client.gather(client.map(nothing, range(TASKS), pure=False))
        return TASKS / (time.process_time() - begun)


def nothing(number: int) -> int:
    """Return it."""
    return number


def latencies() -> tuple[float, float, int]:
    """Return p50 and p99 of the wait for a packet of simulated workers, ms, and how many were handed out."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "suite.yaml").write_text(SUITE)
        text = WORKER.replace("BENCHMARKS", str(Path(__file__).parent)).replace("CLIENTS", str(SIMULATED))
        (here / "worker.py").write_text(text)
        done = subprocess.run(
            [sys.executable, "-m", "pileup", "run", "suite.yaml", "--quiet", "--set", "reports=[]"],
            cwd=here, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        run = RunFolder.open(here / done.stdout.strip().splitlines()[-1])
        rows = run.operations().connect().sql(
            "select quantile_cont((\"end\" - start) / 1e6, [0.5, 0.99]), count(*) from operations "
            "where operation = 'ask' and phase = 'measure'"
        ).fetchall()  # fmt: skip
        ((middle, high), number) = rows[0]
        return middle, high, number


def main() -> None:
    """Measure and print."""
    kinds: dict[str, Callable[[], float]] = {
        "one by one": lambda: rate(1),
        f"in batches of {BATCH}": lambda: rate(BATCH),
        "a Dask task for each": tasks,
    }
    for name, measure in kinds.items():
        print(f"{name}: {measure():,.0f} packets/s")
    middle, high, number = latencies()
    print(f"{SIMULATED} simulated workers: {number} packets, p50 {middle:.2f} ms, p99 {high:.2f} ms")


if __name__ == "__main__":
    main()
