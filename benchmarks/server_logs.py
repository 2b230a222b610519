"""How fast the monitor `log` reads, and whether its memory stays flat: a log of any size, made on the fly.

    .venv/bin/python benchmarks/server_logs.py [--size 1] [--format nginx]

`--size` is in GB. The log is written in pieces of 32 MiB, each rotated away before the next, so that the disk holds two
of them. Reading is following the files, taking lines apart, and recording them as columns: CPU time of one thread.
What writes is not counted. Lines that are lost or counted twice end it with an error.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from pileup.builtin.logs.monitor import LogMonitor
from pileup.model.timed import OperationBatch
from pileup.plugin.recording import Recording

PIECE = 32 << 20
AT = 1_795_647_601
DISTINCT = 50_000
"""Different lines but for the id, which is theirs alone."""


def heads(form: str) -> list[str]:
    """Return lines without their ids, as servers write them."""
    access = [
        f"10.0.{number % 200}.7 - - [25/Nov/2026:23:{number // 60 % 60:02}:{number % 60:02} +0000] "
        f'"GET /data/f{number % 5000:06} HTTP/1.1" {200 if number % 50 else 503} {number % 100_000} "-" "pileup/0.1"'
        for number in range(DISTINCT)
    ]
    if form == "nginx":
        return [f"{line} 0.{at % 1000:03} {AT + at // 1000}.{at % 1000:03}" for at, line in enumerate(access)]
    return [f"{line} {at % 100_000} {AT + at // 1000}{at % 1_000_000:06}" for at, line in enumerate(access)]


def memory() -> int:
    """Return the resident memory of this process, bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def main() -> None:
    """Print lines per second and memory."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=float, default=1.0, help="GB")
    parser.add_argument("--format", choices=("nginx", "apache"), default="nginx")
    args = parser.parse_args()
    lines, read, sums, spent, sizes = heads(args.format), 0, 0, 0.0, []
    written = size = 0

    def take(batch: OperationBatch) -> None:
        nonlocal read, sums
        read += len(batch)
        sums += sum(batch.columns["parent"])

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "access.log")
        path.touch()
        monitor = LogMonitor(file=str(path), format=args.format)
        monitor.recording = recording = Recording(take, lambda text: print(text, file=sys.stderr))
        monitor.open()
        while size < args.size * 1e9:
            with path.open("w" if not written else "x") as file:
                while file.tell() < PIECE:
                    file.writelines(f"{lines[at % DISTINCT]} {at + 1}\n" for at in range(written, written + 10_000))
                    written += 10_000
            size += path.stat().st_size
            begin = time.thread_time()
            list(monitor.sample())
            recording.flush()
            spent += time.thread_time() - begin
            sizes.append(memory())
            path.rename(path.with_suffix(".log.1"))
        monitor.close()
    if read != written or sums != written * (written + 1) // 2:
        sys.exit(f"{written} lines were written, {read} were read")
    tenth = max(1, len(sizes) // 10)
    print(f"{size / 1e9:.2f} GB, {written:,} lines, each once: {written / spent:,.0f} lines/s of one core")
    print(f"memory: {sizes[tenth - 1] / 2**20:.0f} MiB after a tenth, {sizes[-1] / 2**20:.0f} MiB at the end")


if __name__ == "__main__":
    main()
