"""Pages about what several commands share: exit codes, the environment, JSON."""

from __future__ import annotations

from pileup.cli.pages.language import exit_code_blocks
from pileup.cli.pages.page import Code, Heading, Page, Table, Words

VARIABLES: dict[str, dict[str, str]] = {
    "pileup itself": {
        "PILEUP_RUNS": "folder of run folders, where `--out` does not say it; default: `runs` of your configuration, "
        "else ./runs",
        "PILEUP_CONFIG": "your configuration, in the place of ~/.config/pileup/config.yaml",
        "PILEUP_SSH": "command that reaches other hosts, in the place of `ssh`; a suite may name one, too",
        "PILEUP_PRACTICE_SETTINGS": "settings of `pileup practice`, as `--settings`; not in the list of processes",
        "PILEUP_RELAY_SETTINGS": "settings of `pileup relay`, in the same way",
        "PILEUP_CLIENT_SECRET": "the secret of a client of a token issuer, with `discover`",
        "PILEUP_DEBUG": "1 prints the traceback of an internal error, which else is in a file",
    },
    "The terminal": {
        "COLUMNS": "width of what is printed; default: that of the terminal, 120 in a pipe",
        "NO_COLOR": "no colours, whatever the value",
        "TERM": "`dumb`: no screen, no signs beyond ASCII",
    },
    "Folders of yours": {
        "XDG_CONFIG_HOME": "folder of your configuration; default: ~/.config",
        "XDG_STATE_HOME": "folder of the registry of your runs; default: ~/.local/state",
    },
    "Credentials, with `discover`": {
        "BEARER_TOKEN": "the bearer token itself",
        "BEARER_TOKEN_FILE": "the file that holds it",
        "XDG_RUNTIME_DIR": "folder where bt_uUID may be, the same",
        "X509_USER_PROXY": "the file of the X.509 proxy; default: /tmp/x509up_uUID",
        "X509_CERT_DIR": "folder of CA certificates; default: /etc/grid-security/certificates",
    },
    "S3, where the suite says nothing else": {
        "AWS_ACCESS_KEY_ID": "the access key; with AWS_SECRET_ACCESS_KEY",
        "AWS_SECRET_ACCESS_KEY": "its secret",
        "AWS_SESSION_TOKEN": "the token of temporary keys",
        "AWS_PROFILE": "profile whose keys are used without these; default: `default`",
        "AWS_SHARED_CREDENTIALS_FILE": "file of profiles; default: ~/.aws/credentials",
        "AWS_CONFIG_FILE": "the other one; default: ~/.aws/config",
        "AWS_REGION": "region of the signatures; default: that of the profile, else us-east-1",
        "AWS_DEFAULT_REGION": "the same, where AWS_REGION is not set",
    },
}
"""What it is about -> variable -> what it says."""


CONFIG = """runs: ~/pileup-runs
defaults:
  bench: {clients: 8, for: 30 s}     # as pileup bench --clients 8 --for '30 s'
endpoints:
  se01: {url: "root://se01.site.org//data/pileup", token: discover}
  scratch: {url: /mnt/scratch}       # pileup check scratch"""
"""An example."""


def exit_codes_page() -> Page:
    """Return the page of exit codes."""
    first = Words(
        "Every command ends with one of these. `run`, `resume`, `check`, `bench`, `try` and `watch` end with that of "
        "the run."
    )
    example = Code('pileup run copy.yaml --quiet || echo "ended with $?"')
    return Page(
        "", "exit-codes", "Exit codes", "what the exit code of a command says", (first, *exit_code_blocks(), example)
    )


def environment_page() -> Page:
    """Return the page of environment variables."""
    first = Words(
        "An option wins over a variable, a variable over what a suite says, and that over your configuration "
        "(`pileup help config`)."
    )
    blocks = [
        block
        for title, variables in VARIABLES.items()
        for block in (
            Heading(title),
            Table(("variable", "what"), tuple((f"`{name}`", what) for name, what in variables.items())),
        )
    ]
    return Page("", "environment", "Environment", "variables that pileup reads", (first, *blocks))


def config_page() -> Page:
    """Return the page of the user's configuration."""
    from pileup.cli.pages.models import sections
    from pileup.model.user_config import UserConfig

    first = Words(
        "The configuration is in `~/.config/pileup/config.yaml` ($XDG_CONFIG_HOME, or the file in $PILEUP_CONFIG). "
        "It need not be there. An option wins over an environment variable, that over what a suite says, and that over "
        "the configuration. `pileup list endpoints` lists the endpoints."
    )
    note = Words(
        "A path of `runs` begins at the folder of the configuration, or with `~`. Secrets do not belong there: name "
        "files."
    )
    blocks = (first, Code(CONFIG), note, *sections(UserConfig, "config.yaml"))
    return Page("", "config", "Configuration", "runs folder, defaults and named endpoints", blocks)


def json_page() -> Page:
    """Return the page of what `--json` prints, from the types of it."""
    from pileup.cli import data
    from pileup.cli.pages.programming import class_blocks

    first = Words(
        "With `--json` a command prints one JSON object on stdout, and nothing else there. Keys and types stay as they "
        "are; new ones may come. Times are in ns, sizes in bytes; `null` says that there is none. Problems of the "
        "command line, of a suite or of a record are on stderr, and the exit code is the same as without `--json`."
    )
    table = Table(("command", "what it prints"), tuple((f"`{name}`", told) for name, told in data.COMMANDS.items()))
    blocks = [block for each in data.TYPES for block in (Heading(each.__name__), *class_blocks(each))]
    return Page("", "json", "JSON", "the keys of what `--json` prints", (first, table, *blocks))
