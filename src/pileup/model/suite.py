"""The suite as frozen typed objects: the one schema of the file, for YAML, XML and the reference pages.

Every word of the format is here, also those that are not built yet (`not_yet`): they are refused with that answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    StringConstraints,
    TypeAdapter,
    model_validator,
)
from pydantic.config import JsonDict

from pileup.model.criterion import Confidence, CriterionSpec
from pileup.model.distance import Distance
from pileup.model.law import TimeLaw
from pileup.model.loads.load import Load
from pileup.model.precision import Until
from pileup.model.quantities import Count, Duration, Fraction, Size
from pileup.model.report_spec import ReportSpec
from pileup.model.schemes import in_words
from pileup.model.suite_part import Name, Part, Text

NOT_YET = "not_yet"


def not_yet(description: str) -> Any:
    """A reserved word of the format that is refused with "not yet" until its part is built."""
    return Field(None, description=f"Not yet: {description}", json_schema_extra={NOT_YET: True})


class IssuerSpec(Part):
    """Who gives pileup its tokens: an OAuth 2.0 issuer, asked with the secret of a client (RFC 6749, 4.4)."""

    url: Text | None = Field(None, description="address of the issuer; its metadata say where tokens are asked for")
    target: Text | None = Field(None, description="name of a target of the suite that is the issuer, instead of a url")
    client: Text = Field(description="name of the client (client_id)")
    secret: SecretStr | None = Field(
        None,
        description="its secret; `discover`: $PILEUP_CLIENT_SECRET; else better secret_file, or a $variable set on the "
        "command line",
    )
    secret_file: str | None = Field(None, description="file that holds the secret, read again for each token")
    scope: str | None = Field(None, description="what tokens are for, e.g. storage.read:/; default: the issuer's")
    audience: str | None = Field(None, description="for whom tokens are; default: the issuer's")
    ca: str | None = Field(
        None, description="CA certificates (PEM) that sign the issuer's certificate; default: the system's"
    )
    ahead: Duration | None = Field(
        None,
        description="how long before its end a token is renewed; default: a third of its life, at most 5 min; "
        "0: when it has expired",
    )

    @model_validator(mode="after")
    def _one_of_each(self) -> Self:
        if (self.url is None) == (self.target is None):
            given = "neither a url nor a target" if self.url is None else "a url and a target"
            raise ValueError(f"the issuer has {given}; expected one of them")
        if (self.secret is None) == (self.secret_file is None):
            given = "neither a secret nor a secret_file" if self.secret is None else "a secret and a secret_file"
            raise ValueError(f"the issuer has {given}; expected one of them")
        return self


class Credentials(Part):
    """Credentials for a target. Values are secrets or paths, and never reach the record."""

    token: SecretStr | None = Field(
        None,
        description="bearer token; `discover`: the user's own, as WLCG tools find it; else better token_file, or a "
        "$variable set on the command line",
    )
    token_file: str | None = Field(None, description="file that holds the bearer token, read again when it changes")
    user: str | None = Field(None, description="user name for basic authentication")
    password: SecretStr | None = Field(None, description="password for basic authentication")
    proxy: str | None = Field(
        None,
        description="file with an X.509 proxy (PEM: certificate, key, chain); `discover`: $X509_USER_PROXY, else "
        "/tmp/x509up_uUID",
    )
    ca: str | None = Field(
        None,
        description="CA certificates (PEM) that sign the target's certificate, a file or a folder; `discover`: "
        "$X509_CERT_DIR, else /etc/grid-security/certificates; default: the system's",
    )
    certificate: str | None = Field(None, description="file with the client certificate chain (PEM)")
    key: str | None = Field(None, description="file with the key of the client certificate (PEM)")
    access_key: SecretStr | None = Field(
        None,
        description="of S3: id of the access key; without keys those of $AWS_ACCESS_KEY_ID and "
        "$AWS_SECRET_ACCESS_KEY, else those of the profile",
    )
    secret_key: SecretStr | None = Field(None, description="of S3: secret of the access key; better a profile")
    session_token: SecretStr | None = Field(None, description="of S3: token of temporary keys")
    profile: Text | None = Field(
        None, description="of S3: profile in ~/.aws/credentials or ~/.aws/config; default: $AWS_PROFILE, else `default`"
    )
    issuer: IssuerSpec | None = Field(
        None, description="who gives pileup a bearer token, and the next one before that has expired"
    )

    @property
    def bearer(self) -> bool:
        """Whether a bearer token says who pileup is."""
        return self.token is not None or self.token_file is not None or self.issuer is not None

    def beside(self, offered: Mapping[str, str]) -> Credentials:
        """Return these with files that a private server offers where they say nothing: who pileup is, and `ca`."""
        given = {name for name in type(self).model_fields if getattr(self, name) is not None}
        used = {word: path for word, path in offered.items() if word not in given}
        return self.model_copy(update=used if given <= {"ca"} else {word: used[word] for word in used if word == "ca"})


class SettingSpec(Part):
    """How a setting of a server that pileup did not launch is changed.

    Commands are split as a shell would split them, not run by one.
    """

    set_: Text = Field(alias="set", description="command that sets it; {value} is filled in")
    get: Text | None = Field(None, description="command that prints the current value, to be restored at the end")
    default: Text | None = Field(None, description="value to restore, if no command can print it")
    ready: Text | None = Field(
        None,
        description="command that succeeds once the value is in force; "
        "with {value} in it: what it prints, if anything, must hold the value",
    )
    within: Duration = Field(60 * 10**9, gt=0, description="time after which a value that is not in force is an error")
    restore: Literal["always", "never"] = Field(
        "always", description="whether the previous value is restored at the end"
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if "{value}" not in self.set_:
            raise ValueError("`set` does not say where the value goes; expected {value} in the command")
        if self.restore == "always" and self.get is None and self.default is None:
            raise ValueError(
                "nothing gives the value to restore; expected `get: COMMAND`, `default: VALUE`, or `restore: never`"
            )
        return self


class TargetSpec(Part):
    """A system under test."""

    kind: str = Field(
        "",
        description="what kind of system: a name from `pileup list targets`. Left out, it follows from the url: "
        f"{in_words()}",
    )
    url: Text | None = Field(None, description="where it is; a path for kind posix")
    credentials: Credentials = Field(default_factory=Credentials, description="credentials for it")
    launch: dict[str, Any] | None = Field(
        None, description="settings of a private server that pileup starts and ends; ignored when --set gives a url"
    )
    like: str | None = Field(
        None,
        description="name of another target: if --set gives that one a url and this one none, this target uses it too",
    )
    beside: str | None = Field(
        None,
        description="name of another target: if that one has a url and this one none, tests that use this target "
        "are left out, and criteria on them are not covered",
    )
    disk: Size | None = Field(
        None,
        ge=1 << 20,
        description="put the files of the launched server on a disk of this size, for the fault `fill`; needs root",
    )
    options: dict[str, Any] = Field(
        default_factory=dict, description="options of this kind of target, see `pileup describe`"
    )
    settings: dict[Name, SettingSpec] = Field(
        default_factory=dict, description="how a scan may change a server that pileup did not launch"
    )
    path: Distance | None = Field(
        None, description="reach it through a relay with latency, bandwidth and faults; the url stays as it is"
    )


class Environment(Part):
    """Client software to set up before a test."""

    source: Text | None = Field(None, description="shell file to source, e.g. /cvmfs/…/setup.sh; relative to the suite")
    set_: dict[str, str] = Field(default_factory=dict, alias="set", description="variables to set in addition")


def _short_environment(value: object) -> object:
    return {"source": value} if isinstance(value, str) else value


EnvironmentWord = Annotated[Environment, BeforeValidator(_short_environment)]
Isolation = Literal["thread", "process"]
AIM = "the name of a target, or {WORD: TARGET, ...} with the words of the test's `needs`"


def _aim(value: object) -> object:
    """Refuse values that name no targets: reported once, and not for each type of a union."""
    if value is None or isinstance(value, str):
        return value
    if not isinstance(value, dict) or not value:
        raise ValueError(f"{'empty' if value == {} else 'a list'}; expected {AIM}")
    for word, name in value.items():
        if not isinstance(name, str):
            raise ValueError(f"{word!r} names no target; expected {AIM}")
    return value


AimWord = Annotated[str | dict[str, str] | None, BeforeValidator(_aim)]


def _chosen_places(value: object) -> object:
    if not isinstance(value, (list, tuple, set, frozenset)):
        return _COUNT.validate_python(value)
    names = [str(each).strip() for each in value]
    if not names or "" in names or any(isinstance(each, (dict, list)) for each in value):
        raise ValueError("no place is named; expected a number of places, or a list of them, e.g. [1, 3]")
    return frozenset(names)


_COUNT: TypeAdapter[int] = TypeAdapter(Annotated[Count, Field(ge=1, le=1000)])
PlacesOfTest = Annotated[int | frozenset[str], BeforeValidator(_chosen_places)]
"""A number of places of the fleet, or a list of numbers and names."""


class TestSpec(Part):
    """One test of the suite: which plug-in, on which target, under which load."""

    __test__ = False  # not a test of ours, whatever pytest thinks of the name

    name: Name = Field(description="name of the test in this suite")
    use: Text = Field(description="a name from `pileup list tests`, or ./file.py:Class")
    target_: AimWord = Field(
        None,
        alias="target",
        description="name of a target; may be left out when the suite has just one, or the test needs none; of a test "
        "that needs several, the name of each: {source: a, to: b}",
    )
    options: dict[str, Any] = Field(default_factory=dict, description="options of the test, see `pileup describe NAME`")
    scope: Literal["run", "point", "case"] = Field(
        "case", description="done once per run, per point of a scan, or per case"
    )
    cleanup: Literal["always", "passed", "never"] = Field(
        "always", description="when what the test has made is removed at the end"
    )
    after: tuple[Name, ...] = Field((), description="tests that must have passed before")
    load: Load = Field(default_factory=Load, description="load to put on the test")
    timeout: Duration = Field(
        60 * 10**9, gt=0, description="an operation (a Python test's iteration) without an answer by then is ambiguous"
    )
    fail_when: Text | None = Field(
        None,
        description="a check; when it holds the case has failed, e.g. `fraction(copy.failed) > 5 %`; or `never`; "
        "default: more than 1 % of what was due did not pass",
    )
    with_: tuple[Name, ...] = Field(
        (),
        alias="with",
        description="tests to run alongside: the load begins with theirs and ends with the last of them",
    )
    isolate: Isolation | None = Field(
        None, description="in threads of this process, or in a process of its own; default: that of the suite"
    )
    environment: EnvironmentWord | None = Field(
        None, description="client software to set up before; Python tests then run in a process of their own"
    )
    places: PlacesOfTest | None = Field(
        None,
        description="the places of the fleet that run it: how many (the first ones), or a list of them by number "
        "(from 1) or name: [1, 3], [node2]; default: all of them",
    )
    against: Any = not_yet("two targets, compared in pairs")

    @model_validator(mode="after")
    def _ends(self) -> Self:
        if self.load.endless and not self.with_:
            raise ValueError(
                "the load needs `for` or `times`; expected `for: TIME` or `times: N`, "
                "or `with: [TEST]` to run alongside it"
            )
        return self

    @property
    def target(self) -> str | None:
        """The target that it is for, the first one of several; None when it names none."""
        return next(iter(self.target_.values())) if isinstance(self.target_, dict) else self.target_

    @property
    def targets(self) -> dict[str, str]:
        """Word of the test's `needs` -> target, for a test that needs several; empty for any other."""
        return self.target_ if isinstance(self.target_, dict) else {}

    @property
    def aims(self) -> tuple[str, ...]:
        """All targets that it is for, each once; none of a test that names none."""
        return tuple(dict.fromkeys(self.targets.values())) or ((self.target,) if self.target else ())

    @property
    def aim(self) -> str:
        """The targets that it is for, in words: `se`, or `source: a, to: b`; empty when it names none."""
        return ", ".join(f"{word}: {name}" for word, name in self.targets.items()) or self.target or ""


