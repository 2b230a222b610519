"""Small files that go with a job, and that come back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Field

from pileup.plugin.batch import FILES_LIMIT

FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$")]
"""Name of a file in the folder of a job."""
Files = dict[FileName, str]
"""Files of a job: name there -> path here."""


def read_files(folder: Path, wanted: Mapping[str, str], option: str) -> dict[str, bytes]:
    """Return name -> content of the files of an option, whose paths are relative to a folder.

    Raises ValueError when one cannot be read, and when they are too large together.
    """
    found: dict[str, bytes] = {}
    left = FILES_LIMIT
    for name, path in wanted.items():
        try:
            with (folder / path).open("rb") as file:
                found[name] = file.read(left + 1)
        except OSError as problem:
            raise ValueError(
                f"file {path!r} of `{option}`: {problem.strerror}; expected one that can be read"
            ) from None
        left -= len(found[name])
        if left < 0:
            raise ValueError(f"`{option}` are larger than {FILES_LIMIT >> 10} KiB together; expected small ones")
    return found
