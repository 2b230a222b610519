"""A private Slurm: munged, its database where wanted, controller, nodes and REST, all as one ordinary user.

Everything lies in {short}. A computing element in front of it puts the parts before its own daemons.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pileup.builtin.database.mariadb import SLOW_LOG, MariadbParts, known_user, mariadb_parts
from pileup.builtin.database.mariadb import SOCKET as DATABASE_SOCKET
from pileup.builtin.slurm.settings import SECOND, SlurmSettings
from pileup.plugin import Accepts, Answer, Daemon, File, Launcher, Task

CLUSTER = "pileup"
PARTITION = "batch"
CONF = "{short}/etc/slurm.conf"
SOCKET = "{short}/run/rest.sock"
MUNGE = "{short}/run/munge.sock"
DATABASE = "slurm_acct"
READER = "pileup"
"""User of the database that may look at everything; like its socket for those who can reach {short}, its owner."""
TOLD = "etc/pileup.json"
"""What a target needs to know of it, below {short}."""
ENVIRONMENT = {"SLURM_CONF": CONF}
FOLDERS = {"etc": 0o755, "bin": 0o755, "run": 0o755, "state": 0o700, "spool": 0o755, "log": 0o700}
PASSED_THROUGH = 0o711
"""Mode of {short} where jobs of several users must reach their scripts: sockets are then in folders of their owner."""
GRACE = 20 * SECOND
PLUGINS = ("/usr/lib/*/slurm-wlm", "/usr/lib64/slurm", "/usr/lib/slurm", "/usr/local/lib/slurm")
INSTALL = {
    "munged": "munge",
    "slurmctld": "slurm-wlm",
    "slurmd": "slurm-wlm",
    "scontrol": "slurm-wlm",
    "slurmrestd": "slurmrestd",
    "slurmdbd": "slurmdbd",
}
"""Program to Debian package."""

CONFIGURATION = """\
ClusterName={cluster}
SlurmctldHost={{host}}(127.0.0.1)
SlurmUser={{user}}
SlurmdUser={node_user}
AuthType=auth/munge
AuthInfo=socket={munge}
CredType=cred/munge
SlurmctldPort={{port:ctld}}
SlurmdPort={{port:n1}}
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation={{short}}/state
SlurmdSpoolDir={{short}}/spool/%n
SlurmctldPidFile={{short}}/run/slurmctld.pid
SlurmdPidFile={{short}}/run/slurmd-%n.pid
SlurmctldSyslogDebug=quiet
SlurmdSyslogDebug=quiet
SwitchType=switch/none
MpiDefault=none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
PriorityType=priority/basic
SchedulerParameters={scheduler}
SlurmdParameters=config_overrides
MaxJobCount={max_jobs}
MaxArraySize={array}
MinJobAge={age}
JobRequeue=0
KillWait=2
ReturnToService=2
"""
DATABASE_DAEMON = f"""\
AuthType=auth/munge
AuthInfo=socket={MUNGE}
DbdHost={{host}}
DbdAddr=127.0.0.1
DbdPort={{port:dbd}}
SlurmUser={{user}}
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=slurm
StorageLoc={DATABASE}
DebugLevelSyslog=quiet
PidFile={{short}}/run/slurmdbd.pid
"""
GRANTS = f"""\
CREATE DATABASE IF NOT EXISTS {DATABASE};
CREATE USER IF NOT EXISTS slurm@localhost;
GRANT ALL ON {DATABASE}.* TO slurm@localhost;
CREATE USER IF NOT EXISTS {READER}@localhost;
GRANT SELECT, PROCESS ON *.* TO {READER}@localhost;
"""
NODE_READY = """\
#!/bin/sh
case $(sinfo -h -N -n "$1" -o %T) in idle | mixed | allocated | completing) ;; *) exit 1 ;; esac
"""
# What waits stays where it is: it goes with the folder. A step that hangs is killed after all has ended.
DRAIN = f"""\
#!/bin/sh
scontrol update PartitionName={PARTITION} State=DOWN
scancel -Q --state=RUNNING
until [ -z "$(squeue -h -t RUNNING,COMPLETING,CONFIGURING,SUSPENDED -o %i)" ]; do sleep 0.1; done
"""
ADD_CLUSTER = f"""\
#!/bin/sh
until sacctmgr -n -P list cluster; do sleep 0.1; done
[ -n "$(sacctmgr -n -P list cluster name={CLUSTER})" ] || sacctmgr -i add cluster {CLUSTER}
"""


@dataclass(frozen=True, slots=True)
class SlurmParts:
    """A Slurm to be started before something else. Texts hold words in braces, as everywhere in a launcher."""

    files: tuple[File, ...]
    processes: tuple[Daemon | Task, ...]
    """In the order of their start; each job is ended before the first node is."""
    environment: dict[str, str]
    """What its commands need."""
    user: str
    """Who runs it, and every job, when pileup is root; empty for whoever runs pileup."""
    rest: str = SOCKET
    """The unix socket of slurmrestd."""
    conf: str = CONF
    disk: str = "{short}/state"
    """Where the controller must be able to write."""
    partition: str = PARTITION


def slurm_launcher(settings: Mapping[str, object]) -> Launcher:
    """Return how to start a Slurm; its url is that of its REST socket.

    Raises ValueError for a setting that is unknown or out of bounds, and when this machine lacks something.
    """
    wanted = SlurmSettings.model_validate(settings)
    parts = slurm_parts(wanted)
    return Launcher(parts.processes, f"unix:{parts.rest}", parts.files, user=parts.user, disk=parts.disk)


def slurm_parts(wanted: SlurmSettings) -> SlurmParts:
    """Return what a private Slurm is made of. Raises ValueError when this machine lacks something."""
    processes = (_munged(), *(_accounting(wanted) if wanted.accounting else ()), _controller())
    nodes = (_node(name, wanted) for name in wanted.node_names())
    return SlurmParts(tuple(_files(wanted)), (*processes, *nodes, *_rest(wanted)), dict(ENVIRONMENT), _user())


def _user() -> str:
    """Return who runs it under root: the user of its package. Raises ValueError when there is none."""
    found = known_user("slurm", "nobody")
    if not found and os.geteuid() == 0:
        raise ValueError("there is no user `slurm` here; expected one, as its package makes it, or pileup not as root")
    return found


def _program(name: str) -> str:
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if found is None:
        raise ValueError(
            f"{name} is not installed here; expected it (Debian: apt-get install {INSTALL[name]}), or a url"
        )
    return found


def _munged() -> Daemon:
    # forced: its socket is in a folder that only its owner can reach, as are all who should ask it
    words = ("--foreground", "--force", "--key-file={short}/etc/munge.key", f"--socket={MUNGE}", "--num-threads=10")
    places = ("--pid-file={short}/run/munged.pid", "--seed-file={short}/run/munge.seed")
    ready = Accepts(MUNGE)
    return Daemon((_program("munged"), *words, *places), ready, name="munged", folder="{short}", grace=GRACE)


def _accounting(wanted: SlurmSettings) -> Iterator[Daemon | Task]:
    """Yield a MariaDB, the daemon before it, and what makes the cluster known."""
    yield from _database(wanted).processes
    yield Daemon(
        (_program("slurmdbd"), "-D"),
        Accepts("{port:dbd}"),
        name="slurmdbd",
        environment={**ENVIRONMENT, "MYSQL_UNIX_PORT": DATABASE_SOCKET},
        folder="{short}",
        ready_within=60 * SECOND,
        grace=GRACE,
    )
    yield Task(("{short}/bin/add-cluster",), name="cluster", environment=ENVIRONMENT, within=60 * SECOND)


def _database(wanted: SlurmSettings) -> MariadbParts:
    sizes: tuple[str, ...] = (f"--innodb-buffer-pool-size={wanted.buffer_pool}M", "--innodb-lock-wait-timeout=900")
    if wanted.slow_queries is not None:
        longest = f"--long-query-time={wanted.slow_queries / SECOND:g}"
        sizes = (*sizes, "--slow-query-log=ON", f"--slow-query-log-file={SLOW_LOG}", longest)
    return mariadb_parts(GRANTS, (*sizes, "--innodb-flush-log-at-trx-commit=2"))


def _controller() -> Daemon:
    return Daemon(
        (_program("slurmctld"), "-D"),
        Answer((_program("scontrol"), "ping"), "is UP"),
        name="slurmctld",
        environment={**ENVIRONMENT, "SLURM_TIME_FORMAT": "%s"},  # in its log of completions
        folder="{short}",
        grace=2 * GRACE,
    )


def _several(wanted: SlurmSettings) -> bool:
    """Return whether jobs run as several users, which only root can start."""
    return bool(wanted.accounts) and os.geteuid() == 0


def _node(name: str, wanted: SlurmSettings) -> Daemon:
    """Return one node. Whichever is ended first lets every job end before, so that no step is left behind."""
    return Daemon(
        (_program("slurmd"), "-D", "-N", name),
        Answer(("{short}/bin/node-ready", name)),
        name="slurmd" if wanted.nodes == 1 else f"slurmd-{name}",
        environment=ENVIRONMENT,
        folder="{short}",
        before_end=(("{short}/bin/drain",),),
        grace=GRACE,
        as_pileup=_several(wanted),
    )


def _rest(wanted: SlurmSettings) -> Iterator[Daemon]:
    """Yield what speaks REST: one for who reaches its socket and, since none does both, one for who has a token."""
    yield _gate(wanted, "slurmrestd", ("rest_auth/local", f"unix:{SOCKET}"), Accepts(SOCKET))
    if wanted.tokens:
        yield _gate(
            wanted,
            "slurmrestd-tokens",
            ("rest_auth/jwt", "127.0.0.1:{port:rest}"),
            Accepts("{port:rest}"),
            SLURM_JWT="daemon",
        )


def _gate(wanted: SlurmSettings, name: str, where: tuple[str, str], ready: Accepts, **more: str) -> Daemon:
    words = ("-s", "openapi/v0.0.38", "-t", str(wanted.rest_threads), "-a", *where)
    environment = {**ENVIRONMENT, **more}
    return Daemon((_program("slurmrestd"), *words), ready, name=name, environment=environment, folder="{short}")


def _files(wanted: SlurmSettings) -> Iterator[File]:
    if _several(wanted):
        yield File("{short}", mode=PASSED_THROUGH)
    for name, mode in FOLDERS.items():
        yield File(f"{{short}}/{name}", mode=0o700 if name == "run" and _several(wanted) else mode)
    yield File("{short}/etc/munge.key", secrets.token_bytes(128), mode=0o400, keep=True)
    yield File(CONF, _configuration(wanted), mode=0o644)
    yield File(f"{{short}}/{TOLD}", _told(wanted), mode=0o644)
    for name, text in {"node-ready": NODE_READY, "drain": DRAIN, "add-cluster": ADD_CLUSTER}.items():
        yield File(f"{{short}}/bin/{name}", text, mode=0o755)
    if wanted.accounting:
        yield File("{short}/etc/slurmdbd.conf", DATABASE_DAEMON)
        yield from _database(wanted).files
    if wanted.tokens:
        _plugin("auth_jwt.so")
        yield File("{short}/state/jwt.key", secrets.token_bytes(32), keep=True)


def _plugin(name: str) -> None:
    if not any(list(Path("/").glob(f"{folder[1:]}/{name}")) for folder in PLUGINS):
        raise ValueError(
            f"Slurm's {name} is not installed here; expected it (Debian: apt-get install slurm-wlm-jwt-plugin), "
            "or `tokens: false`"
        )


def _told(wanted: SlurmSettings) -> str:
    """Return what a target that finds this folder reads, as JSON."""
    told = {
        "user": "{user}",
        "conf": CONF,
        "database": f"mariadb://{READER}@/{DATABASE}?unix_socket={DATABASE_SOCKET}" if wanted.accounting else "",
        "completions": "" if wanted.accounting else "{short}/log/completions",
        "slow_log": "" if wanted.slow_queries is None else SLOW_LOG,
        "port": "{port:rest}" if wanted.tokens else "",
        "users": list(wanted.accounts) if _several(wanted) else [],
    }
    return json.dumps(told)


def _configuration(wanted: SlurmSettings) -> str:
    scheduler = {
        "batch_sched_delay": 1,
        "sched_min_interval": wanted.cycle // 1000,
        "default_queue_depth": wanted.depth,
        "bf_max_job_test": wanted.depth,
    }
    text = CONFIGURATION.format(
        cluster=CLUSTER,
        munge=MUNGE,
        node_user="root" if _several(wanted) else "{user}",
        scheduler=",".join([*(["defer"] if wanted.defer else []), *(f"{key}={it}" for key, it in scheduler.items())]),
        max_jobs=wanted.max_jobs,
        array=max(2, min(20_001, wanted.max_jobs)),
        age=wanted.min_job_age // SECOND,
    )
    return "\n".join((text, *_keeping(wanted), *_places(wanted), *wanted.directives, ""))


def _keeping(wanted: SlurmSettings) -> Iterator[str]:
    """Yield lines for what becomes of jobs, and for tokens."""
    if wanted.accounting:
        yield "AccountingStorageType=accounting_storage/slurmdbd"
        yield "AccountingStorageHost=127.0.0.1"
        yield "AccountingStoragePort={port:dbd}"
        yield f"AccountingStoragePass={MUNGE}"
    else:
        yield "AccountingStorageType=accounting_storage/none"
        yield "JobCompType=jobcomp/filetxt"
        yield "JobCompLoc={short}/log/completions"
    if wanted.tokens:
        yield "AuthAltTypes=auth/jwt"
        yield "AuthAltParameters=jwt_key={short}/state/jwt.key"


def _places(wanted: SlurmSettings) -> Iterator[str]:
    """Yield the nodes, which are all this machine, and the partition."""
    for name, slots in zip(wanted.node_names(), wanted.node_slots(), strict=True):
        size = f"CPUs={slots} Boards=1 SocketsPerBoard=1 CoresPerSocket={slots} ThreadsPerCore=1"
        yield f"NodeName={name} NodeHostname={{host}} NodeAddr=127.0.0.1 Port={{port:{name}}} {size}"
    yield f"PartitionName={PARTITION} Nodes=ALL Default=YES MaxTime=INFINITE State=UP"