class MonitorSpec(BaseModel):
    """Something measured at an interval for the life of the run. Options of the monitor go beside these words."""

    model_config = ConfigDict(frozen=True, extra="allow")

    use: Text = Field(description="a name from `pileup list monitors`, or ./file.py:Class")
    name: Name | None = Field(None, description="name in checks and charts; default: that of the plug-in")
    every: Duration = Field(10**9, ge=10 * 10**6, description="interval between samples")
    host: Text | None = Field(
        None,
        pattern=r"^ssh://[^\s/]+$",
        description="measure on another host: ssh://user@host; all but node and process need pileup there",
    )
    watches: Name | None = Field(
        None,
        description="the target whose host it should measure; if it measures another host, criteria on it are "
        "not covered",
    )

    @property
    def options(self) -> dict[str, Any]:
        """Options of the plug-in as written."""
        return dict(self.model_extra or {})


class Limits(Part):
    """Guard rails of the whole run: past one of them pileup stops and says so (exit 7)."""

    bytes: Size | None = Field(None, description="bytes read and written in total")
    operations: Count | None = Field(None, description="operations in total")
    duration: Duration | None = Field(None, description="of the run")
    errors_in_a_row: Count | None = Field(
        None, ge=1, description="iterations of one case that did not pass, one after another"
    )
    inside: Text | None = Field(
        None, pattern=r"^/", description="nothing is written or deleted outside this path of a target"
    )


