"""The configuration of a user: what holds for all their runs."""

from __future__ import annotations

from pydantic import Field, field_validator

from pileup.model.schemes import has_password
from pileup.model.suite_part import Name, Part, Text


class EndpointSpec(Part):
    """A system under a name of your own, for `pileup check NAME` and `pileup bench NAME`; options win over it."""

    url: Text = Field(description="where it is: any url that `pileup check` takes")
    kind: str | None = Field(None, description="what it is, where the url does not say it: as `--kind`")
    token: str | None = Field(None, description="`discover`, or the file that holds the bearer token")
    proxy: str | None = Field(None, description="`discover`, or the file of the X.509 proxy")
    ca: str | None = Field(None, description="`discover`, or the CA certificates: a file or a folder")

    @field_validator("url")
    @classmethod
    def _no_password(cls, value: str) -> str:
        if has_password(value):
            raise ValueError("a password in a url; expected a url without one: `token`, or a suite with `credentials`")
        return value


class UserConfig(Part):
    """The file itself."""

    runs: Text | None = Field(None, description="folder of run folders, where neither `--out` nor $PILEUP_RUNS says it")
    defaults: dict[str, dict[str, str | list[str]]] = Field(
        default_factory=dict, description="command -> its options without dashes -> value, e.g. `bench: {clients: 8}`"
    )
    endpoints: dict[Name, EndpointSpec] = Field(default_factory=dict, description="systems by names of your own")
