"""ROOT files with the events of a recipe, written by uproot; and their histograms, which go through no file."""

from __future__ import annotations

import itertools
import socket
from collections.abc import Collection as Columns
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pileup.builtin.analysis.data_set import TREE, DataFile, Recipe, file_hash
from pileup.builtin.analysis.histograms import Truth, empty, fill_drawn, truth_of
from pileup.builtin.analysis.models import MODELS, Model, Values

if TYPE_CHECKING:
    from awkward import Array

Codec = Literal["none", "lz4", "zstd1", "zstd5", "zlib1"]


def name_of(recipe: Recipe, number: int) -> str:
    """Return the name of a file."""
    return f"{recipe.model}-{recipe.seed}-{number:05}.root"


def write_file(path: Path, recipe: Recipe, number: int) -> DataFile:
    """Write a file where none is, and return its description. Raises FileExistsError."""
    import uproot  # noqa: PLC0415  `pileup list` loads every plug-in

    model, edges = MODELS[recipe.model], recipe.edges()
    truth = empty(model, model.columns)
    path.open("xb").close()
    try:
        with uproot.recreate(path, compression=_compression(recipe.codec)) as file:
            writer = _writer(file, model, recipe.storage, len(edges) - 1)
            for cluster, (begin, end) in enumerate(itertools.pairwise(edges)):
                drawn = model.draw((recipe.seed, number, cluster), end - begin)
                writer.extend(_arrays(model, recipe.storage, drawn))
                fill_drawn(model, truth, model.columns, drawn, end - begin)
    except BaseException:
        path.unlink()
        raise
    return DataFile(
        name=path.name,
        number=number,
        place=socket.gethostname(),
        bytes=path.stat().st_size,
        events=recipe.events,
        clusters=edges,
        sha256=file_hash(path),
        truth=truth_of(truth),
    )


def expected_of(recipe: Recipe, number: int, columns: Columns[str], events: int) -> dict[str, Truth]:
    """Return the histograms of the first `events` of a file, drawn again."""
    model, edges = MODELS[recipe.model], recipe.edges()
    into = empty(model, columns)
    for cluster, (begin, end) in enumerate(itertools.pairwise(edges)):
        if begin < events:
            drawn = model.draw((recipe.seed, number, cluster), end - begin)
            fill_drawn(model, into, columns, drawn, min(events, end) - begin)
    return truth_of(into)


def _compression(codec: str) -> Any:
    import uproot  # noqa: PLC0415

    kind, level = codec.rstrip("0123456789") or codec, codec.lstrip("abcdefghijklmnopqrstuvwxyz")
    if kind == "lz":  # lz4 has its number in its name
        return uproot.LZ4(1)
    makers = {"zstd": uproot.ZSTD, "zlib": uproot.ZLIB}
    return makers[kind](int(level)) if kind in makers else None


def _writer(file: Any, model: Model, storage: str, clusters: int) -> Any:
    """Return an empty tree or ntuple with the columns of a model."""
    if storage == "ttree":
        types = {each.name: _tree_type(each) for each in model.collections}
        return file.mktree(TREE, types, initial_basket_capacity=clusters + 2)
    # from types: with arrays of no events it would begin with a cluster of none, which ROOT does not read
    return file.mkrntuple(TREE, dict(_columns(model)))


def _columns(model: Model) -> Iterator[tuple[str, str]]:
    """Yield the columns of an ntuple and their types."""
    for each in model.collections:
        yield each.counter, "int32"
        yield from ((f"{each.name}_{member.name}", "var * float32") for member in each.members)


def _tree_type(collection: Any) -> str:
    import awkward  # noqa: PLC0415

    inner = ", ".join(f'"{member.name}": float32' for member in collection.members)
    return awkward.types.from_datashape(f"var * {{{inner}}}", highlevel=False)  # type: ignore[no-any-return]


def _arrays(model: Model, storage: str, drawn: Values) -> dict[str, Array]:
    """Return values as uproot writes them: records of a tree, which have one counter, or columns of an ntuple."""
    import awkward  # noqa: PLC0415

    found: dict[str, Array] = {}
    for each in model.collections:
        counts = drawn.counts[each.name]
        columns = {
            member.name: awkward.unflatten(drawn.members[f"{each.name}_{member.name}"], counts)
            for member in each.members
        }
        if storage == "ttree":
            found[each.name] = awkward.zip(columns)
        else:
            found[each.counter] = counts
            found |= {f"{each.name}_{name}": column for name, column in columns.items()}
    return found
