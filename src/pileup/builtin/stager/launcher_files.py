"""Files of the worker nodes: the configuration of XRootD and frm_xfrd, and their copy command."""

FOLDER = "/tape"
"""What the nodes export, and the folder of the files in the library."""
CONFIGURATION = """
all.export {path} stage
all.adminpath {node}/a/admin
all.pidpath {node}/a/run
oss.localroot {node}/disk
xrd.network nodnr norpipa
ofs.maxdelay 30
if exec frm_xfrd
frm.xfr.qcheck 1s
frm.xfr.copymax {copymax}
frm.xfr.copycmd in noalloc stats {copy} {number} $LFN $DST
fi
"""
"""Of one node. `stage` without a command for it means: leave it to frm_xfrd."""
COPY = """#!/bin/bash
# copy NODE PATH DESTINATION: brings a file from the tape library. Each step is a line of the log of transfers.
LC_ALL=C
note() { printf '%s000,%s,%s,%s,%s,%s,%s\\n' "${EPOCHREALTIME/./}" "$node" "$1" "$path" "$2" "$3" "$4" >>@LOG@; }
fail() { note failed "" "" "$1"; echo "$path: $1" >&2; exit 1; }
node=$1 path=$2 there=$3 status= size= queue=0 transfer=0
note started
exec 3<>/dev/tcp/127.0.0.1/@PORT@ || fail "the library cannot be reached"
printf 'GET /read?path=%s&content=false HTTP/1.1\\r\\nHost: tape\\r\\nConnection: close\\r\\n\\r\\n' "$path" >&3
while read -r -t @PATIENCE@ -u 3 word value || { code=$?; [ -n "$word" ]; }; do
    value=${value%$'\\r'}
    case $word in
        HTTP/1.*) status=${value%% *} ;;
        x-pileup-stager-queue: | x-pileup-queue-wait:) queue=$((queue + value)) ;;
        x-pileup-transfer:) transfer=$value ;;
        *'"size":'*) size=${word##*'"size":'} size=${size%%[^0-9]*} ;;
    esac
done
[ "${code:-1}" -gt 128 ] && fail "the library gave no answer"
case $status in
    200) ;;
    500) fail "its cartridge cannot be read" ;;
    "") fail "the library ended the connection" ;;
    *) fail "the library answered $status" ;;
esac
truncate -s "$size" "$there.part" && mv "$there.part" "$there" || fail "the file cannot be written"
note done "$queue" "$transfer"
"""
"""In bash alone: nothing else starts as fast, and many may wait.

Fields of the log: time (ns since the epoch), node, event, path, and what the library says of its queue wait and
transfer (ns), or why it failed.
"""
