"""Runs in virtual time: a clock that is moved by what is due, and the record that is written by it."""

from pileup.run.simulation.clock import VirtualClock
from pileup.run.simulation.load import SimulatedIteration, SimulatedLoad, SimulatedOperation
from pileup.run.simulation.session import SimulatedRun

__all__ = ["SimulatedIteration", "SimulatedLoad", "SimulatedOperation", "SimulatedRun", "VirtualClock"]
