"""Places that press one load: start it, take its frames, stop it. A local run is a fleet of one place.

May import `plugin`, `record`, `model`, `_core`.
"""

from pileup.fleet.fleet import Fleet, open_fleet
from pileup.fleet.order import Order, Work
from pileup.fleet.place import LocalPlace, Pressing

__all__ = ["Fleet", "LocalPlace", "Order", "Pressing", "Work", "open_fleet"]
