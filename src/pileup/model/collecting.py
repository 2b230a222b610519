"""The garbage collector of Python, and when it is in the way."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Pause the garbage collector while much is made that stays: a suite, types of modules, the results of a run.

    Scanning all of it again and again would be up to half of the work.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


SELDOM = 100_000
"""Objects that are made between two looks for garbage, in place of 700."""


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Have the garbage collector look seldom, and never at what is there: for long work with many small objects."""
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(SELDOM, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
