"""run.json to its types (`model/manifest.py`) and back: the only code that knows its JSON."""

from __future__ import annotations

import json
import reprlib

from pileup.model.errors import DamagedRecord
from pileup.model.manifest import Manifest
from pileup.model.plain_json import to_json
from pileup.record import older
from pileup.record.typed_json import read

__all__ = ["from_json", "read", "text_of", "to_json"]

FORMAT = 1
LARGEST_CASE = 2**32
"""Rows of tables name a case by 32 bits."""
IDS = "an id of each case, a number from 1"


def from_json(info: object, path: object = "run.json") -> Manifest:
    """Return what run.json holds. Raises DamagedRecord when it is not ours; `path` is for the message."""
    found = info.get("format") if isinstance(info, dict) else None
    if not isinstance(info, dict) or found != FORMAT:
        hint = "use a newer pileup" if isinstance(found, int) and found > FORMAT else ""
        raise DamagedRecord(f"{path} has format {reprlib.repr(found)}", f"format {FORMAT}", hint)
    run = read(Manifest, older.completed(info), path)
    ids = [case.id for case in run.cases]
    if len(set(ids)) < len(ids) or not all(0 <= number < LARGEST_CASE for number in ids):
        raise DamagedRecord(f"{path}: 'cases' is wrong: two have one id, or one has an id that none can have", IDS)
    return run


def text_of(manifest: Manifest) -> str:
    """Return run.json, each of its values, and each entry of a list of objects, on a line of its own.

    With `indent` Python's encoder would take ten times as long, and this is written while a run goes on.
    """

    def text(value: object) -> str:
        if isinstance(value, list) and value and isinstance(value[0], dict):
            return "[\n  " + ",\n  ".join(json.dumps(each, default=str) for each in value) + "\n ]"
        return json.dumps(value, default=str)

    plain = to_json(manifest)
    return "{\n" + ",\n".join(f" {json.dumps(name)}: {text(value)}" for name, value in plain.items()) + "\n}\n"
