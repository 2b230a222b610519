"""Files that tests have left, in the output folder of their case: `output/CASE/artefacts/PLACE/NAME`."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path

from pileup.record import files

FOLDER = "artefacts"
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._ -]{0,99}")
"""Names that are kept as they are; other characters become `_`."""
LARGEST = 64 << 20
"""Bytes kept of one load at one place."""
MOST = 1000
"""Files kept of one load at one place."""


class Artefacts:
    """Writes the files of one load of a case, up to the limits; the rest is skipped."""

    def __init__(self, output: Path) -> None:
        self._folder = output / FOLDER
        self._sizes: Counter[int] = Counter()
        self._files: Counter[int] = Counter()
        self._open: dict[int, str] = {}
        """Place -> the file that it sends."""

    def keep(self, place: int, name: str, piece: bytes, first: bool) -> None:
        """Append to the file that a place sends; `first` begins it. Raises OSError when the disk refuses."""
        if first:
            self._files[place] += 1
            self._open[place] = self._free(place, name)
        self._sizes[place] += len(piece)
        if place in self._open and self._sizes[place] <= LARGEST and self._files[place] <= MOST:
            with os.fdopen(files.append_to(self._folder / str(place) / self._open[place]), "ab") as file:
                file.write(piece)

    def _free(self, place: int, name: str) -> str:
        """Return the name of a file in the record that nothing has yet."""
        folder = self._folder / str(place)
        folder.mkdir(parents=True, exist_ok=True)
        plain = name if NAME.fullmatch(name) else "_" + re.sub(r"[^A-Za-z0-9._ -]", "_", name)[:90]
        number, free = 1, plain
        while (folder / free).exists():  # of a load of the same case before, as of a search
            number += 1
            free = f"{number}-{plain}"
        return free


def found(run: Path, output: str = "*") -> list[Path]:
    """Return the files that tests of a run have left, those of one case by the name of its output folder."""
    return sorted(path for path in (run / "output").glob(f"{output}/{FOLDER}/*/*") if path.is_file())
