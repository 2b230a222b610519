"""The suite as frozen typed objects: the one schema of the file, for YAML, XML and the reference pages.

Every word of the format is here, also those that are not built yet (`not_yet`): they are refused with that answer.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, StringConstraints, model_validator

from pileup.model.law import TimeLaw
from pileup.model.quantities import Count, Duration, Rate, Size

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_-]{0,63}$")]
Text = Annotated[str, StringConstraints(max_length=10_000)]

NOT_YET = "not_yet"


def not_yet(description: str) -> Any:
    """A reserved word of the format that is refused with "not yet" until its part is built."""
    return Field(None, description=f"Not yet: {description}", json_schema_extra={NOT_YET: True})


class Part(BaseModel):
    """Base of everything in a suite file: frozen, unknown words refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Credentials(Part):
    """Who pileup is for a target. Values are secrets or paths; the values never reach the record."""

    token: SecretStr | None = Field(
        None, description="bearer token; better: token_file, or a $variable set on the command line"
    )
    token_file: str | None = Field(None, description="file that holds the bearer token")
    user: str | None = Field(None, description="user name for basic authentication")
    password: SecretStr | None = Field(None, description="password for basic authentication")
    ca: str | None = Field(None, description="file with the CA certificates (PEM) that sign the target's certificate")
    certificate: str | None = Field(None, description="file with the client certificate chain (PEM)")
    key: str | None = Field(None, description="file with the key of the client certificate (PEM)")


class TargetSpec(Part):
    """A system under test."""

    kind: str = Field(description="what kind of system: a name from `pileup list targets`")
    url: Text | None = Field(None, description="where it is; a path for kind posix")
    credentials: Credentials = Field(default_factory=Credentials, description="who pileup is for it")
    launch: dict[str, Any] | None = Field(
        None, description="settings of a private server that pileup starts and ends; ignored when --set gives a url"
    )
    options: dict[str, Any] = Field(
        default_factory=dict, description="options of this kind of target, see `pileup describe`"
    )
    settings: Any = not_yet("how a scan may change a server that pileup did not launch")
    path: Any = not_yet("reach the target through a relay with latency and bandwidth")


class Load(Part):
    """How a test is pressed. At most one of once, times, clients, rate; times may bound clients or rate."""

    once: bool | None = Field(None, description="one iteration; the default")
    times: Count | None = Field(
        None, ge=1, description="this many iterations in all, one after another unless clients are given"
    )
    clients: Count | None = Field(
        None,
        ge=1,
        le=1_000_000,
        description="this many clients, each begins anew when its last iteration has ended (closed); "
        "beside rate: the most in flight",
    )
    rate: Rate | None = Field(None, gt=0, description="iterations begun per second, whatever the system answers (open)")
    arrivals: Literal["constant", "poisson"] = Field("constant", description="spacing of an open load")
    ramp: Duration = Field(0, description="time over which clients or rate grow from nothing; left out of the figures")
    warm_up: Duration = Field(0, description="time at full load before the measurement; left out of the figures")
    for_: Duration | None = Field(None, alias="for", gt=0, description="time measured, after ramp and warm_up")
    think: TimeLaw | None = Field(None, description="pause of a client between its iterations (closed loads)")
    delay: TimeLaw | None = Field(None, description="pause before this load starts; drawn once per case")
    every: Any = not_yet("one iteration each such time")
    stages: Any = not_yet("a list of loads one after another")
    hold: Any = not_yet("steer the load so that a measured quantity stays at a set point")
    find: Any = not_yet("look for the highest load that still meets a criterion")
    replay: Any = not_yet("press the operations of an earlier record again")

    @property
    def kind(self) -> Literal["once", "times", "closed", "open"]:
        """The shape of the load."""
        if self.rate is not None:
            return "open"
        if self.clients is not None:
            return "closed"
        return "times" if self.times is not None else "once"

    @property
    def sustained(self) -> bool:
        """Whether the load presses for a time or with several clients, rather than running a check."""
        return self.kind in ("closed", "open")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.once and {"times", "clients", "rate"} & self.model_fields_set:
            raise ValueError("once stands beside times, clients or rate; expected one kind of load")
        if self.sustained and self.for_ is None and self.times is None:
            raise ValueError("the load has no end; expected `for: TIME` or `times: N` beside clients or rate")
        if not self.sustained and self.for_ is not None:
            raise ValueError("`for` needs clients or rate; expected e.g. {clients: 1, for: 10 s}")
        if not self.sustained and (self.ramp or self.warm_up):
            raise ValueError("ramp and warm_up need clients or rate; expected e.g. {clients: 10, ramp: 5 s, for: 10 s}")
        if self.kind == "open" and self.think is not None:
            raise ValueError("an open load has no think time; expected think only beside clients or times")
        if self.kind != "open" and "arrivals" in self.model_fields_set:
            raise ValueError("arrivals needs rate; expected e.g. {rate: 10 /s, arrivals: poisson, for: 1 min}")
        return self