class FaultSpec(Part):
    """A fault that is injected during a load."""

    name: Name | None = Field(None, description="name in checks and reports; default: its place in the list, from 1")
    at: Duration = Field(description="when, after the load of a test of `during` began")
    do: Literal["restart", "kill", "pause", "continue", "slow", "limit", "fill", "command"] = Field(
        description="what: all but `command` act on a server that pileup launched, `command` runs what `run` says"
    )
    target: str | None = Field(
        None,
        description="name of the target whose server it is, or NAME.PROCESS for one of its processes; a command gets "
        "the environment of that process",
    )
    signal: Literal["TERM", "KILL", "INT", "HUP", "QUIT", "ABRT"] = Field(
        "TERM", description="signal by which restart ends the server"
    )
    files: Count | None = Field(None, ge=1, description="most open files (descriptors) of each process, for limit")
    speed: Fraction | None = Field(
        None, gt=0, lt=1, description="share of the time that each process may run, for slow: it is stopped the rest"
    )
    for_: Duration | None = Field(
        None,
        alias="for",
        gt=0,
        description="how long: then a paused or slow server continues, a killed one is started again, a limit is "
        "lifted, a disk has room again",
    )
    run: Text | None = Field(None, description="the command, split into words as by a shell, but run without one")
    during: tuple[Name, ...] = Field((), description="tests during whose load it happens; default: the first sustained")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.do == "command") != (self.run is not None):
            raise ValueError("`run` and `do: command` belong together; expected both or neither")
        if (self.do == "limit") != (self.files is not None):
            raise ValueError("`files` and `do: limit` belong together; expected both, e.g. {do: limit, files: 64}")
        if (self.do == "slow") != (self.speed is not None):
            raise ValueError("`speed` and `do: slow` belong together; expected both, e.g. {do: slow, speed: 10 %}")
        if self.do != "command" and self.target is None:
            raise ValueError(f"nothing says what to {self.do}; expected `target: NAME`")
        if self.for_ is not None and self.do not in ("pause", "kill", "slow", "limit", "fill"):
            raise ValueError(f"{self.do} takes no time; expected `for` beside pause, kill, slow, limit or fill")
        return self


