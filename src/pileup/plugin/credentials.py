"""Who pileup is for a target, as a suite says or as the user's own surroundings do; what programs may know of it."""

from pileup.model.child_environment import handed_on
from pileup.model.suite import Credentials
from pileup.model.surroundings import DISCOVER, Surroundings, look, surroundings

__all__ = ["DISCOVER", "Credentials", "Surroundings", "handed_on", "look", "surroundings"]
