"""Credentials for a target, from the suite or from the user's environment, and which of them programs may see."""

from pileup.model.child_environment import handed_on
from pileup.model.suite import Credentials, IssuerSpec
from pileup.model.surroundings import DISCOVER, Surroundings, look, surroundings

__all__ = ["DISCOVER", "Credentials", "IssuerSpec", "Surroundings", "handed_on", "look", "surroundings"]