class Cooldown(Part):
    """How long monitors go on after the load of a point, to see the system come to rest."""

    until: Text | None = Field(None, description="a check on a monitor that ends it, e.g. `last(node.load1) < 1`")
    at_most: Duration = Field(gt=0, description="longest time; if `until` is not met by then, the run reports it")


class Places(Part):
    """Where the load comes from: this process unless one of the words says otherwise."""

    processes: Count | None = Field(None, ge=1, le=1000, description="number of processes on this host")
    ssh: tuple[Text, ...] = Field((), max_length=1000, description="hosts, each as for the ssh command")
    dask: Text | None = Field(
        None, description="address of the scheduler of a Dask cluster, whose workers are the places"
    )
    slurm: Count | None = Field(
        None, ge=1, le=1000, description="number of Dask workers that are started as Slurm jobs"
    )
    htcondor: Count | None = Field(
        None, ge=1, le=1000, description="number of Dask workers that are started as HTCondor jobs"
    )
    python: Text | None = Field(
        None,
        description="Python with pileup at those hosts; default: the path of the one here, on Dask that of the worker",
    )
    command: Text | None = Field(
        None, description="the ssh command with options, e.g. `ssh -F site.conf`; default: $PILEUP_SSH, else ssh"
    )
    workers: Count | None = Field(
        None,
        ge=1,
        le=1000,
        description="threads of each place for native tests; default: all cores that it may use, one less from four up",
    )

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        given = [kind for kind in KINDS if getattr(self, kind)]
        if len(given) > 1:
            raise ValueError(f"{' and '.join(given)} are given; expected one of them")
        return self

    @property
    def kind(self) -> str:
        """What kind of places these are: one of `KINDS`, or `local`."""
        return next((kind for kind in KINDS if getattr(self, kind)), "local")

    @property
    def local(self) -> bool:
        """Whether the load comes from this process alone."""
        return self.kind == "local"

    @property
    def on_dask(self) -> bool:
        """Whether the places are at workers of Dask."""
        return self.kind in {"dask", "slurm", "htcondor"}

    @property
    def elsewhere(self) -> bool:
        """Whether the places are on other hosts."""
        return bool(self.ssh) or self.on_dask

    @property
    def count(self) -> int:
        """How many places there are; 0 when only a cluster knows."""
        return len(self.ssh) or self.processes or self.slurm or self.htcondor or int(self.local)

    @property
    def names(self) -> tuple[str, ...]:
        """What the places are called; nothing when only a cluster knows how many there are."""
        if self.ssh or self.local:
            return self.ssh or ("local",)
        name = "process" if self.processes else self.kind
        return tuple(f"{name} {number}" for number in range(1, self.count + 1))


