"""Frozen types that every other layer speaks: suite, plan, program, record, results, verdicts, units, errors.

May import `_core` only: a load asks the engine what it comes to. All else needs no compiled code.
"""
