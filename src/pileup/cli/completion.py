"""pileup completion: what a shell needs to complete commands, options, suites and runs."""

from __future__ import annotations

import click

from pileup.cli.command import Command, OneOf
from pileup.cli.messages import echo

VARIABLE = "_PILEUP_COMPLETE"
"""Variable by which the shell asks: click's name for it."""
PLACES = {
    "bash": "~/.local/share/bash-completion/completions/pileup",
    "zsh": "~/.zfunc/_pileup",
    "fish": "~/.config/fish/completions/pileup.fish",
}
"""Shell -> the file that it reads by itself; zsh where `fpath` has ~/.zfunc."""
BASH = r"""_pileup_completion() {
    local line="${COMP_LINE:0:$COMP_POINT}" words current type value
    read -ra words <<< "$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    current="${words[-1]}"
    COMPREPLY=()
    while IFS=, read -r type value; do
        case $type in
            dir) compopt -o filenames; mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -d -- "$current") ;;
            file) compopt -o filenames; mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$current") ;;
            plain) COMPREPLY+=("$value") ;;
        esac
    done < <(COMP_WORDS="$line" COMP_CWORD=$((${#words[@]} - 1)) _PILEUP_COMPLETE=bash_complete "$1" 2> /dev/null)
    # Bash ends words at colons: what is before the last one is there already
    if [[ $current == *:* && $COMP_WORDBREAKS == *:* ]]; then
        local before="${current%"${current##*:}"}"
        COMPREPLY=("${COMPREPLY[@]#"$before"}")
    fi
}
complete -o nosort -F _pileup_completion pileup
"""
"""That of click takes a word apart at its colon, as in suite:first-run, and offers names or files, not both."""


@click.command(
    "completion",
    cls=Command,
    examples=[
        ("for bash, from the next shell on", f"pileup completion bash > {PLACES['bash']}"),
        ("for this shell alone", 'eval "$(pileup completion bash)"'),
    ],
    page="install.md",
)
@click.argument("shell", type=OneOf(list(PLACES)), metavar="bash|zsh|fish")
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print completion for bash, zsh or fish.

    Commands, options, their values, shipped suites and run folders are completed. The first lines say where the
    script belongs.
    """
    place = PLACES[shell]
    echo(f"# mkdir -p {place.rpartition('/')[0]} && pileup completion {shell} > {place}" if shell != "zsh" else _ZSH)
    echo(script(shell, context.find_root().command), nl=False)


_ZSH = f"""#compdef pileup
# mkdir -p ~/.zfunc && pileup completion zsh > {PLACES["zsh"]}
# and in ~/.zshrc, before compinit: fpath+=~/.zfunc"""


def script(shell: str, app: click.Command) -> str:
    """Return the script of a shell: our own for bash, those of click for others."""
    from click.shell_completion import FishComplete, ZshComplete

    if shell == "bash":
        return BASH
    found = ZshComplete if shell == "zsh" else FishComplete
    return found(app, {}, "pileup", VARIABLE).source()
