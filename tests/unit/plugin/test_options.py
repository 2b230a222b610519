"""Options of plug-ins: declared by annotations, checked by type and bounds."""

from __future__ import annotations

from typing import ClassVar, Literal

import pytest
from pydantic import ValidationError

from pileup.plugin import Count, Duration, Fraction, Size, Test, option
from pileup.plugin.options import assign, declared, options_model


class Base(Test):
    """Has options that others inherit."""

    size: Size = option(1024, ge=1, help="how large")
    shared: ClassVar[int] = 3
    _hidden: int = 4


class Derived(Base):
    """Adds some, and changes one."""

    path: str
    size: Size = option("2 KiB", help="how large")
    wait: Duration | None = None
    mode: Literal["a", "b"] = "a"
    share: Fraction = 0.5
    files: Count = 10
    tags: list[str] = option([])
    copy: bool = False  # type: ignore[assignment]
    model_name: str = ""


def test_bases_come_first_and_the_last_declaration_counts() -> None:
    assert list(declared(Base)) == ["size"]
    names = ["size", "path", "wait", "mode", "share", "files", "tags", "copy", "model_name"]
    assert list(declared(Derived)) == names
    assert declared(Derived)["size"][1].default == "2 KiB"


def test_text_and_numbers_become_typed_values() -> None:
    test = Derived(path="/a", size="3 MB", wait="1.5 s", share="5 %", files="1e3", mode="b", copy="true")
    values = (test.size, test.wait, test.share, test.files, test.mode, test.copy)
    assert values == (3_000_000, 1_500_000_000, 0.05, 1000, "b", True)
    assert Derived(path="/a").size == 2048


def test_defaults_are_not_shared_between_instances() -> None:
    first = Derived(path="/a")
    first.tags.append("x")
    assert Derived(path="/a").tags == []


def test_every_wrong_option_is_told() -> None:
    with pytest.raises(ValidationError) as caught:
        Derived(size="3 s", mode="c", files="-1", sice=3)
    assert {each["loc"][0] for each in caught.value.errors()} == {"path", "size", "mode", "files", "sice"}


def test_bounds_are_in_the_base_unit() -> None:
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        Base(size="0 B")


def test_help_and_bounds_are_in_the_schema() -> None:
    size = options_model(Base).model_json_schema()["properties"]["size"]
    assert (size["description"], size["minimum"], size["x-dimension"]) == ("how large", 1, "size")


def test_a_field_may_end_with_a_line_where_its_name_is_taken():
    class Chooser:
        way_: str = option("short", help="which way")

        def way(self) -> str:
            return f"the {self.way_} one"

    assert list(declared(Chooser)) == ["way"]
    plugin = Chooser()
    assign(plugin, {"way": "long"})
    assert plugin.way() == "the long one"
    assign(plugin, {})
    assert plugin.way() == "the short one"
