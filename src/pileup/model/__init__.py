"""Immutable types that all other layers use: suite, plan, program, record, results, verdicts, units, errors.

May import only `_core`: the engine computes the totals of a load. Everything else needs no compiled code.
"""
