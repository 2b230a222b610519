"""What the two daemons of a private ARC CE read: arc.conf, and the XML that its start scripts would make of it.

The scripts parse the configuration some twenty times and take 8 to 17 s; the daemons themselves are up in less than
one. Their XML also lets the REST service listen at 127.0.0.1 alone.
"""

from __future__ import annotations

from pileup.builtin.arc.settings import ArcSettings
from pileup.builtin.slurm.settings import SECOND

HOME = "{short}/arc"
"""Where all of it lies but for the identities."""
CA_FOLDER = "{short}/ca"
CONTROL = f"{HOME}/control"
CONFIGURATION = f"{HOME}/arc.conf"
RUNNING = f"{HOME}/run/arex.cfg"
"""The configuration as arcconfig-parser has read it, which the daemons take."""
SUBJECTS = "{short}/subjects"
SECONDS_TOLD = 10
"""The daemon waits for a tenth of the seconds that it is given (information_collector.cpp of ARC 6.17)."""
NAMES = (
    'xmlns="http://www.nordugrid.org/schemas/ArcConfig/2007" xmlns:arex="http://www.nordugrid.org/schemas/a-rex/Config"'
)

ARC_CONF = """\
[common]
hostname = localhost
x509_host_key = {{short}}/host.pem
x509_host_cert = {{short}}/host.pem
x509_cert_dir = {ca}
[authgroup:all]
file = {subjects}
[mapping]
map_to_user = all {{user}}
[lrms]
lrms = slurm {queue}
slurm_bin_path = {home}/bin
slurm_wakeupperiod = 1
slurm_use_sacct = no
[arex]
controldir = {control}
sessiondir = {home}/session
logfile = {home}/log/arex.log
joblog = {home}/log/jobs.log
helperlog = {home}/log/helper.log
pidfile = {home}/run/arex.pid
tmpdir = {home}/scratch
wakeupperiod = {wakeup}
maxjobs = {limits}
[arex/data-staging]
logfile = {home}/log/datastaging.log
[arex/ws]
wsurl = https://localhost:{{port}}/arex
logfile = {home}/log/ws.log
pidfile = {home}/run/arex-ws.pid
[arex/ws/jobs]
allowaccess = all
[infosys]
logfile = {home}/log/infoprovider.log
[infosys/glue2]
[infosys/cluster]
alias = pileup
[queue:{queue}]
allowaccess = all
"""
AREX = """\
<?xml version="1.0"?>
<ArcConfig {names}>
  <Server>
    <PidFile>{home}/run/arex.pid</PidFile>
    <Logger><Level>INFO</Level></Logger>
    <Watchdog>false</Watchdog>
  </Server>
  <ModuleManager><Path>{modules}</Path></ModuleManager>
  <Plugins><Name>arex</Name></Plugins>
  <Chain>
    <Service name="a-rex" id="a-rex">
      <arex:endpoint>https://localhost:{{port}}/arex</arex:endpoint>
      <arex:gmconfig>{running}</arex:gmconfig>
      <arex:InfoproviderWakeupPeriod>{information}</arex:InfoproviderWakeupPeriod>
    </Service>
  </Chain>
</ArcConfig>
"""
REST = """\
<?xml version="1.0"?>
<ArcConfig {names} xmlns:tcp="http://www.nordugrid.org/schemas/ArcMCCTCP/2007">
  <Server>
    <PidFile>{home}/run/arex-ws.pid</PidFile>
    <Logger><Level>WARNING</Level></Logger>
    <Watchdog>false</Watchdog>
  </Server>
  <ModuleManager><Path>{modules}</Path></ModuleManager>
  {plugins}
  <Chain>
    <Component name="tcp.service" id="tcp">
      <next id="tls"/>
      <tcp:Listen><tcp:Interface>127.0.0.1</tcp:Interface><tcp:Port>{{port}}</tcp:Port></tcp:Listen>
    </Component>
    <Component name="tls.service" id="tls">
      <next id="http"/>
      <KeyPath>{{short}}/host.pem</KeyPath>
      <CertificatePath>{{short}}/host.pem</CertificatePath>
      <CACertificatesDir>{ca}</CACertificatesDir>
      <VOMSProcessing>standard</VOMSProcessing>
      <ClientAuthn>false</ClientAuthn>
    </Component>
    <Component name="http.service" id="http">
      <next id="soap">POST</next>
      <next id="plexer"/>
      <SecHandler name="arclegacy.handler" event="incoming"><ConfigFile>{running}</ConfigFile></SecHandler>
    </Component>
    <Component name="soap.service" id="soap">
      <next id="plexer"/>
      <ContinueNonSOAP>true</ContinueNonSOAP>
    </Component>
    <Plexer name="plexer.service" id="plexer"><next id="a-rex">^/arex</next></Plexer>
    <Service name="a-rex" id="a-rex">
      <SecHandler name="arclegacy.map" event="incoming">
        <ConfigBlock><ConfigFile>{running}</ConfigFile><BlockName>mapping</BlockName></ConfigBlock>
      </SecHandler>
      <arex:endpoint>https://localhost:{{port}}/arex</arex:endpoint>
      <arex:gmconfig>{running}</arex:gmconfig>
      <arex:gmrun>none</arex:gmrun>
    </Service>
  </Chain>
</ArcConfig>
"""
PLUGINS = ("mcctcp", "mcctls", "mcchttp", "mccsoap", "arex", "identitymap", "arcshc", "arcshclegacy")
WRAPPER = """\
#!/bin/sh
SLURM_CONF={conf} exec {program} "$@"
"""
READY = f"{HOME}/bin/rest-ready"
READY_SCRIPT = """\
#!/bin/sh
# It accepts connections a while before it answers.
printf 'GET /arex/rest HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' |
    {openssl} s_client -quiet -connect "127.0.0.1:$1" -CAfile {ca}/ca.pem -verify_return_error 2>/dev/null |
    grep -q '^HTTP/1.1 200'
"""
BEGUN = f"{HOME}/log/begun.log"
"""The session folder of a job for each time that it has begun on a node: the batch system may forget, this does not."""
NOTE = f"{HOME}/bin/note-begun"
PROLOG = f"TaskProlog={NOTE}"
NOTE_SCRIPT = f"""\
#!/bin/sh
echo "$SLURM_SUBMIT_DIR" >> {BEGUN}
"""
COMMANDS = ("sbatch", "squeue", "scontrol", "sinfo", "sacct", "scancel")
"""What the scripts call of Slurm."""


def arc_conf(wanted: ArcSettings, queue: str) -> str:
    """Return arc.conf, with words in braces to be filled in."""
    return ARC_CONF.format(
        home=HOME,
        control=CONTROL,
        subjects=SUBJECTS,
        ca=CA_FOLDER,
        queue=queue,
        wakeup=wanted.wakeup // SECOND,
        limits=wanted.limits(),
    )


def arex_xml(wanted: ArcSettings, modules: str) -> str:
    """Return the configuration of the daemon that does the work."""
    information = SECONDS_TOLD * wanted.information // SECOND
    return AREX.format(names=NAMES, home=HOME, modules=modules, running=RUNNING, information=information)


def rest_xml(modules: str) -> str:
    """Return the configuration of the daemon that answers clients."""
    plugins = "".join(f"<Plugins><Name>{name}</Name></Plugins>" for name in PLUGINS)
    return REST.format(names=NAMES, home=HOME, modules=modules, running=RUNNING, plugins=plugins, ca=CA_FOLDER)
