"""Tests that misbehave in every way that a plug-in of somebody may."""

import ctypes
import os
import sys
import threading
import time

from pileup.plugin import Op, Program, Test


class Tame(Test):
    """Behaves."""

    def run(self, op: Op) -> None:
        """Pass."""


class FailsInSetUp(Test):
    """Cannot be set up."""

    def setup(self) -> None:
        raise RuntimeError("no licence to be had")

    def run(self, op: Op) -> None:
        """Is never reached."""


class Hangs(Test):
    """Never comes back, and holds what it has."""

    def run(self, op: Op) -> None:
        with op("wait for ever"):
            time.sleep(3600)


class Spins(Test):
    """Never comes back, and takes all the CPU it gets."""

    def run(self, op: Op) -> None:
        while True:
            pass


class Exits(Test):
    """Ends the process in the way that Python knows."""

    def run(self, op: Op) -> None:
        sys.exit("enough of this")


class Vanishes(Test):
    """Ends the process behind Python's back."""

    def run(self, op: Op) -> None:
        os._exit(3)


class Crashes(Test):
    """Reads where nothing is, as a client library in C may."""

    def run(self, op: Op) -> None:
        ctypes.string_at(0)


class Floods(Test):
    """Prints more than anybody reads."""

    def run(self, op: Op) -> None:
        for _ in range(100):
            print("x" * 1_000_000)
            print("y" * 1_000_000, file=sys.stderr)


class ReturnsNonsense(Test):
    """Returns what means nothing."""

    def run(self, op: Op) -> object:
        return {"passed": 42}


class RaisesWithoutWords(Test):
    """Raises what cannot even be shown."""

    def run(self, op: Op) -> None:
        class Mute(Exception):
            def __str__(self) -> str:
                raise ValueError("no words")

        raise Mute


class RaisesInTeardown(Test):
    """Passes, then cannot give back what it took."""

    def run(self, op: Op) -> None:
        """Pass."""

    def teardown(self) -> None:
        raise OSError("the connection was gone already")


class LeaksThreads(Test):
    """Leaves threads behind that Python would wait for at its end."""

    def run(self, op: Op) -> None:
        for _ in range(20):
            threading.Thread(target=time.sleep, args=(3600,), daemon=False).start()


class Recurses(Test):
    """Goes too deep."""

    def run(self, op: Op) -> None:
        self.run(op)


class HasNoProgram(Test):
    """Promises a program for the engine and has none."""

    def program(self) -> Program:
        raise LookupError("which program?")
