"""How right a clock is: what the kernel says, or that nobody knows."""

import ctypes
from types import SimpleNamespace

import pytest

from pileup.run import system_clock


def kernel(state: int, status: int) -> SimpleNamespace:
    def adjtimex(told) -> int:
        told._obj.maxerror, told._obj.status = 1200, status
        return state

    return SimpleNamespace(adjtimex=adjtimex)


@pytest.mark.parametrize(
    ("found", "error"),
    [(kernel(0, 0), 1_200_000), (kernel(5, 0x40), None), (kernel(-1, 0), None), (SimpleNamespace(), None)],
    ids=["kept right", "not synchronised", "refused", "no such call"],
)
def test_the_error_is_that_of_the_kernel(monkeypatch: pytest.MonkeyPatch, found, error) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: found)
    assert system_clock.clock_error() == error


def test_this_kernel_answers() -> None:
    known = system_clock.clock_error()
    assert known is None or 0 <= known < 10**12
    told = system_clock._Timex(modes=0)
    assert ctypes.CDLL(None).adjtimex(ctypes.byref(told)) >= 0
