"""Typed options of plug-ins: plain annotated fields of a plain class.

    class ListFolder(Test):
        folder: str = "/"
        entries: int | None = option(None, ge=0, help="fail unless this many are found")

A field without a default is required. ClassVars and fields whose name begins with `_` are not options. If a name is
taken, the field may end with `_`: `client_` is the option `client`.
"""

from __future__ import annotations

import inspect
import warnings
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, get_origin, get_type_hints

if TYPE_CHECKING:
    from pydantic import BaseModel

REQUIRED: Any = ...
FIELD = "pydantic's Field, e.g. `Field(1000, ge=1, description=…)`"
"""What a model of settings is made with."""


@dataclass(frozen=True, slots=True)
class Option:
    """The declaration of one option: default (REQUIRED when there is none), help text and bounds."""

    default: Any = REQUIRED
    help: str = ""
    ge: float | None = None
    gt: float | None = None
    le: float | None = None
    lt: float | None = None
    pattern: str | None = None


def option(
    default: Any = REQUIRED,
    *,
    help: str = "",
    ge: float | None = None,
    gt: float | None = None,
    le: float | None = None,
    lt: float | None = None,
    pattern: str | None = None,
) -> Any:
    """Declare an option with a help text and bounds (in the base unit of its type); assign the result to a field."""
    return Option(default, help, ge, gt, le, lt, pattern)


def option_defaults(settings: Any) -> list[str]:
    """Return the fields of a pydantic model that were declared with `option`, which pydantic takes for a value."""
    fields = getattr(settings, "model_fields", {})
    return [name for name, found in fields.items() if isinstance(found.default, Option)]


def of_option(name: str) -> str:
    """Return what is wrong with such a field."""
    return f"{name!r} of launch_settings is declared with option(), which a pydantic model takes for its value"


def declared(cls: type) -> dict[str, tuple[Any, Option]]:
    """Return the options of a plug-in class in order: name -> (type, declaration)."""
    return dict(_declared(cls))


@cache
def _declared(cls: type) -> dict[str, tuple[Any, Option]]:
    found: dict[str, tuple[Any, Option]] = {}
    for name, hint in _hints(cls).items():
        if name.startswith("_") or get_origin(hint) is ClassVar or hint is ClassVar:
            continue
        default = getattr(cls, name, REQUIRED)
        found[name.removesuffix("_")] = (hint, default if isinstance(default, Option) else Option(default))
    return found


@cache
def _fields(cls: type) -> dict[str, str]:
    """Return the options whose name differs from that of their field, with the names of the fields."""
    return {name.removesuffix("_"): name for name in _hints(cls) if name.endswith("_")}


def _hints(cls: type) -> dict[str, Any]:
    """Annotations of the class and its bases, bases first, framework bases (marked `_framework`) left out."""
    merged: dict[str, Any] = {}
    resolved = get_type_hints(cls, include_extras=True)
    for base in reversed(cls.__mro__):
        if "_framework" not in vars(base):
            merged |= {name: resolved[name] for name in inspect.get_annotations(base)}
    return merged


@cache
def options_model(cls: type) -> type[BaseModel]:
    """Return the pydantic model that validates the options of a plug-in class."""
    from pydantic import ConfigDict, Field, create_model  # noqa: PLC0415  kept out of start-up: see cli

    fields: dict[str, Any] = {}
    for name, (hint, declaration) in declared(cls).items():
        bounds = {key: getattr(declaration, key) for key in ("ge", "gt", "le", "lt", "pattern")}
        given = {key: value for key, value in bounds.items() if value is not None}
        fields[name] = (hint, Field(declaration.default, description=declaration.help or None, **given))
    config = ConfigDict(
        extra="forbid",
        arbitrary_types_allowed=True,
        validate_default=True,
        allow_inf_nan=False,
        protected_namespaces=(),
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*shadows an attribute")  # an option may be called `copy` or `json`
        return create_model(f"{cls.__name__}Options", __config__=config, **fields)


def assign(plugin: object, values: dict[str, Any]) -> None:
    """Validate option values (text or typed) and set them on an instance.

    Raises pydantic.ValidationError with one entry per wrong option.
    """
    cls: Any = type(plugin)
    model = options_model(cls)(**values)
    for name in type(model).model_fields:
        setattr(plugin, _fields(cls).get(name, name), getattr(model, name))
