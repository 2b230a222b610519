"""The description of generated files, which queries take: a JSON file, read with checks."""

from __future__ import annotations

import fcntl
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pileup.builtin.analysis.histograms import Truth, added
from pileup.plugin import Failed, FileTarget, NotThere
from pileup.plugin.coordinator import Plain

NAME = "dataset.json"
"""The file of a folder that describes its data set."""
PART = ".part.json"
"""Suffix of the description of one file, which is beside it."""
AGAIN = "generate it again, in another folder"
LARGEST = 1 << 30
"""Bytes of a description that are read."""


class _Plain(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Recipe(_Plain):
    """What the content of every file follows from."""

    model: Literal["event", "wide"]
    storage: Literal["ttree", "rntuple"]
    codec: str
    seed: int
    events: int = Field(ge=1)
    """Events of a file."""
    cluster: int = Field(ge=1)
    """Events of a cluster, the last one may have fewer."""

    def edges(self) -> list[int]:
        """Return where the clusters of a file begin, and its end."""
        return [*range(0, self.events, self.cluster), self.events]


class DataFile(_Plain):
    """One file of a data set."""

    name: str = Field(pattern=r"^[^/]+$")
    number: int = Field(ge=0)
    place: str
    """The host that made it."""
    bytes: int = Field(ge=1)
    events: int = Field(ge=1)
    clusters: list[int]
    sha256: str
    truth: dict[str, Truth]


class DataSet(_Plain):
    """A data set: its files, and the sum of their histograms."""

    pileup_data_set: Literal[1] = 1
    tree: str
    recipe: Recipe
    events: int
    files: list[DataFile] = Field(min_length=1)
    truth: dict[str, Truth]

    @classmethod
    def of(cls, recipe: Recipe, files: list[DataFile]) -> DataSet:
        """Describe these files."""
        ordered = sorted(files, key=lambda file: file.number)
        truth = added([file.truth for file in ordered])
        return cls(tree=TREE, recipe=recipe, events=sum(file.events for file in ordered), files=ordered, truth=truth)

    def without_truth(self) -> Plain:
        """Return it as plain data without histograms: what a worker needs to know."""
        files = [file.model_copy(update={"truth": {}}) for file in self.files]
        return self.model_copy(update={"truth": {}, "files": files}).model_dump(mode="json")


TREE = "events"
"""Name of the TTree or RNTuple."""


class _Part(_Plain):
    recipe: Recipe
    file: DataFile


def write_part(folder: Path, recipe: Recipe, file: DataFile) -> None:
    """Write the description of one file beside it: it is complete then."""
    path = folder / f"{file.name}{PART}"
    passing = path.with_suffix(".tmp")
    passing.write_text(_Part(recipe=recipe, file=file).model_dump_json(), encoding="utf-8")
    passing.replace(path)


def read_part(folder: Path, name: str) -> tuple[Recipe, DataFile] | None:
    """Return the description of one file; None where there is none that can be read."""
    try:
        found = _Part.model_validate_json((folder / f"{name}{PART}").read_bytes())
    except (OSError, ValidationError):
        return None
    return found.recipe, found.file


def describe(folder: Path, recipe: Recipe) -> DataSet | None:
    """Write the description of all files of a recipe that are in a folder; None where there are none."""
    with _alone(folder):
        parts = [read_part(folder, path.name.removesuffix(PART)) for path in folder.glob(f"*{PART}")]
        files = [part[1] for part in parts if part is not None and part[0] == recipe]
        if not files:
            return None
        found = DataSet.of(recipe, files)
        passing = folder / f".{NAME}"
        passing.write_text(found.model_dump_json(), encoding="utf-8")
        passing.replace(folder / NAME)
    return found


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let one process at a time describe a folder."""
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def load(target: FileTarget, path: str) -> DataSet:
    """Read a description. Raises Failed when it is not there or is none."""
    what = f"{target.url.rstrip('/')}/{path}"
    try:
        data = b""
        for piece in target.read(path):
            data += piece
            if len(data) > LARGEST:
                raise Failed(f"{what} has more than {LARGEST} bytes", "the description of a data set", AGAIN)
        return DataSet.model_validate_json(data)
    except (NotThere, FileNotFoundError) as problem:
        hint = "run analysis.generate first, with the same `folder`"
        raise Failed(f"there is no data set {what}", "the description that analysis.generate writes", hint) from problem
    except ValidationError as problem:
        first = problem.errors(include_url=False)[0]
        at = ".".join(map(str, first["loc"])) or "the file"
        told = f"{what} is not the description of a data set: {at}: {first['msg']}"
        raise Failed(told, "what analysis.generate writes", AGAIN) from problem


class Missing(Failed):
    """A file of a data set is not there."""


def check_file(target: FileTarget, folder: str, file: DataFile, content: bool) -> None:
    """Raise Failed unless a file is there with its size and, for `content`, its hash."""
    path = f"{folder}/{file.name}".lstrip("/")
    what = f"{target.url.rstrip('/')}/{path}"
    try:
        size = target.stat(path).size
    except (NotThere, FileNotFoundError) as problem:
        raise Missing(f"{what} of the data set is missing", f"a file of {file.bytes} bytes", AGAIN) from problem
    if size != file.bytes:
        told = "truncated: it has" if size < file.bytes else "another file: it has"
        raise Failed(f"{what} is {told} {size} bytes", f"{file.bytes}, as the data set says", AGAIN)
    if content and (found := _hash(target, path)) != file.sha256:
        raise Failed(f"{what} has changed: its sha256 is {found[:16]}…", f"{file.sha256[:16]}…", AGAIN)


def _hash(target: FileTarget, path: str) -> str:
    digest = hashlib.sha256()
    for piece in target.read(path):
        digest.update(piece)
    return digest.hexdigest()


def file_hash(path: Path) -> str:
    """Return the sha256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
