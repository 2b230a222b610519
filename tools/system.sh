#!/bin/sh
# The real programs that tests use. As root on Debian they are installed; otherwise tests that miss one are skipped and say so.
set -eu
wanted=""
# A server of S3, where Go is there to build it.
go=$(command -v go || true)
[ -n "$go" ] || { [ -x /usr/local/go/bin/go ] && go=/usr/local/go/bin/go; } || true
if [ -n "$go" ] && ! command -v versitygw >/dev/null 2>&1 && [ ! -x "$HOME/go/bin/versitygw" ]; then
    echo "building versitygw for the tests (a minute) ..."
    "$go" install github.com/versity/versitygw/cmd/versitygw@v1.8.0 2>/dev/null ||
        echo "versitygw could not be built: its tests will be skipped"
fi
command -v nginx >/dev/null 2>&1 || [ -x /usr/sbin/nginx ] || wanted="$wanted nginx-light libnginx-mod-http-dav-ext"
command -v apache2 >/dev/null 2>&1 || [ -x /usr/sbin/apache2 ] || wanted="$wanted apache2-bin"
command -v curl >/dev/null 2>&1 || wanted="$wanted curl"
command -v litmus >/dev/null 2>&1 || wanted="$wanted litmus"
command -v rclone >/dev/null 2>&1 || wanted="$wanted rclone"
{ command -v redis-server >/dev/null 2>&1 && command -v redis-cli >/dev/null 2>&1; } || wanted="$wanted redis-server"
command -v openssl >/dev/null 2>&1 || wanted="$wanted openssl"
command -v chromium >/dev/null 2>&1 || wanted="$wanted chromium"
command -v sshd >/dev/null 2>&1 || [ -x /usr/sbin/sshd ] || wanted="$wanted openssh-server openssh-client"
command -v busybox >/dev/null 2>&1 || wanted="$wanted busybox"
command -v mariadbd >/dev/null 2>&1 || [ -x /usr/sbin/mariadbd ] || wanted="$wanted mariadb-server-core"
command -v my_print_defaults >/dev/null 2>&1 || wanted="$wanted mariadb-client-core"
command -v initdb >/dev/null 2>&1 || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || wanted="$wanted postgresql"
command -v valgrind >/dev/null 2>&1 || wanted="$wanted valgrind"
command -v memcached >/dev/null 2>&1 || wanted="$wanted memcached"
/usr/bin/python3 -c 'import ensurepip' 2>/dev/null || wanted="$wanted python3-venv"
{ command -v xrootd >/dev/null 2>&1 && command -v xrdcp >/dev/null 2>&1; } || wanted="$wanted xrootd-server xrootd-client xrootd-server-plugins"
{ command -v slurmctld >/dev/null 2>&1 || [ -x /usr/sbin/slurmctld ]; } || wanted="$wanted slurm-wlm slurmdbd slurmrestd slurm-wlm-jwt-plugin munge"
ls /usr/lib/*/libXrdAccSciTokens-*.so >/dev/null 2>&1 || wanted="$wanted xrootd-scitokens-plugins"
command -v arched >/dev/null 2>&1 || [ -x /usr/sbin/arched ] || wanted="$wanted nordugrid-arc-arex"
[ -x /usr/bin/python3 ] || wanted="$wanted python3"
for shell in zsh fish; do command -v $shell >/dev/null 2>&1 || wanted="$wanted $shell"; done
[ -n "$wanted" ] || exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "not installed, their tests will be skipped:$wanted (as root: apt-get install$wanted)"
    exit 0
fi
echo "installing$wanted for the tests ..."
# The tests start servers of their own: the packages' services must not begin.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod +x "$policy"
    trap 'rm -f "$policy"' EXIT
fi
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $wanted >/dev/null
