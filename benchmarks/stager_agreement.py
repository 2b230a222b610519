"""Hold the waits of a run on real stagers against the events of their library.

    python benchmarks/stager_agreement.py RUN

RUN is a run of kind `xrootd-tape` with its monitor, for example of examples/stager-tuning.yaml. A file is found in both
by the instant at which its copy command began. Prints, of the files that came, by how much pileup's times of the
hand-over, of the begin of the transfer and of the delivery are later than the library's, in ms of real time.
"""

from __future__ import annotations

import csv
import statistics
import sys
from collections import Counter
from pathlib import Path

import pileup

MS = 1e6
QUANTILES = (0.01, 0.5, 0.99)


def library(folder: Path) -> dict[tuple[str, str], int]:
    """Return when what happened to a path last, by the events of the library over all of its starts."""
    found = {}
    for path in folder.glob("servers/*.logs/library*.csv"):
        with path.open(newline="") as lines:
            for line in csv.DictReader(lines):
                found[line["path"], line["event"]] = int(line["time"])
    return found


def spans(run: pileup.Run, operation: str) -> list[tuple[int, int, str]]:
    """Return start, end and key of all operations of a kind that passed."""
    rows = run.operations(operation=operation, outcome="passed")
    columns = rows.select("start", "end", "key")
    return [(int(start), int(end), str(key)) for start, end, key in columns]


def differences(run: pileup.Run) -> dict[str, list[float]]:
    """Return by how many ms pileup's times are later than the library's, by what they are of."""
    truth = library(Path(run.path))
    copies = spans(run, "copy")
    begins = Counter(start for start, _, _ in copies)  # to the microsecond: among thousands some are the same
    paths = {start: key for start, _, key in copies if begins[start] == 1}
    found: dict[str, list[float]] = {"hand-over": [], "begin of the transfer": [], "delivery": []}
    delivered = {start: end for start, end, _ in spans(run, "transfer")}
    for handed, begun, _ in spans(run, "queue_wait"):
        if (path := paths.get(handed)) is None or begun not in delivered:
            continue  # or its stager was killed meanwhile
        times = (handed, "queued"), (begun, "begun"), (delivered[begun], "delivered")
        for (time, event), of in zip(times, found.values(), strict=True):
            of.append((time - truth[path, event]) / MS)
    return found


def main() -> int:
    """Print the table."""
    run = pileup.open(sys.argv[1])
    print(
        f"{'later than the library by':26} {'files':>6}  " + "".join(f"{f'p{100 * q:g}':>9}" for q in QUANTILES), end=""
    )
    print(f"{'least':>9}{'most':>9}  ms")
    for of, found in differences(run).items():
        cuts = statistics.quantiles(found, n=100, method="inclusive")
        told = [*(cuts[round(100 * q) - 1] for q in QUANTILES), min(found), max(found)]
        print(f"{of:26} {len(found):6}  " + "".join(f"{each:9.1f}" for each in told))
    return 0


if __name__ == "__main__":
    sys.exit(main())
