"""A number of clients."""

from __future__ import annotations

from typing import ClassVar

from pileup.model.loads.shape import Kind, Shape, number_words


class ClientsShape(Shape):
    """A number of clients; each begins again when its last iteration has ended."""

    __slots__ = ()
    word: ClassVar[str] = "clients"

    @property
    def kind(self) -> Kind:
        """It is closed."""
        return "closed"

    @property
    def words(self) -> str:
        """`closed, 100 clients for 10 s`."""
        return f"closed, {number_words(self.load.clients or 1, 'client')}{self.end_words}"
