"""Runs in virtual time: a clock that is moved by what is due, and the record that is written by it.

    run = SimulatedRun(plan, base)
    for case in plan.cases:
        with run.case(case) as load:
            for due in load.arrivals():
                run.clock.at(due, partial(machine.arrive, load, due))  # which calls load.begin(due) and, later, end()
            load.attend()
    results = run.finish()

Nobody but who simulates imports it: a real run has neither this clock nor these loads.
"""

from pileup.run.simulation.clock import VirtualClock
from pileup.run.simulation.load import SimulatedIteration, SimulatedLoad, SimulatedOperation
from pileup.run.simulation.session import SimulatedRun

__all__ = ["SimulatedIteration", "SimulatedLoad", "SimulatedOperation", "SimulatedRun", "VirtualClock"]
