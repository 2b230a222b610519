"""Print through which files a word of a suite goes, from reading the suite to the last line on the screen, in order.

    python tools/walks.py [--names]

One small suite is run, judged and reported in this process while four of its words are followed: an option of a test,
the name of a case (the way of an operation to its figure), a criterion, and a fault. A file counts when one of its
functions has the word in its hands: a value, or a member of a value. What the engine does is not seen.
"""

import dataclasses
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pileup
from pileup.cli import run_and_exit

ROOT = str(Path(pileup.__file__).parent) + "/"
SUITE = """
pileup: 1
title: Walks
targets: {se: {kind: practice-storage, launch: {}}}
tests:
  - {name: fill, use: storage.write, target: se, options: {files: 2, size: 1 KiB, folder: option4711}, scope: run}
  - name: case4711
    use: storage.read
    target: se
    after: [fill]
    options: {files: 2, size: 1 KiB, folder: option4711}
    load: {clients: 1, for: 3 s}
faults: [{at: 1 s, do: pause, target: se, for: 471.1 ms}]
criteria: [{id: C1, says: It reads, check: p99(case4711.response) < 4711 s}]
"""
WALKS: dict[str, tuple[object, ...]] = {
    "option": ("option4711",),
    "operation": ("case4711",),
    "criterion": ("4711 s", 4711 * 10**9, 4711.0),
    "fault": ("471.1 ms", 471_100_000, 0.4711),
}
LONGEST = 200
"""Characters: a word is in a sentence, not in a whole page."""
MOST = 50
"""Members of a value that are looked at."""


def members(value: object) -> Iterator[object]:
    """Return a value and what it is directly made of."""
    yield value
    if isinstance(value, dict):
        yield from list(value.values())[:MOST]
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield from list(value)[:MOST]
    elif type(value).__module__.startswith("pileup"):
        names = getattr(type(value), "model_fields", None) or (
            [field.name for field in dataclasses.fields(value)] if dataclasses.is_dataclass(value) else ()
        )
        yield from (getattr(value, name, None) for name in names)


def is_word(value: object, words: tuple[object, ...]) -> bool:
    """Whether a value is one of some words, or a short text with one in it."""
    if isinstance(value, str):
        return len(value) < LONGEST and any(isinstance(word, str) and word in value for word in words)
    return type(value) in (int, float) and value in words


def main(arguments: list[str]) -> int:
    """Run the suite and print what was seen."""
    seen: dict[str, dict[str, None]] = {walk: {} for walk in WALKS}

    def look(frame: FrameType, event: str, given: object) -> None:
        file = frame.f_code.co_filename
        if event not in ("call", "return") or not file.startswith(ROOT):
            return
        for value in [*frame.f_locals.values(), given]:
            for member in members(value):
                for walk, words in WALKS.items():
                    if is_word(member, words):
                        seen[walk].setdefault(file.removeprefix(ROOT))

    with tempfile.TemporaryDirectory() as folder:
        suite = Path(folder) / "walks.yaml"
        suite.write_text(SUITE)
        sys.argv = ["pileup", "run", str(suite), "--quiet", "--out", folder]
        threading.setprofile(look)
        sys.setprofile(look)
        code: object = 0
        try:
            run_and_exit()
        except SystemExit as ended:
            code = ended.code
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    for walk, files in seen.items():
        print(f"{walk}: {len(files)} files")
        if "--names" in arguments:
            print("  " + "\n  ".join(files))
    return int(str(code or 0))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
