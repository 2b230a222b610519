"""The settings of the practice targets: units in, plain numbers out, mistakes named."""

import json

import pytest
from pydantic import ValidationError

from pileup.model.practice import BatchSettings, StorageSettings, TapeSettings


def test_the_defaults_are_those_of_the_server() -> None:
    assert StorageSettings().to_native() == {
        "host": "127.0.0.1",
        "port": 0,
        "backlog": 4096,
        "threads": 16,
        "queue": 1000,
        "service": {"fixed": 0},
        "bandwidth": None,
        "capacity": 2**30,
        "markers": 10**9,
        "seed": 1,
        "faults": [],
        "log": None,
        "tls": None,
        "token": None,
        "keys": None,
        "audience": None,
        "pool": None,
    }


def test_quantities_become_base_units() -> None:
    settings = StorageSettings.model_validate(
        {
            "service": {"lognormal": ["20 ms", 0.5]},
            "bandwidth": "200 MB/s",
            "capacity": "64 MiB",
            "faults": [
                {"kind": "stall", "at": "2 s", "for": "500 ms"},
                {"kind": "error", "share": "5 %", "status": 502, "methods": ["GET"], "paths": []},
            ],
            "tls": {"certificate": "c.pem", "key": "k.pem"},
        }
    )
    native = settings.to_native()
    assert json.loads(json.dumps(native["service"])) == {"lognormal": [20_000_000, 0.5]}
    assert (native["bandwidth"], native["capacity"]) == (200e6, 64 * 2**20)
    assert native["faults"] == [
        {"kind": "stall", "share": 1.0, "at": 2 * 10**9, "for": 5 * 10**8, "status": 500, "methods": [], "paths": []},
        {"kind": "error", "share": 0.05, "at": None, "for": None, "status": 502, "methods": ["GET"], "paths": []},
    ]
    assert native["tls"] == {"certificate": "c.pem", "key": "k.pem", "client_ca": None}


def test_they_survive_the_way_through_a_command_line() -> None:
    settings = StorageSettings.model_validate(
        {
            "service": "3 ms",
            "faults": [{"kind": "stall", "for": "1 s", "share": 0.1}],
            "token": "let-me-in",
        }
    )
    text = settings.model_dump_json(by_alias=True, exclude_unset=True)
    assert StorageSettings.model_validate_json(text) == settings
    assert "let-me-in" not in repr(settings)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"treads": 3}, "treads"),
        ({"threads": 0}, "greater than or equal to 1"),
        ({"bandwidth": "10 B/s"}, "greater than or equal to 1000"),
        ({"service": "20 MB"}, "'20 MB' is a size; expected a time"),
        ({"faults": [{"kind": "explode"}]}, "'stall', 'refuse'"),
        ({"faults": [{"kind": "error", "share": "101 %"}]}, "less than or equal to 1"),
        ({"faults": [{"kind": "error", "status": 200}]}, "greater than or equal to 400"),
        ({"faults": [{"kind": "error", "methods": ["get"]}]}, "pattern"),
        ({"faults": [{"kind": "stall", "share": 0.5}]}, "a stall without an end; expected `for: TIME`"),
        ({"faults": [{"kind": "stall", "share": 0.5, "at": "1 s", "for": "1 s"}]}, "stops the whole server"),
        ({"faults": [{"kind": "stall", "methods": ["GET"], "at": "1 s", "for": "1 s"}]}, "stops the whole server"),
        ({"token": ""}, "at least 1 character"),
    ],
)
def test_mistakes_are_named(wrong: dict[str, object], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        StorageSettings.model_validate(wrong)


def test_the_batch_system_gets_its_own_defaults_and_base_units() -> None:
    native = BatchSettings().to_native()
    assert (native["slots"], native["cycle"], native["limit"], native["rate"]) == (100, 10**9, 200_000, None)
    settings = BatchSettings.model_validate(
        {
            "cycle": "30 s",
            "rate": "10 /s",
            "loss": "50 %",
            "submit_cost": {"uniform": ["5 ms", "20 ms"]},
            "faults": [{"kind": "ghost", "share": "1 %", "for": "2 min", "paths": ["/jobs"]}],
        }
    )
    native = settings.to_native()
    assert (native["cycle"], native["rate"], native["loss"]) == (30 * 10**9, 10.0, 0.5)
    assert json.loads(json.dumps(native["submit_cost"])) == {"uniform": [5_000_000, 20_000_000]}
    assert native["faults"][0]["for"] == 120 * 10**9
    assert set(native) == set(BatchSettings.model_fields)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"slot": 3}, "slot"),
        ({"failing": "101 %"}, "less than or equal to 1"),
        ({"rate": 0}, "greater than 0"),
        ({"cycle": "3 MB"}, "expected a time"),
        ({"faults": [{"kind": "truncate"}]}, "'stall', 'refuse'"),
        ({"faults": [{"kind": "ghost", "at": "1 s"}]}, "a ghost with `at`"),
    ],
)
def test_mistakes_in_a_batch_system_are_named(wrong: dict[str, object], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        BatchSettings.model_validate(wrong)


def test_the_tape_library_gets_its_own_defaults_and_base_units() -> None:
    native = json.loads(json.dumps(TapeSettings().to_native()))
    assert (native["drives"], native["size"], native["seek"]) == (4, {"fixed": 10**9}, {"uniform": [0, 90 * 10**9]})
    settings = TapeSettings.model_validate(
        {
            "mount": {"exponential": "1 min"},
            "size": {"lognormal": ["2 GB", 0.5]},
            "speed": "300 MB/s",
            "keep": "1 h",
            "files": "1e6",
            "down": [{"drive": 1, "at": "10 min", "for": "5 min"}],
            "lost": "0.01 %",
        }
    )
    native = json.loads(json.dumps(settings.to_native()))
    assert (native["mount"], native["size"]) == ({"exponential": 60 * 10**9}, {"lognormal": [2 * 10**9, 0.5]})
    assert (native["speed"], native["keep"], native["files"], native["lost"]) == (300e6, 3600 * 10**9, 10**6, 1e-4)
    assert native["down"] == [{"drive": 1, "from": 600 * 10**9, "lasts": 300 * 10**9}]
    assert set(native) == set(TapeSettings.model_fields)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"drive": 3}, "drive"),
        ({"drives": 0}, "greater than or equal to 1"),
        ({"speed_up": 0}, "greater than or equal to 0.001"),
        ({"prefix": "tape"}, "pattern"),
        ({"size": {"mix": [{"size": "1 GB"}]}}, "size has a mix; expected a size"),
        ({"unreadable": [100]}, "unreadable has cartridge 100; expected 0 to 99"),
        ({"down": [{"drive": 4, "for": "1 s"}]}, "down has drive 4; expected 0 to 3"),
        ({"down": [{"drive": 0}]}, "for"),
        ({"silent": [-1]}, "silent has a negative number"),
        ({"order": "lifo"}, "'cartridge' or 'fifo'"),
        ({"faults": [{"kind": "truncate"}]}, "'stall', 'refuse'"),
    ],
)
def test_mistakes_in_a_tape_library_are_named(wrong: dict[str, object], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        TapeSettings.model_validate(wrong)
