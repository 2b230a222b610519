"""tools/trained.py: what a build is told of the profile of its compiler, and that it is told nothing without one."""

from pathlib import Path

import pytest

from tests.support import tool

TRAINED, BUILD = tool("trained"), tool("build")


@pytest.fixture
def here() -> tuple[str, str]:
    """Release and host of the compiler that is here."""
    release, host = TRAINED.compiler()
    return release, host


def test_without_a_profile_of_this_compiler_nothing_is_told(tmp_path: Path, here: tuple[str, str]) -> None:
    TRAINED.profile("1.0.0", here[1], tmp_path).touch()
    TRAINED.profile(here[0], "m68k-unknown-linux-gnu", tmp_path).touch()
    assert TRAINED.settings(tmp_path) == {}


def test_a_build_is_told_its_profile_and_its_target(tmp_path: Path, here: tuple[str, str]) -> None:
    folder = tmp_path / "a folder with spaces"
    folder.mkdir()
    kept = TRAINED.profile(*here, folder)
    kept.touch()
    told = TRAINED.settings(folder)
    assert told["CARGO_BUILD_TARGET"] == here[1]
    assert f"-Cprofile-use={kept}" in told["CARGO_ENCODED_RUSTFLAGS"].split("\x1f")


@pytest.mark.parametrize(
    ("given", "flags"),
    [
        ({}, ["-Cone"]),
        ({"RUSTFLAGS": "-Ctwo  -Cthree"}, ["-Ctwo", "-Cthree", "-Cone"]),
        (
            {"CARGO_ENCODED_RUSTFLAGS": "-Ctwo\x1f-Lall my=a b", "RUSTFLAGS": "-Cnot"},
            ["-Ctwo", "-Lall my=a b", "-Cone"],
        ),
        ({"CARGO_ENCODED_RUSTFLAGS": ""}, ["-Cone"]),
    ],
)
def test_flags_of_the_user_are_kept(given: dict[str, str], flags: list[str]) -> None:
    assert TRAINED.built_for("here", "-Cone", given=given)["CARGO_ENCODED_RUSTFLAGS"].split("\x1f") == flags


def test_another_profile_is_another_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BUILD, "FOLDER", tmp_path)
    states = {BUILD.wanted()}
    kept = tmp_path / "1.0.0-here.profdata"
    for content in (b"one", b"two"):
        kept.write_bytes(content)
        states.add(BUILD.wanted())
    kept.unlink()
    assert len(states) == 3 and BUILD.wanted() in states
