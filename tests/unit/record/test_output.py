"""Output of tests: whole blocks, bounded, one folder per case."""

import re
import threading

import pytest

from pileup.record import RunFolder
from pileup.record import output as module


@pytest.fixture
def folder(tmp_path):
    return RunFolder.create(tmp_path, "x", 0)


def test_each_iteration_is_a_block(folder):
    out = folder.output("copy")
    out.append("stdout", "iteration 0, client 0", "one\ntwo")
    out.append("stderr", "iteration 0, client 0", "")
    out.append("stdout", "iteration 1, client 0", "three\n")
    printed = {"stdout": "output/copy/stdout.txt", "stderr": "output/copy/stderr.txt", "tracebacks": ""}
    assert folder.output_paths("copy") == printed
    assert folder.output_paths("none") == dict.fromkeys(printed, "")
    text = folder.outputs()["output/copy/stdout.txt"]
    assert text == "--- iteration 0, client 0 ---\none\ntwo\n--- iteration 1, client 0 ---\nthree\n"
    assert [line for line in text.splitlines() if module.TITLE.match(line)][1] == "--- iteration 1, client 0 ---"


def test_blocks_of_many_threads_stay_whole(folder):
    out = folder.output("copy")

    def work(client):
        for number in range(50):
            out.append("stdout", f"iteration {number}, client {client}", f"{client} {number}\n" * 3)

    threads = [threading.Thread(target=work, args=(client,)) for client in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    text = folder.outputs()["output/copy/stdout.txt"]
    found = re.findall(r"--- iteration (\d+), client (\d) ---\n((?:\d \d+\n)+)", text)
    assert len(found) == 200
    assert all(body == f"{client} {number}\n" * 3 for number, client, body in found)


def test_an_iteration_is_cut_and_says_so(folder, monkeypatch):
    monkeypatch.setattr(module, "LARGEST_BLOCK", 10)
    folder.output("copy").append("stdout", "t", "é" * 9)
    assert folder.outputs()["output/copy/stdout.txt"] == "--- t ---\néééééé"[:15] + "\n[8 B more cut]\n"


def test_a_case_is_cut_and_says_so(folder, monkeypatch):
    monkeypatch.setattr(module, "LARGEST_CASE", 60)
    out = folder.output("copy")
    for number in range(9):
        out.append("stdout", f"{number}", "1234567890")
    out.append("stderr", "0", "fine")
    lines = folder.outputs()["output/copy/stdout.txt"].splitlines()
    assert lines == [
        "--- 0 ---",
        "1234567890",
        "--- 1 ---",
        "1234567890",
        "--- cut here: 60 B of stdout are kept of a case ---",
    ]
    assert "fine" in folder.outputs()["output/copy/stderr.txt"]


def test_names_of_cases_stay_inside_the_folder():
    names = ["copy", "../../etc", "a b", "a_b", "a/b", "", ".", "..", "x" * 300, "se.throttle=4"]
    made = [module.folder_name(name) for name in names]
    assert made[0] == "copy"
    assert len(set(made)) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}", name) for name in made)


def test_reports_get_large_output_without_its_middle(folder):
    out = folder.output("copy")
    for number in range(100):
        out.append("stdout", f"{number}", "x" * 100)
    text = folder.outputs(limit=1000)["output/copy/stdout.txt"]
    assert text.startswith("--- 0 ---")
    assert text.endswith("x\n")
    assert "left out here: see stdout.txt" in text
    assert len(text) < 1200


def test_a_full_disk_ends_the_keeping_not_the_test(folder):
    out = folder.output("copy")
    out.append("stdout", "0", "kept")
    (folder.path / "output" / "copy" / "stderr.txt").mkdir()
    out.append("stderr", "0", "lost")
    out.append("stderr", "1", "lost")
    out.append("stdout", "1", "kept too")
    (folder.path / "output" / "copy" / "stderr.txt").rmdir()
    assert list(folder.outputs()) == ["output/copy/stdout.txt"]
