"""The values of a launcher's words in braces: folders, ports that stay the same over restarts, host and user."""

from __future__ import annotations

import getpass
import os
import pwd
import random
import re
import shutil
import socket
from collections.abc import Mapping
from pathlib import Path

from pileup.model.errors import TargetError
from pileup.plugin import File
from pileup.record import files
from pileup.run.servers import scratch

WORD = re.compile(r"\{(folder|short|host|user|again|port(?::(\w+))?)\}")
MAIN = "main"
FIRST_PORT = 10_240
RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")


class PlaceholderValues:
    """The words of one target. What is written for a service user is reached without following links of his."""

    def __init__(self, folder: Path, user: str, nonce: str = "") -> None:
        self.folder = folder
        self._nonce = nonce or scratch.new_nonce()
        self.user = user if os.geteuid() == 0 else ""
        """Who runs the processes, when that is not who runs pileup."""
        self.short: Path | None = None
        """The folder with a short path, made when it is first asked for."""
        self.starts = 0
        """How often it was started."""
        self._ports: dict[str, int] = {}

    def fill(self, text: str) -> str:
        """Return a text with its words filled in. Raises TargetError when no port is free."""
        return WORD.sub(self._word, text)

    def fill_all(self, texts: tuple[str, ...]) -> list[str]:
        """Return texts with their words filled in."""
        return [self.fill(text) for text in texts]

    def environment(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return variables with the words of their values filled in."""
        return {name: self.fill(value) for name, value in given.items()}

    def port(self, name: str = MAIN) -> int:
        """Return the port of that name: free when it is first asked for, the same ever after."""
        if name not in self._ports:
            self._ports[name] = _free_port(set(self._ports.values()))
        return self._ports[name]

    def write(self, wanted: tuple[File, ...]) -> None:
        """Make the folder of the target and write files into it. Raises TargetError when that cannot be done."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with files.folder_beneath(self.folder, ()) as descriptor:
                os.fchown(descriptor, self.owner, -1)
            for file in wanted:
                self._write(file)
        except OSError as problem:
            raise TargetError(
                f"{problem.filename} cannot be written: {problem.strerror}", "room and permission in the run folder"
            ) from problem

    def remove(self) -> None:
        """Remove the folder with the short path."""
        if self.short is not None:
            shutil.rmtree(self.short, ignore_errors=True)
            self.short = None

    def _write(self, file: File) -> None:
        base, names = self._beneath(self.folder / self.fill(file.path))
        if not names:  # a folder that is there, as {short}
            with files.folder_beneath(base, ()) as folder:
                os.fchmod(folder, file.mode)
            return
        with files.folder_beneath(base, names[:-1]) as folder:
            if file.keep and _is_there(names[-1], folder):
                return
            if file.content is None:
                files.put_folder(folder, names[-1], file.mode, self.owner)
                return
            text = self.fill(file.content).encode() if isinstance(file.content, str) else file.content
            files.put(folder, names[-1], text, file.mode, self.owner)

    def _beneath(self, path: Path) -> tuple[Path, tuple[str, ...]]:
        """Return the folder of pileup's own that a path is beneath, and the names from there."""
        for base in (self.short, self.folder):
            if base is not None and path.is_relative_to(base):
                return base, path.relative_to(base).parts
        return path.parent, (path.name,)

    @property
    def owner(self) -> int:
        """Number of who runs the processes; -1: who runs pileup. Raises TargetError when there is no such user."""
        try:
            return pwd.getpwnam(self.user).pw_uid if self.user else -1
        except KeyError:
            raise TargetError(f"there is no user {self.user!r}", "a user of this machine") from None

    def make(self, path: Path) -> None:
        """Make a folder for the processes, theirs. Raises OSError, also when a link is on the way."""
        base, names = self._beneath(path)
        with files.folder_beneath(base, names) as folder:
            os.fchown(folder, self.owner, -1)

    def _word(self, found: re.Match[str]) -> str:
        word, port = found.group(1), found.group(2)
        if word.startswith("port"):
            return str(self.port(port or MAIN))
        if word == "short":
            return str(self._short())
        if word == "user":
            return self.user or getpass.getuser()
        again = f"-{self.starts}" if self.starts > 1 else ""
        return {"folder": str(self.folder), "host": socket.gethostname().partition(".")[0], "again": again}[word]

    def _short(self) -> Path:
        if self.short is None:
            self.short = scratch.make(self._nonce, scratch.plain_base())
            os.chown(self.short, self.owner, -1, follow_symlinks=False)
        return self.short


def _is_there(name: str, folder: int) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _free_port(taken: set[int]) -> int:
    """Return a free port below those that the kernel gives to clients: none of them takes it during a restart."""
    last = int(RANGE.read_text().split()[0]) if RANGE.exists() else 32_768
    candidates = range(FIRST_PORT, last) if last > FIRST_PORT + 1000 else range(FIRST_PORT, 65_536)
    for _ in range(1000):
        port = random.choice(candidates)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in taken:
            return port
    raise TargetError("no free port of 127.0.0.1 was found", "a free one among many", "is something using them all?")
