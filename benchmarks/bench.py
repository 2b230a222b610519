"""Measure pileup against its peers, in turn, pinned, and write results and their page.

.venv/bin/python benchmarks/bench.py               # all, about a quarter of an hour
.venv/bin/python benchmarks/bench.py http python   # some
.venv/bin/python benchmarks/bench.py --pairs 3     # a quick look
.venv/bin/python benchmarks/bench.py --page        # only the page, from the results there are
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import sys
import tempfile
from pathlib import Path

import figures
import meter

KINDS = {
    "http": "closed_http",
    "paced": "paced_http",
    "crowds": "crowds",
    "same-core": "same_core",
    "disk": "disk",
    "streams": "storage_streams",
    "sessions": "storage_stat",
    "s3": "s3_objects",
    "python": "python_calls",
    "batch": "batch",
    "workers": "workers",
    "relay": "relay",
    "one-line": "one_line",
}
"""Each benchmark and the module that takes it."""
BY_HAND = ("since", "memory", "commands", "opened")
"""Others with results of their own, on the same page."""
PAIRS = 10


def take(name: str, pairs: int) -> bool:
    """Take one benchmark and keep its result; say what went wrong, if anything did."""
    print(f"{name}: {pairs} pairs", flush=True)
    before = figures.before()
    module = importlib.import_module(KINDS[name])
    try:
        with tempfile.TemporaryDirectory(prefix="pileup-bench-") as folder:
            report = module.run(Path(folder), pairs)
    except meter.Trouble as trouble:
        print(f"{name}: {trouble}", file=sys.stderr)
        return False
    figures.keep(name, report, before)
    for what, figure in report.figures.items():
        print(figures.row(what, figure))
    return True


def page() -> None:
    """Write the page from the results there are."""
    figures.page((*KINDS, *BY_HAND))


def main() -> int:
    """Take what is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[*KINDS, []], help=f"which (default: {', '.join(KINDS)})")
    parser.add_argument("--pairs", type=int, default=PAIRS, help=f"pairs of runs (default {PAIRS})")
    parser.add_argument("--page", action="store_true", help="only write the page from the results there are")
    given = parser.parse_args()
    if given.pairs < 1:
        parser.error("--pairs is below 1; expected 1 or more (10 for figures that are kept)")
    done = [take(name, given.pairs) for name in ([] if given.page else given.names or KINDS)]
    page()
    return 0 if all(done) else 1


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(main())