KINDS = ("processes", "ssh", "dask", "slurm", "htcondor")
"""Words that say where places are."""
FLEETS = "local, workers:N, processes:N, ssh:HOST,HOST, dask:ADDRESS, slurm:N or htcondor:N"


def _short_places(value: object) -> object:
    """Read `processes:4`, `ssh:host,host`, `dask:tcp://host:8786`: also what --fleet takes."""
    if not isinstance(value, str):
        return value
    kind, _, rest = value.partition(":")
    match kind.strip(), rest.strip():
        case "local", "":
            return {}
        case ("workers" | "processes" | "slurm" | "htcondor" | "dask") as word, rest if rest:
            return {word: rest}
        case "ssh", hosts if hosts:
            return {"ssh": [host.strip() for host in hosts.split(",")]}
    raise ValueError(f"{value!r} is not a fleet; expected {FLEETS}")


PlacesWord = Annotated[Places, BeforeValidator(_short_places)]
Axis = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z_][A-Za-z0-9_-]*){0,3}$", max_length=200)
]
TOGETHER = "together"
"""Word of a scan: axes that are varied together, row by row."""
_ROW: JsonDict = {"type": "object", "minProperties": 1}
_GROUP: JsonDict = {"type": "array", "items": _ROW, "minItems": 1}
_ROWS: JsonDict = {
    "description": "parameters that are varied together: rows with the same names, or a list of such lists",
    "anyOf": [_GROUP, {"type": "array", "items": _GROUP, "minItems": 1}],
}


