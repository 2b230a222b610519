"""S22: a place whose parent has fallen silent ends by itself."""

import os

from pileup.fleet.serve import Wire
from pileup.fleet.wire import encode, receive


def test_s22_a_parent_that_is_silent_is_taken_for_gone() -> None:
    source, far = os.pipe()
    sink = os.open(os.devnull, os.O_WRONLY)
    try:
        wire = Wire(source, sink)
        wire.silence = 0.05
        os.write(far, encode("ping", {"sent": 1}) + b"\x10\0\0")
        first = receive(wire.read)
        assert first is not None
        assert first.kind == "ping"
        assert receive(wire.read) is None, "the pipe is open, and nothing more comes"
    finally:
        for each in (source, far, sink):
            os.close(each)
