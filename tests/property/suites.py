"""Valid suites as plain data, drawn over every word of the schema."""

from typing import Any

from hypothesis import strategies as st

NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,8}", fullmatch=True)
AXES = st.from_regex(r"[a-z]{1,4}(\.[a-z]{1,4}){1,2}", fullmatch=True)
TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="$\ufffe\uffff"), max_size=30)
TIMES = st.sampled_from(["1 s", "250 ms", "1e5 us", "2 min", "1.5 h"])
COUNTS = st.integers(1, 1000).map(str)
SIZES = st.sampled_from(["64 KiB", "1 GB", "3 TiB"])
VALUES = st.recursive(
    TEXTS | COUNTS | st.none(),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(TEXTS, below, max_size=3),
    max_leaves=4,
)
OPTIONS = st.dictionaries(NAMES | TEXTS, VALUES, max_size=3)
LAWS = st.one_of(
    TIMES,
    st.fixed_dictionaries({"fixed": TIMES}),
    st.just({"uniform": ["1 s", "5 s"]}),
    st.fixed_dictionaries({"exponential": TIMES}),
    st.just({"normal": ["5 s", "1 s"]}),
    st.just({"lognormal": ["20 ms", "0.35"]}),
    st.just({"bimodal": ["1 ms", "1 s", "0.1"]}),
)
STAGES = st.one_of(
    st.lists(
        st.fixed_dictionaries({"clients": COUNTS, "for": TIMES}, optional={"ramp": TIMES, "warm_up": TIMES}),
        min_size=1,
        max_size=3,
    ),
    st.lists(st.fixed_dictionaries({"rate": COUNTS, "for": TIMES}, optional={"ramp": TIMES}), min_size=1, max_size=3),
)
LOADS = st.one_of(
    st.just({"once": "true"}),
    st.fixed_dictionaries({"times": COUNTS}, optional={"think": LAWS, "delay": LAWS}),
    st.fixed_dictionaries({"clients": COUNTS, "for": TIMES}, optional={"think": LAWS, "ramp": TIMES, "warm_up": TIMES}),
    st.fixed_dictionaries({"rate": COUNTS, "for": TIMES}, optional={"arrivals": st.just("poisson"), "clients": COUNTS}),
    st.fixed_dictionaries({"every": TIMES, "for": TIMES}, optional={"delay": LAWS}),
    st.fixed_dictionaries({"stages": STAGES}),
)
ENVIRONMENTS = st.just("/cvmfs/x/setup.sh") | st.fixed_dictionaries(
    {}, optional={"source": TEXTS, "set": st.dictionaries(NAMES, TEXTS, max_size=2)}
)
SETTINGS = st.fixed_dictionaries(
    {"set": st.just("ssh se01 'set x {value}'"), "get": TEXTS},
    optional={"ready": TEXTS, "within": TIMES, "restore": st.sampled_from(["always", "never"])},
)
TARGETS = st.fixed_dictionaries(
    {"kind": NAMES},
    optional={
        "url": TEXTS,
        "credentials": st.fixed_dictionaries({}, optional={"token": TEXTS, "user": TEXTS, "password": TEXTS}),
        "launch": st.none() | OPTIONS,
        "disk": st.just("1 GB"),
        "options": OPTIONS,
        "settings": st.dictionaries(NAMES, SETTINGS, max_size=2),
    },
)
TESTS = st.fixed_dictionaries(
    {"name": NAMES, "use": TEXTS},
    optional={
        "target": NAMES,
        "options": OPTIONS,
        "scope": st.sampled_from(["run", "point", "case"]),
        "cleanup": st.sampled_from(["always", "passed", "never"]),
        "after": st.lists(NAMES, max_size=3),
        "with": st.lists(NAMES, max_size=2),
        "load": LOADS,
        "timeout": TIMES,
        "fail_when": TEXTS,
        "isolate": st.sampled_from(["thread", "process"]),
        "environment": ENVIRONMENTS,
    },
)
MONITORS = st.builds(
    lambda own, more: {**more, **own},
    st.fixed_dictionaries({"use": TEXTS}, optional={"name": NAMES, "every": TIMES, "host": st.just("ssh://root@se01")}),
    OPTIONS,
)
REPORTS = st.builds(
    lambda own, more: {**more, **own},
    st.fixed_dictionaries({"use": TEXTS}, optional={"to": st.just("summary.txt")}),
    OPTIONS,
)
CRITERIA = st.fixed_dictionaries(
    {"id": NAMES, "says": TEXTS, "check": TEXTS},
    optional={
        "coverage": st.sampled_from(["full", "partial"]),
        "at": st.lists(st.dictionaries(AXES, COUNTS, max_size=2), max_size=2),
    },
)
FAULTS = st.one_of(
    st.fixed_dictionaries(
        {"at": TIMES, "do": st.just("restart"), "target": NAMES}, optional={"signal": st.just("HUP")}
    ),
    st.fixed_dictionaries({"at": TIMES, "do": st.just("pause"), "target": NAMES, "for": TIMES}),
    st.fixed_dictionaries(
        {"at": TIMES, "do": st.just("limit"), "target": NAMES, "files": COUNTS}, optional={"for": TIMES, "name": NAMES}
    ),
    st.fixed_dictionaries({"at": TIMES, "do": st.just("fill"), "target": NAMES}, optional={"for": TIMES}),
    st.fixed_dictionaries(
        {"at": TIMES, "do": st.just("command"), "run": TEXTS}, optional={"during": st.lists(NAMES, max_size=2)}
    ),
)
PLACES = st.sampled_from(["local", "processes:4", "ssh:a,b", {"processes": "2"}, {"ssh": ["a", "b"], "python": "/p"}])


def suites() -> st.SearchStrategy[dict[str, Any]]:
    """Suites that the schema takes; rules between their parts are not looked at."""
    return st.fixed_dictionaries(
        {"pileup": st.just("1"), "title": TEXTS.filter(bool), "tests": st.lists(TESTS, min_size=1, max_size=3)},
        optional={
            "about": TEXTS | st.just("Two\nlines.\n"),
            "labels": st.dictionaries(NAMES, TEXTS, max_size=3),
            "seed": st.integers(0, 2**62).map(str),
            "variables": st.dictionaries(NAMES, TEXTS | st.none(), max_size=4),
            "options": st.dictionaries(NAMES, VALUES, max_size=3),
            "targets": st.dictionaries(NAMES, TARGETS, max_size=2),
            "limits": st.fixed_dictionaries(
                {}, optional={"bytes": SIZES, "operations": COUNTS, "duration": TIMES, "inside": st.just("/data")}
            ),
            "delay": LAWS,
            "monitors": st.lists(MONITORS, max_size=2),
            "reports": st.lists(REPORTS, max_size=2),
            "criteria": st.lists(CRITERIA, max_size=2),
            "scan": st.dictionaries(AXES, st.lists(VALUES, min_size=1, max_size=3), max_size=2),
            "repeat": COUNTS,
            "loop": COUNTS,
            "faults": st.lists(FAULTS, max_size=2),
            "cooldown": st.fixed_dictionaries({"at_most": TIMES}, optional={"until": TEXTS}),
            "environment": ENVIRONMENTS,
            "isolate": st.sampled_from(["thread", "process"]),
            "places": PLACES,
        },
    )
