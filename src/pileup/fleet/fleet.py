"""A fleet: places that press one load together. A run on this machine alone is a fleet of the place in this process."""

from __future__ import annotations

from pileup.fleet.order import Order, Work
from pileup.fleet.place import LocalPlace, Pressing
from pileup.model.errors import TargetError
from pileup.model.plan import Plan
from pileup.model.record import Frame
from pileup.model.suite import Places
from pileup.record import Output, RunFolder


class Fleet:
    """The place in this process as a fleet."""

    def __init__(self, place: LocalPlace) -> None:
        self.places = [place]
        self._place = place

    def press(self, order: Order, work: Work, output: Output) -> Pressing:
        """Begin a load. Raises ValueError for a load or program that the engine refuses."""
        return self._place.press(order, work, output)

    def ledger_frames(self) -> list[Frame]:
        """Return what detached operations did since the last call."""
        return []

    def flush(self) -> None:
        """Bring every row so far into the record. Raises OSError when the disk refuses."""
        self._place.flush()

    def close(self) -> None:
        """End the record of the places."""
        self._place.close()


def open_fleet(
    places: Places, folder: RunFolder, plan: Plan, urls: dict[str, str], *, first: int, environment: dict[str, str]
) -> Fleet:
    """Return the fleet that a suite asks for, its places numbered from `first` on. Raises TargetError."""
    if not places.local:
        raise TargetError("places other than this process cannot be opened", "places: local")
    return Fleet(LocalPlace(first, folder))
