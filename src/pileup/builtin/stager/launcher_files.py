"""Files of the worker nodes: the configuration of XRootD and frm_xfrd, and the commands that these run."""

FOLDER = "/tape"
"""What the nodes export, and the folder of the files in the library."""
CONFIGURATION = """
all.export {path} stage
all.adminpath {node}/a/admin
all.pidpath {node}/a/run
oss.localroot {node}/disk
xrd.network nodnr norpipa
ofs.maxdelay 30
ofs.preplib libXrdOfsPrepGPI.so -admit all -maxfiles 512 -maxquery 16 -maxreq 64 -run {prepare}
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
PREPARE = """#!/bin/bash
# prepare [-p PRIORITY] -- REQUEST stage|query|cancel|evict [PATH...]: what XRootD has a plug-in do with kXR_prepare.
# A query is answered as EOS and CTA do (JSON), from what lies on the disk of the node.
LC_ALL=C
while [ "$1" != -- ]; do shift; done
request=$2 operation=$3 disk=$XRDLCLROOT node=${XRDCONFIGFN%/*}
list=$node/requests/$request
shift 3
[[ $operation = evict || $request =~ ^[0-9A-Za-z:.]+$ ]] || exit 1
flag() { [ "$@" ] && echo true || echo false; }
case $operation in
    stage)
        printf '%s\\n' "$@" >"$list"
        for path; do echo "+prep $request - 0 f $path"; done >"$node/agent" ;;
    query)
        comma=
        printf '{"request_id":"%s","responses":[' "$request"
        for path; do
            requested=true error=  # without a list XRootD has the request, and has not run this for it yet
            [ -e "$list" ] && ! grep -qxF -- "$path" "$list" && requested=false
            [ -f "$disk$path.fail" ] && error="the stager could not copy it"
            printf '%s{"path":"%s","path_exists":true,"on_tape":true,"online":%s,"requested":%s,"has_reqid":%s,' \\
                "$comma" "$path" "$(flag -f "$disk$path")" "$requested" "$requested"
            printf '"req_time":"","error_text":"%s"}\\n' "$error"
            comma=,  # XRootD passes on lines, none of them long
        done
        echo ']}' ;;
    cancel)
        echo "- $request" >"$node/agent"
        : >"$list" ;;
    evict) for path; do rm -f "$disk$path"; done ;;
esac
"""
"""XRootD has no requests for files by itself: without a plug-in kXR_prepare returns an id and does nothing.

Paths are those that pileup asks for: digits below the exported folder.
"""
AGENT = (
    "[ -p {folder}/agent ] || mkfifo -m 600 {folder}/agent; echo ready; "
    "exec {program} -c {folder}/node.cfg -n pileup <>{folder}/agent"
)
"""One agent hands all requests of a node to frm_xfrd: of several at the same time the queue of frm_xfrd loses some."""
