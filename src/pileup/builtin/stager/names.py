"""Files of the practice library by the cartridge that they lie on."""

from __future__ import annotations

import hashlib
import secrets

from pileup._core._native import TapeLibrary


class FileNames:
    """Names of files on tape, each given once.

    The files of the library are numbers, and their cartridges are drawn. What a test wants together is given names that
    lie on one cartridge. Every process begins at another number, so that none asks for the file of another.
    """

    def __init__(self, rules: str, files: int) -> None:
        self._library = TapeLibrary(rules, 1, 0, 0)
        self._files = files
        self._begin = secrets.randbelow(files)
        self._given: dict[int, int] = {}
        """Cartridge -> how many numbers after the begin were looked at for it."""

    def take(self, folder: str) -> str:
        """Return the name of a file that nobody has, on the cartridge that has the files of a folder."""
        digest = hashlib.blake2b(folder.encode(), digest_size=8).digest()
        cartridge = self._library.cartridge(int.from_bytes(digest, "little"))
        place = self._given.get(cartridge, 0)
        while self._library.cartridge((self._begin + place) % self._files) != cartridge:
            place += 1
        self._given[cartridge] = place + 1
        return f"{(self._begin + place) % self._files:07d}"
