"""Places that generate one load: start it, take its frames, stop it. A local run is a fleet of one place.

May import `plugin`, `record`, `model`, `_core`.
"""

from pileup.fleet.fleet import Fleet, Pressing
from pileup.fleet.opening import open_fleet
from pileup.fleet.order import Order, Work

__all__ = ["Fleet", "Order", "Pressing", "Work", "open_fleet"]
