"""Opens the fleet that a suite asks for."""

from __future__ import annotations

from pileup.fleet.fleet import Fleet
from pileup.fleet.place import LocalPlace
from pileup.model.errors import TargetError
from pileup.model.plan import Plan
from pileup.model.suite import Places
from pileup.record import RunFolder


def open_fleet(  # noqa: PLR0917  what a place must know
    places: Places, folder: RunFolder, plan: Plan, urls: dict[str, str], first: int, environment: dict[str, str]
) -> Fleet:
    """Return the fleet of `places`, numbered from `first` on.

    `urls` has the address of every open target, `environment` the variables of the places' processes (empty: as here).
    Raises TargetError when a place cannot be opened.
    """
    if places.local:
        return Fleet([LocalPlace(first, folder.operations_path(first))])
    raise TargetError("places in other processes are not there yet", "places: local")
