"""What a private Rucio reads: its configuration, the script that fills its database, and the module of its server."""

from __future__ import annotations

import json

from pileup.builtin.rucio.settings import SECOND, RucioSettings

DATABASE = "rucio"
"""What the user of the database is called; the database itself is `postgres`."""
SCHEMA = "dev"
LOGIN = "{short}/login"
"""The folder of what only its user and pileup may read."""
TOLD = "pileup.json"
"""Beside the token: what a target needs to know of a private Rucio."""
TOKEN = f"{LOGIN}/token"
CONFIGURATION = "{short}/rucio.cfg"
ACCOUNT, USER = "root", "pileup"
SCOPE, EMPTY_SCOPE = "pileup", "pileup.empty"
RSES = ("PILEUP-1", "PILEUP-2")

RUCIO_CFG = """\
[common]
loglevel = WARNING
[database]
default = postgresql+psycopg://{database}@/postgres?host={{short}}&port={{port:postgres}}
schema = {schema}
pool_size = {pool}
max_overflow = 0
pool_timeout = {pool_wait}
[policy]
permission = generic
schema = generic
lfn2pfn_algorithm_default = hash
[alembic]
cfg = {{short}}/alembic.ini
[cache]
url = 127.0.0.1:{cache}
"""
ALEMBIC_INI = """\
[alembic]
script_location = rucio.db.sqla:migrate_repo
sqlalchemy.url = postgresql+psycopg://{database}@/postgres?host={{short}}&port={{port:postgres}}
version_table_schema = {schema}
[loggers]
keys = root
[handlers]
keys = console
[formatters]
keys = plain
[logger_root]
level = WARNING
handlers = console
[handler_console]
class = StreamHandler
args = (sys.stderr,)
formatter = plain
[formatter_plain]
format = %(levelname)s %(message)s
"""
FILL = """\
# Makes the tables of a private Rucio, its account, its scopes and its storage elements.
import datetime
import json
import sys

from rucio.common import config

known = json.load(open(sys.argv[1]))
given = config.get_config()
given.add_section("bootstrap")
given.set("bootstrap", "userpass_identity", known["user"])
given.set("bootstrap", "userpass_pwd", known["password"].replace("%", "%%"))

from rucio.common.types import InternalAccount, InternalScope
from rucio.core import rse, scope
from rucio.db.sqla import models, util
from rucio.db.sqla.constants import DatabaseOperationType
from rucio.db.sqla.session import db_session

util.build_database()
util.create_base_vo()
util.create_root_account()
root = InternalAccount(known["account"])
every = dict.fromkeys(("read", "write", "delete"), 1)
with db_session(DatabaseOperationType.WRITE) as session:
    for name in known["scopes"]:
        scope.add_scope(InternalScope(name), root, session=session)
    for number, name in enumerate(known["rses"], 1):
        made = rse.add_rse(name, session=session)
        at = {"scheme": "root", "hostname": f"se{number}.pileup.invalid", "port": 1094, "prefix": "/data/"}
        at |= {"impl": "rucio.rse.protocols.xrootd.Default", "domains": {"lan": dict(every), "wan": dict(every)}}
        rse.add_protocol(made, at, session=session)
    end = datetime.datetime.utcnow() + datetime.timedelta(days=30)
    token = models.Token(account=root, identity=known["user"], token=known["token"], expired_at=end, ip="127.0.0.1")
    token.save(session=session)
"""
SERVE = """\
# The REST server of a private Rucio.
import datetime

from rucio.core.permission import generic
from rucio.db.sqla import models
from rucio.web.rest.flaskapi.v1.main import application

LIFETIME = datetime.timedelta(microseconds={lifetime})
# Rucio leaves the deletion of replicas to its daemons, which do not run here: the account of pileup may do it
generic.perm_delete_replicas = generic.perm_default
models.Token.__table__.c.expired_at.default.arg = lambda context: datetime.datetime.utcnow() + LIFETIME
"""
READY = """\
# Ends with 0 when the server answers.
import sys
import urllib.request

urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"http://127.0.0.1:{sys.argv[1]}/ping", timeout=10)
"""


def rucio_cfg(wanted: RucioSettings) -> str:
    """Return its configuration."""
    return RUCIO_CFG.format(
        database=DATABASE,
        schema=SCHEMA,
        pool=wanted.pool,
        pool_wait=wanted.pool_wait // SECOND,
        cache="{port:memcached}" if wanted.cache else "1",
    )


def alembic_ini() -> str:
    """Return what the tool that makes its tables reads."""
    return ALEMBIC_INI.format(database=DATABASE, schema=SCHEMA)


def serve_py(wanted: RucioSettings) -> str:
    """Return the module that gunicorn loads."""
    return SERVE.format(lifetime=wanted.token_lifetime // 1000)


def description(password: str, token: str) -> str:
    """Return what a target needs to know of it, as JSON: who pileup is, where it may write, and its database."""
    known = {
        "account": ACCOUNT,
        "user": USER,
        "password": password,
        "token": token,
        "scopes": [SCOPE, EMPTY_SCOPE],
        "rses": RSES,
        "database": f"postgresql://{DATABASE}@:{{port:postgres}}/postgres?host={{short}}",
    }
    return json.dumps(known)
