"""Frozen types that every other layer speaks: suite, plan, program, record, results, verdicts, units, errors.

May import nothing of pileup.
"""
