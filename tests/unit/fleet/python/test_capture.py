"""What iterations print stays apart, whatever thread prints it."""

import io
import sys
import threading

import pytest

from pileup.fleet.python.capture import LARGEST, Buffer, Capture, routed


def test_threads_that_print_at_the_same_time_have_a_text_each() -> None:
    texts: dict[int, str] = {}
    meet = threading.Barrier(8)

    def work(number: int) -> None:
        capture = Capture()
        meet.wait()
        for line in range(50):
            print(number, line)
        print("error", number, file=sys.stderr)
        texts[number] = "".join(text for _, text in capture.take())
        capture.end()

    with routed():
        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for number, text in texts.items():
        assert text == "".join(f"{number} {line}\n" for line in range(50)) + f"error {number}\n"


def test_outside_of_an_iteration_text_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    behind = io.StringIO()
    monkeypatch.setattr(sys, "stdout", behind)
    with routed():
        print("before")
        capture = Capture()
        print("inside")
        taken = capture.take()
        capture.end()
        print("after")
        assert not sys.stdout.isatty()
    assert behind.getvalue() == "before\nafter\n"
    assert taken == (("stdout", "inside\n"),)
    assert sys.stdout is behind


def test_each_iteration_has_what_it_printed_itself() -> None:
    with routed():
        capture = Capture()
        print("one")
        first = capture.take()
        second = capture.take()
        print("three", file=sys.stderr)
        third = capture.take()
        capture.end()
    assert (first, second, third) == ((("stdout", "one\n"),), (), (("stderr", "three\n"),))


def test_a_flood_is_cut_and_says_so() -> None:
    buffer = Buffer()
    for _ in range(3):
        buffer.write("x" * (LARGEST // 2 + 1))
    text = buffer.text()
    assert len(text) < LARGEST + 100
    assert text.endswith(f"[{LARGEST // 2 + 3} more characters cut]\n")
