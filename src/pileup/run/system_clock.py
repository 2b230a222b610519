"""How right the clock of this machine is, as its kernel knows it (adjtimex(2))."""

from __future__ import annotations

import ctypes
import sys

UNSYNCHRONISED = 0x40
"""STA_UNSYNC of `status`."""
LONG, INT = ctypes.c_long, ctypes.c_int


class _Timex(ctypes.Structure):
    """`struct timex` of Linux on 64 bits; only the first fields are read."""

    _fields_ = (
        ("modes", ctypes.c_uint),
        ("offset", LONG),
        ("freq", LONG),
        ("maxerror", LONG),
        ("esterror", LONG),
        ("status", INT),
        ("rest", LONG * 32),
    )


def clock_error() -> int | None:
    """Return the bound of the error of this clock against UTC, ns; None: nothing keeps it right, or it is not known."""
    if sys.platform != "linux":
        return None
    told = _Timex(modes=0)  # only asks
    try:
        state = ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.byref(told))
    except (OSError, AttributeError):
        return None
    return None if state < 0 or told.status & UNSYNCHRONISED else int(told.maxerror) * 1000