class TestSpec(Part):
    """One test of the suite: which plug-in, on which target, under which load."""

    __test__ = False  # not a test of ours, whatever pytest thinks of the name

    name: Name = Field(description="name of the test in this suite")
    use: Text = Field(description="a name from `pileup list tests`, or ./file.py:Class")
    target: str | None = Field(
        None, description="name of a target; may be left out when the suite has just one, or the test needs none"
    )
    options: dict[str, Any] = Field(default_factory=dict, description="options of the test, see `pileup describe NAME`")
    scope: Literal["run", "point", "case"] = Field(
        "case", description="done once per run, per point of a scan, or per case"
    )
    cleanup: Literal["always", "passed", "never"] = Field(
        "always", description="when what the test has made is removed at the end"
    )
    after: tuple[Name, ...] = Field((), description="tests that must have passed before")
    load: Load = Field(default_factory=Load, description="how the test is pressed")
    timeout: Duration = Field(
        60 * 10**9, gt=0, description="an operation (a Python test's iteration) without an answer by then is ambiguous"
    )
    fail_when: Text | None = Field(
        None, description="a check; when it holds the case has failed, e.g. `fraction(copy.failed) > 5 %`"
    )
    with_: Any = Field(
        None, alias="with", description="Not yet: lives as long as these tests", json_schema_extra={NOT_YET: True}
    )
    isolate: Any = not_yet("run in a thread or a process of its own")
    layers: Any = not_yet("press all layers of the protocol or only some")
    environment: Any = not_yet("client software to set up before the test")
    against: Any = not_yet("two targets, pressed in pairs")
    until: Any = not_yet("repeat until the figure is precise")


class MonitorSpec(BaseModel):
    """Something measured at an interval for the life of the run. Options of the monitor stand beside these words."""

    model_config = ConfigDict(frozen=True, extra="allow")

    use: Text = Field(description="a name from `pileup list monitors`, or ./file.py:Class")
    name: Name | None = Field(None, description="name in checks and charts; default: that of the plug-in")
    every: Duration = Field(10**9, ge=10 * 10**6, description="interval between samples")
    host: Any = not_yet("measure on another host over ssh")

    @property
    def options(self) -> dict[str, Any]:
        """Options of the plug-in as written."""
        return dict(self.model_extra or {})


class CriterionSpec(Part):
    """A sentence that the system shall fulfil, and how that is checked."""

    id: Name = Field(description="short name, e.g. C1")
    says: Text = Field(description="the requirement in words")
    check: Text | None = Field(
        None, description="FUNCTION(SELECTOR) COMPARISON VALUE [UNIT]; may be left out with coverage: none"
    )
    coverage: Literal["full", "partial", "none"] = Field(
        "full", description="how much of the sentence the check covers"
    )
    at: Any = not_yet("points of a scan at which it must hold")

    @model_validator(mode="after")
    def _checked(self) -> Self:
        if self.check is None and self.coverage != "none":
            raise ValueError(f"no check but coverage {self.coverage}; expected a check, or coverage: none")
        return self


class Limits(Part):
    """Guard rails of the whole run: past one of them pileup stops and says so (exit 7)."""

    bytes: Size | None = Field(None, description="read and written in all")
    operations: Count | None = Field(None, description="operations in all")
    duration: Duration | None = Field(None, description="of the run")
    errors_in_a_row: Count | None = Field(
        None, ge=1, description="iterations of one case that did not pass, one after another"
    )
    inside: Any = not_yet("nothing is written or deleted outside this path of a target")


class Suite(Part):
    """A file that says what to run."""

    pileup: Literal[1] = Field(description="version of this format")
    title: Text = Field(min_length=1, description="one line that names the suite")
    about: Text = Field("", description="why it exists, for the report")
    labels: dict[Name, str] = Field(default_factory=dict, description="free words to find and compare runs by")
    seed: int = Field(1, ge=0, lt=2**63, description="everything random follows from it")
    variables: dict[Name, str | None] = Field(
        default_factory=dict, description="values used as $name anywhere, changed by --set name=value"
    )
    options: dict[Name, Any] = Field(
        default_factory=dict, description="options seen by every test that has one of that name"
    )
    targets: dict[Name, TargetSpec] = Field(default_factory=dict, description="systems under test by name")
    limits: Limits = Field(default_factory=Limits, description="guard rails of the run")
    delay: TimeLaw | None = Field(None, description="pause before each test that has no delay of its own")
    tests: tuple[TestSpec, ...] = Field(
        min_length=1, description="what is done, in this order unless `after` says otherwise"
    )
    monitors: tuple[MonitorSpec, ...] = Field((), description="what is measured beside")
    criteria: tuple[CriterionSpec, ...] = Field((), description="what shall hold")
    scan: Any = not_yet("parameters to vary; every combination is a point")
    repeat: Any = not_yet("how often each point is run, interleaved")
    loop: Any = not_yet("how often the whole suite is run")
    faults: Any = not_yet("what is broken on purpose, and when")
    cooldown: Any = not_yet("how long monitors go on after the load")
    equivalent: Any = not_yet("tests that must give equal answers")
    against: Any = not_yet("two targets, pressed in pairs")
    until: Any = not_yet("repeat until the figures are precise")
    layers: Any = not_yet("press all layers of the protocol or only some")
    environment: Any = not_yet("client software to set up before the tests")
    isolate: Any = not_yet("run tests in threads or processes of their own")
    places: Any = not_yet("where the load comes from")

    def test(self, name: str) -> TestSpec:
        """Return the test of that name; KeyError when there is none."""
        found = {test.name: test for test in self.tests}
        return found[name]
