"""Generate ROOT files in place."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Literal

from pileup.builtin.analysis.data_set import NAME, DataFile, Recipe, describe, file_hash, read_part, write_part
from pileup.builtin.analysis.packages import require
from pileup.builtin.analysis.writing import Codec, name_of, write_file
from pileup.builtin.storage.files import FolderPath, place_of
from pileup.plugin import Ask, Coordinator, Count, Op, Refused, Reply, Test, option

require("uproot", "awkward", "hist")


class Describing(Coordinator):
    """Describes the files of all places where pileup was started."""

    def __init__(self, folder: Path, recipe: Recipe) -> None:
        self._folder = folder
        self._recipe = recipe

    def take(self, asks: Sequence[Ask], now: int) -> Iterator[Reply]:
        """Keep the description of a file."""
        for ask in asks:
            write_part(self._folder, self._recipe, DataFile.model_validate(ask.told["file"]))
            yield Reply(ask.client, {})

    def close(self) -> None:
        """Describe all of them."""
        describe(self._folder, self._recipe)


class AnalysisGenerate(Test):
    """Generate ROOT files in place, at each place on its own disk, for `analysis.query`.

    One iteration writes one file, as the operation `generate`; its number follows from that of the iteration. `load:
    {times: 8}` makes 8 files: with two nodes, 4 each. Models: `event`, an event of about 600 tracks with 20 members (48
    kB), and `wide`, 60 lists of 50 members each, about 3,000 branches (72 kB). The values follow from the `seed` of the
    suite, the number of the file and of the cluster, so they are the same in every run.

    Each file has a description beside it, and the folder `dataset.json`: files, places, events, clusters, sizes,
    sha256, and histograms of the values before they were written (the truth). At the host where pileup was started it
    has the files of all places, at others those that are there. The files are in the run's own folder and
    removed at the end of the run. With `folder: /sets/big`, below the url of the target itself, they remain: a later
    run takes a file over, as the operation `reuse`, if its description and its content are what it would write, and
    refuses to overwrite another. Each file reports `events` and `cpu`, s of CPU time of the whole process. Needs `pip
    install 'pileup[analysis]'`.
    """

    name = "analysis.generate"
    needs = "posix"

    folder: FolderPath = option(
        "", help="folder of the files, in the run's own folder; with a slash at its begin below the url of the target"
    )
    model: Literal["event", "wide"] = option("event", help="what the events are like")
    storage: Literal["ttree", "rntuple"] = option("ttree", help="how they are stored")
    events: Count = option(10_000, ge=1, le=10_000_000, help="events of a file")
    cluster: Count = option(1000, ge=1, le=1_000_000, help="events of a cluster, which is read as a whole")
    codec: Codec = option("zstd5", help="compression and its level")

    def coordinator(self) -> Coordinator:
        """Return what describes the files of all places in one data set."""
        self.setup()
        return Describing(self._folder, self._recipe)

    def setup(self) -> None:
        """Make the folder."""
        self._recipe = Recipe(
            model=self.model,
            storage=self.storage,
            codec=self.codec,
            seed=self.context.seed,
            events=self.events,
            cluster=min(self.cluster, self.events),
        )
        place = place_of(self.folder, self.context.own)
        # the target refuses what leads out of it, or out of `limits.inside`
        for parent in reversed(PurePosixPath(place).parents):
            if not (self.target.root / parent).exists():
                self.target.mkdir(str(parent))
        self.target.mkdir(place)
        self._folder: Path = self.target.root / place

    def run(self, op: Op) -> None:
        """Make the next file."""
        name = name_of(self._recipe, op.number)
        path = self._folder / name
        if path.exists():
            self._describe(self._take_over(op, path))
            return
        before = time.process_time()
        with op("generate", name) as generating:
            made = write_file(path, self._recipe, op.number)
            generating.bytes = made.bytes
        write_part(self._folder, self._recipe, made)
        self._describe(made)
        self.report("events", made.events)
        self.report("cpu", time.process_time() - before, "s")

    def _describe(self, file: DataFile) -> None:
        self.ask({"file": file.model_dump(mode="json")})

    def _take_over(self, op: Op, path: Path) -> DataFile:
        known = read_part(self._folder, path.name)
        with op("reuse", path.name) as reusing:
            reusing.bytes = path.stat().st_size
            if known is None or known[0] != self._recipe or known[1].sha256 != file_hash(path):
                told = f"{path} exists, and is not what this run would write"
                raise Refused(told, "a folder without it", "choose another `folder`, or remove the file")
        return known[1]

    def teardown(self) -> None:
        """Describe what is there now, and keep the description with the case."""
        if describe(self._folder, self._recipe) is not None:
            # the same for all clients of a place; the last one describes all files
            (self.context.artefacts / NAME).write_bytes((self._folder / NAME).read_bytes())
