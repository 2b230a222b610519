"""A native test with a second target."""

from typing import ClassVar

from pileup.plugin import Content, Destination, Keys, Program, Size, Step, Test, option


class Send(Test):
    """Write files to a target and let it copy them to another one."""

    name = "toys.send"
    needs: ClassVar = {"near": "files", "far": "files"}

    files: int = option(3, ge=1, help="number of files")
    size: Size = option("10 KiB", help="size of each")
    folder: str = option("", help="folder there, in the place of the run's own")

    def program(self) -> Program:
        """Return the steps for all files."""
        there = self.folder or self.context.owns["far"]
        keys, others = (Keys(f"{folder}/f".lstrip("/"), self.files) for folder in (self.context.own, there))
        content = Content(self.context.seed, self.size)
        write = Step("write", "write", keys, content=content)
        copy = Step("copy", "copy", keys, content=content, destination=Destination("far", others))
        return Program((write, copy), repeat=self.files)
