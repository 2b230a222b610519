"""Every mistake at once: one hides no other, and what follows from one is not told."""

from pathlib import Path

import pytest

from pileup.model.errors import Problem, SuiteError
from pileup.suite import load

MANY = """pileup: 1
title: Copy stress
targts:
  extra: {kind: posix}
targets:
  se: {kind: posix, url: /tmp, optoins: {}}
tests:
  - name: fill
    use: storage.wriet
    target: se
    options: {file: 100, size: 64 MiBs}
  - name: copy
    use: storage.copy
    target: sse
    after: [fil]
    options: {files: ten, size: 64 MiB}
    load: {clients: 4, fro: 10 s}
  - {name: third, use: noop, load: {clients: 2, for: 10 mins}}
  - {name: fourth, use: noop, load: {clients: 2}, tmeout: 3}
criteria:
  - {id: C1, says: x, check: rate(copy.bytes) >= 200 MBB/s}
  - {id: C1, says: x, check: p99(copie.response) < 2 s}
"""


def problems(text: str, folder: Path) -> list[Problem]:
    """What is wrong with a suite."""
    path = folder / "suite.yaml"
    path.write_text(text)
    with pytest.raises(SuiteError) as caught:
        load(path)
    return list(caught.value.problems)


def test_every_mistake_is_told_with_its_code(tmp_path: Path) -> None:
    found = [(each.place.line if each.place else 0, str(each.code)) for each in problems(MANY, tmp_path)]
    assert found == [
        (3, "unknown-key"),
        (6, "unknown-key"),
        (9, "unknown-plugin"),
        (11, "unknown-option"),
        (11, "wrong-quantity"),
        (14, "unknown-name"),
        (15, "unknown-name"),
        (16, "wrong-quantity"),
        (17, "unknown-key"),
        (18, "wrong-quantity"),
        (19, "unknown-key"),
        (19, "wrong-quantity"),
        (21, "wrong-check"),
        (22, "duplicate-name"),
        (22, "wrong-check"),
    ]


def test_what_follows_from_a_misspelled_word_is_not_told(tmp_path: Path) -> None:
    text = "pileup: 1\ntitle: x\ntests:\n  - {name: a, use: noop, load: {clients: 2, duration_of_it: 10 s}}\n"
    (only,) = problems(text, tmp_path)
    assert only.code == "unknown-key"


def test_mistakes_of_faults_are_told_beside_others(tmp_path: Path) -> None:
    text = """pileup: 1
title: x
tests:
  - {name: a, use: noop, load: {clients: 2, for: 10}}
faults:
  - {at: 1 s, do: restart, target: nix}
  - {at: 1 s, do: command, run: echo, during: [b]}
"""
    found = [(each.place.line if each.place else 0, str(each.code)) for each in problems(text, tmp_path)]
    assert found == [(4, "wrong-quantity"), (6, "unknown-name"), (7, "unknown-name")]


def test_the_line_is_shown_and_never_a_secret(tmp_path: Path) -> None:
    text = """pileup: 1
title: x
variables: {word: hunter2hunter2}
targets:
  se: {kind: webdav, url: "https://se/", credentials: {token: abcdef-secret, tokne: x}}
  other:
    kind: webdav
    url: https://se/
    options: {headers: {X-Thing: header-secret}, nix: 1}
    credentials:
      password: $word
      usr: me
tests:
  - {name: a, use: nix}
"""
    found = problems(text, tmp_path)
    shown = {each.place.line: each.place.source for each in found if each.place}
    assert shown[14] == "  - {name: a, use: nix}"
    assert shown[5] == shown[9] == shown[12] == ""
    assert not any(secret in line for line in shown.values() for secret in ("secret", "hunter2"))


def test_of_a_file_that_cannot_be_read_no_line_is_shown_where_it_speaks_of_secrets(tmp_path: Path) -> None:
    (closed,) = problems("pileup: 1\ncredentials: {token: x\nabc: [\n", tmp_path)
    (shown,) = problems("pileup: 1\ntitle: [x\nabc: {\n", tmp_path)
    assert closed.place is not None
    assert closed.place.source == ""
    assert shown.place is not None
    assert shown.place.source
