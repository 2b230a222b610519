"""The database of a target, as monitors ask it: its url, and who asks."""

from __future__ import annotations

from pileup.builtin.database.read_only import Database
from pileup.builtin.database.source import Login, check_url
from pileup.builtin.database.target import DatabaseTarget
from pileup.plugin import PluginError, Target
from pileup.plugin.credentials import Credentials


def database_of(target: Target, timeout: int) -> Database:
    """Return a connection of its own to the database of a target, not made yet; `timeout` in ns.

    Kinds of targets that have one give its url by `database_url`; who asks is in their options, and in the
    `credentials` of kind database.
    Raises PluginError for a target that has none, or does not know where it is.
    """
    url = getattr(target, "database_url", None)
    if not url:
        what = "knows no database" if url is None else "does not know where its database is"
        raise PluginError(f"the target of kind {target.kind} {what}", "one with a database, or a `url`")
    own = target.credentials if isinstance(target, DatabaseTarget) else Credentials()
    secret = own.password.get_secret_value() if own.password is not None else None
    files = (getattr(target, "password_file", None), getattr(target, "defaults_file", None))
    login = Login(secret, *files, own.ca, own.user)
    try:
        check_url(url, login)
    except ValueError as problem:
        raise PluginError(str(problem)) from None
    return Database(url, login, timeout)
