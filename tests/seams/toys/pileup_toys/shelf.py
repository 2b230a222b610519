"""A target that keeps files, with a client that can send them to another target."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pileup.plugin import Call, ClientSpec, Entry, FileTarget, NotThere, ProgramClient, Target

PIECE = 4096


class Shelf(FileTarget):
    """A folder of this machine, as a system that copies to others by itself."""

    kind = "toy-shelf"

    def client(self) -> ClientSpec:
        """Let the engine make ready and clean up."""
        return ClientSpec("posix", {"root": self.url})

    def program_client(self) -> Callable[[int], ProgramClient]:
        """Do the steps of native tests."""
        return lambda number: ShelfClient(self)

    def problem_of(self, step: Any) -> str:
        """Say what it cannot do."""
        return ShelfClient.problem(step)

    def at(self, path: str) -> Path:
        """Return where a path is. Raises NotThere for nothing."""
        found = Path(self.url) / path.strip("/")
        if not found.exists():
            raise NotThere("nothing is there")
        return found

    def list(self, path: str) -> list[Entry]:
        """List a folder."""
        return [self.stat(f"{path}/{each.name}") for each in sorted(self.at(path).iterdir())]

    def stat(self, path: str) -> Entry:
        """Look at one."""
        found = self.at(path)
        return Entry(found.name, found.stat().st_size if found.is_file() else 0, found.is_dir())

    def read(self, path: str) -> Iterator[bytes]:
        """Yield the content of a file."""
        yield self.at(path).read_bytes()

    def write(self, path: str, data: bytes) -> None:
        """Write a file."""
        (Path(self.url) / path).write_bytes(data)

    def delete(self, path: str) -> None:
        """Remove a file or an empty folder."""
        found = self.at(path)
        (found.rmdir if found.is_dir() else found.unlink)()

    def mkdir(self, path: str) -> None:
        """Make a folder."""
        (Path(self.url) / path).mkdir(exist_ok=True)


class ShelfClient(ProgramClient):
    """What it can do is what it has methods for."""

    name = "shelf"

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def write(self, call: Call, pieces: Iterator[bytes], size: int) -> None:
        """Write a file."""
        call.leaves()
        with (Path(self._shelf.url) / call.key).open("wb") as file:
            file.writelines(pieces)

    def copy(self, call: Call, to: Target, key: str) -> None:
        """Send a file to another target, which is a folder of this machine too."""
        call.leaves()
        with self._shelf.at(call.key).open("rb") as source, (Path(to.url) / key).open("wb") as sink:
            while piece := source.read(PIECE):
                call.came(sink.write(piece))
