"""Tests of our own: plain Python classes. See docs/tutorial.md and docs/plugins.md."""

import asyncio

from pileup.plugin import Failed, Op, Size, Test, option


class CountFiles(Test):
    """List a folder and count what is in it."""

    needs = "files"
    folder: str = option("pileup", help="folder on the target")
    at_least: int = option(1, ge=0, help="fail when fewer entries are found")

    def run(self, op: Op) -> None:
        """List once; the listing is an operation with a time of its own."""
        with op("list", self.folder) as listing:
            entries = self.target.list(self.folder)
            listing.calls = 1
        self.expect(len(entries) >= self.at_least, f"{len(entries)} entries, expected at least {self.at_least}")
        self.report("entries", len(entries))


class WriteReadBack(Test):
    """Write a small file, read it back, compare: the whole life of a file as three operations."""

    needs = "files"
    size: Size = option("16 KiB", gt=0, help="of the file")

    def run(self, op: Op) -> None:
        """Each client has a file of its own."""
        name, data = f"own-{op.client}", bytes(self.size)
        with op("write", name) as writing:
            self.target.write(name, data)
            writing.bytes = len(data)
        with op("read", name) as reading:
            found = b"".join(self.target.read(name))
            reading.bytes = len(found)
        with op("delete", name):
            self.target.delete(name)
        if found != data:
            raise Failed(f"{len(found)} bytes came back, other than the {len(data)} that were written")


class Patience(Test):
    """Wait without blocking anybody: an async test holds no thread."""

    async def run(self, op: Op) -> None:
        """Print who waits, twice: the output of each iteration stays together."""
        print(f"client {op.client} begins")
        with op("wait"):
            await asyncio.sleep(0.05)
        print(f"client {op.client} ends")
