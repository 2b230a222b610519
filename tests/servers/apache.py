"""A private Apache httpd with WebDAV on a free port of 127.0.0.1, launched as a suite's server is."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pileup.plugin import Accepts, Daemon, File, Launcher
from tests.servers.launched import launched
from tests.support import require_program

MODULES = Path("/usr/lib/apache2/modules")
LOADED = ("mpm_event", "authz_core", "dav", "dav_fs", "setenvif")
USER = "User www-data\nGroup www-data" if os.geteuid() == 0 else ""
CONFIG = f"""
{{modules}}
ServerName 127.0.0.1
Listen 127.0.0.1:{{port}}
{USER}
PidFile {{folder}}/httpd.pid
ErrorLog {{folder}}/error.log
{{log}}
DocumentRoot {{home}}/data
DavLockDB {{home}}/locks/db
ServerLimit 2
ThreadsPerChild 64
MaxRequestWorkers 128
MaxKeepAliveRequests 0
<Directory {{home}}/data>
    Dav On
    DavDepthInfinity On
    Require all granted
</Directory>
"""


LOGGED = """LogFormat "%h %l %u %t \\"%r\\" %>s %b \\"-\\" \\"%{User-Agent}i\\" %D %{usec}t %{X-Pileup-Id}i" pileup
CustomLog FOLDER/access.log pileup
"""


@contextlib.contextmanager
def apache(folder: Path, *, logs: bool = False) -> Iterator[str]:
    """Yield the url of a WebDAV server whose files lie in folder/data; if it `logs`, then into folder/access.log.

    They lie in a folder of their own, linked from there: as root its workers are another user, who has no way through
    the folders of tests.
    """
    program = require_program("apache2", "apt-get install apache2-bin")
    modules = "\n".join(f"LoadModule {name}_module {MODULES}/mod_{name}.so" for name in LOADED)
    command = (program, "-f", "{folder}/httpd.conf", "-D", "FOREGROUND")
    with tempfile.TemporaryDirectory(prefix="pileup-apache-") as temporary:
        home = Path(temporary)
        home.chmod(0o755)
        for name in ("data", "locks"):
            (home / name).mkdir()
            (home / name).chmod(0o777)
        (folder / "data").symlink_to(home / "data")
        log = LOGGED.replace("FOLDER", "{folder}") if logs else ""
        config = CONFIG.replace("{modules}", modules).replace("{home}", temporary).replace("{log}", log)
        server = Launcher(
            (Daemon(command, Accepts()),),
            url="http://127.0.0.1:{port}/",
            files=(File("{folder}/httpd.conf", config),),
        )
        with launched(server, folder) as url:
            yield url