class Suite(Part):
    """A file that says what to run."""

    pileup: Literal[1] = Field(description="version of this format")
    title: Text = Field(min_length=1, description="one line that names the suite")
    about: Text = Field("", description="why it exists, for the report")
    labels: dict[Name, str] = Field(default_factory=dict, description="free words to find and compare runs by")
    seed: int = Field(1, ge=0, lt=2**63, description="seed of everything random")
    variables: dict[Name, str | None] = Field(
        default_factory=dict, description="values used as $name anywhere, changed by --set name=value"
    )
    options: dict[Name, Any] = Field(
        default_factory=dict, description="options for every test that has one of that name"
    )
    targets: dict[Name, TargetSpec] = Field(default_factory=dict, description="systems under test by name")
    limits: Limits = Field(default_factory=Limits, description="limits of the run")
    delay: TimeLaw | None = Field(None, description="pause before each test that has no delay of its own")
    tests: tuple[TestSpec, ...] = Field(
        min_length=1, description="tests to run, in this order unless `after` says otherwise"
    )
    monitors: tuple[MonitorSpec, ...] = Field((), description="what else is measured")
    criteria: tuple[CriterionSpec, ...] = Field((), description="what must hold")
    confidence: Confidence = Field(
        "estimate", description="default `confidence` of the criteria: the figure, or its whole interval"
    )
    scan: dict[Axis, Annotated[tuple[Any, ...], Field(min_length=1)]] = Field(
        default_factory=dict,
        description="what to vary, each with its values: a variable, TARGET.setting, TARGET.path.word, TEST.option, "
        "TEST.load.word, TEST.target, TEST.places, options.option (options.target: of all tests that name none), "
        "`places` or `environment` (of all tests that do not say their own); every combination is a point. `together` "
        "has rows of parameters that are varied together: [{n: 1, size: 1 GiB}, {n: 2, size: 2 GiB}]; of several "
        "groups a list of such lists",
        json_schema_extra={"properties": {TOGETHER: _ROWS}},
    )
    repeat: Count = Field(1, ge=1, le=10_000, description="how often each point is run, interleaved with the others")
    parallel: Count = Field(
        1,
        ge=1,
        le=100,
        description="how many independent tests (no `after`, no `with`) may run "
        "at the same time; they share the CPU of pileup, and their targets",
    )
    loop: Count = Field(1, ge=1, le=10_000, description="how often the whole suite is run")
    faults: tuple[FaultSpec, ...] = Field((), description="faults to inject, and when")
    cooldown: Cooldown | None = Field(None, description="how long monitors go on after the load of each point")
    environment: EnvironmentWord | None = Field(None, description="client software to set up before the tests")
    isolate: Isolation = Field(
        "thread", description="run Python tests in threads of this process, or in another process"
    )
    places: PlacesWord = Field(default_factory=Places, description="where the load comes from; --fleet overrides it")
    equivalent: tuple[Annotated[tuple[Name, ...], Field(min_length=2)], ...] = Field(
        (),
        description="groups of tests that must give equal answers at every point, e.g. [[subselect, join]]; how long "
        "each takes is compared with the first of its group",
    )
    against: Any = not_yet("two targets, compared in pairs")
    reports: tuple[ReportSpec, ...] = Field(
        (), description="files that the run writes when it ends; default: every installed report that is a default"
    )
    until: Until | None = Field(None, description="repeat only until a figure is precise: `repeat` is then the maximum")
    layers: Text | None = Field(
        None,
        description="part of the operation that tests with a sustained load do, where they have an option `layers` "
        "and do not set it: all, control, data, session, noop",
    )

    def test(self, name: str) -> TestSpec:
        """Return the test of that name; KeyError when there is none."""
        found = {test.name: test for test in self.tests}
        return found[name]
