#!/bin/sh
# Records a measurement for perfdb: runs a load tool, takes counters and settings of this host (and over ssh of the
# server's) before and after it, keeps everything in a folder and uploads it. Linux; POSIX shell, nothing to install.
# docs/recording.md tells more.
set -u
umask 077
unset CDPATH

default_url='' # The server that gives this script out fills in its own address.
records=perfdb-records
self=$0

# Exit status where it is not that of the command.
usage_error=64 # the command line cannot be understood
not_pushed=75  # --push: something could not be uploaded; it is kept
not_started=73 # the folder or the first snapshot could not be made; the command was not run

study='' device='' server='' server_device='' run_id='' trial='' repeat='' url='' token='' token_file=''
fact_names='' fact_cells='' attached='' mode=record interrupted='' scratch=''
newline='
'

usage() {
    cat <<'USAGE'
record.sh [OPTION...] [KEY=VALUE...] -- COMMAND...    measure: snapshots before and after COMMAND, then upload
record.sh [--url URL] --push [FOLDER...]              upload what is not uploaded yet
record.sh --list                                      say what is recorded here, and what is uploaded

  --study STUDY          the study it belongs to; your inbox without it
  --device ADAPTER       the adapter under test on this host, which is the client: eth0
  --server USER@HOST     take snapshots there too, over ssh
  --server-device NAME   its adapter, where it is called otherwise than this host's
  --run-id ID            letters, digits and . _ -; host and time without it
  --trial N              the number of this run among its repetitions
  --repeat N             run N trials; -1, -2, ... are put behind the run id
  --workload NAME        RR, CRR, STRG, STRP ..., where the tool's output does not say
  --attach FILE          keep this file with the run, such as a uperf profile; may be repeated
  --url URL              address of perfdb (or PERFDB_URL)
  --token-file FILE      the token is its first line; else PERFDB_TOKEN, else ~/.perfdb-token
  --token TOKEN          other users may see it in the list of processes for a moment
  --dry-run              say what would be done
  KEY=VALUE              what no file says: users=8 device="QDIO GbE" layer=3 factor.cable=short

Everything is first kept in perfdb-records/RUN_ID. The exit status is that of COMMAND, whether or not the upload
worked; 64: wrong usage, 73: not started, 75: --push left something behind.
USAGE
}

say() { printf 'perfdb: %s\n' "$*" >&2; }

fail() { # STATUS MESSAGE
    status=$1
    shift
    say "$*"
    exit "$status"
}

# ---- snapshots -------------------------------------------------------------------------------------------------------

titled() { # TITLE COMMAND...: what it prints, under a head; nothing where there is no such command
    title=$1
    shift
    command -v "$1" >/dev/null || return 0
    printf '==> %s <==\n' "$title"
    "$@" 2>/dev/null
    echo
}

of_command() { titled "$*" "$@"; }

of_files() {
    for file; do
        [ ! -r "$file" ] || titled "$file" cat "$file"
    done
}

moment() {
    date -u -Ins || date -u +%Y-%m-%dT%H:%M:%SZ
    date +%s
}

has_adapter() { [ "$1" != - ] && ip link show dev "$1" >/dev/null 2>&1; }

settings() { # ADAPTER
    of_command lscpu
    command -v lscpu >/dev/null || of_files /proc/cpuinfo
    of_files /proc/meminfo /etc/os-release /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor
    of_files /proc/sys/net/ipv4/tcp_congestion_control /proc/sys/net/ipv4/tcp_rmem /proc/sys/net/ipv4/tcp_wmem
    of_files /proc/sys/net/core/rmem_max /proc/sys/net/core/wmem_max /proc/sys/net/core/default_qdisc
    has_adapter "$1" || return 0
    of_command tc qdisc show dev "$1"
    for option in -i -k -c -g -l; do
        of_command ethtool "$option" "$1"
    done
}

counters() { # ADAPTER
    titled date moment
    of_command uname -a
    of_files /proc/uptime /proc/stat /proc/softirqs /proc/interrupts
    of_files /proc/net/dev /proc/net/snmp /proc/net/netstat /proc/net/sockstat /proc/net/softnet_stat
    if has_adapter "$1"; then
        of_command ip -s -s link show dev "$1"
        of_command ethtool -S "$1"
    else
        of_command ip -s -s link show
    fi
}

# PHASE ADAPTER. What takes time is done first before the run, and not at all after it: the counters stand next to it.
snapshot() (
    LC_ALL=C PATH=$PATH:/usr/sbin:/sbin
    export LC_ALL PATH
    [ "$1" = after ] || settings "$2"
    counters "$2"
)

snapshot_here() { # PHASE FOLDER
    snapshot "$1" "${device:--}" >"$2/client.$1.txt"
}

snapshot_there() { # PHASE FOLDER: the server runs this very script; a snapshot counts only when it is whole
    [ -n "$server" ] || return 0
    ssh -o ConnectTimeout=15 "$server" sh -s -- --snapshot "$1" "${server_device:-${device:--}}" \
        <"$self" >"$2/.server" && mv "$2/.server" "$2/server.$1.txt"
}

# ---- one run ---------------------------------------------------------------------------------------------------------

now() { date -u +%Y-%m-%dT%H:%M:%SZ; }

cell() { # TEXT as a cell of CSV, in one line
    printf '"%s"' "$(printf %s "$1" | tr '\n\r' '  ' | sed 's/"/""/g')"
}

add_fact() { # KEY VALUE
    key=$(printf %s "$1" | tr '[:upper:]' '[:lower:]')
    case $key in
    run_id | trial | *[!a-z0-9_.]* | [!a-z]*) fail $usage_error "$1 cannot be the name of a fact" ;;
    esac
    case ,$fact_names, in
    *,"$key",*) fail $usage_error "$1 is given twice" ;;
    esac
    fact_names=$fact_names,$key fact_cells=$fact_cells,$(cell "$2")
}

in_words() { # COMMAND... as one would type it
    for word; do
        case $word in
        '' | *[!A-Za-z0-9_./:=,@%+-]*) printf "'%s' " "$(printf %s "$word" | sed "s/'/'\\\\''/g")" ;;
        *) printf '%s ' "$word" ;;
        esac
    done
}

tool_version() { # COMMAND...: of the first word that is a load tool, for it may stand behind taskset or ip netns exec
    for word; do
        case ${word##*/} in
        netperf | uperf | nuttcp | ping) option=-V ;;
        iperf | iperf3 | qperf | sockperf | flent | fping | wrk) option=--version ;;
        fortio) option=version ;;
        *) continue ;;
        esac
        command -v "$word" >/dev/null || continue
        "$word" "$option" 2>&1 </dev/null | sed -n 's/^[^0-9]*\([0-9][^ ,)]*\).*/\1/p' | sed 1q
        return
    done
}

write_manifest() { # FOLDER END STATUS: once before the command, when these two are empty, and once after it
    printf 'run_id,trial,start_utc,end_utc,exit_status,tool_version,command%s\n' "$fact_names" >"$1/manifest.csv"
    printf '%s,%s,%s,%s,%s,%s,%s%s\n' "$this_run" "$this_trial" "$start" "$2" "$3" "$(cell "$version")" \
        "$(cell "$words")" "$fact_cells" >>"$1/manifest.csv"
}

# FOLDER COMMAND...: both outputs go to files and to the user. `exec`: COMMAND is a program and none of our functions.
run_command() {
    run_folder=$1
    shift
    mkfifo "$run_folder/.out" "$run_folder/.err"
    (trap '' INT TERM HUP PIPE && exec tee "$run_folder/output.txt" <"$run_folder/.out") &
    (trap '' INT TERM HUP PIPE && exec tee "$run_folder/stderr.txt" <"$run_folder/.err" >&2) &
    (exec "$@") >"$run_folder/.out" 2>"$run_folder/.err"
}

# FOLDER: a tool that failed at once may have said so there alone; else it is no log, but worth keeping.
keep_errors() {
    wait
    rm -f "$1/.out" "$1/.err" "$1/.server"
    if [ -s "$1/stderr.txt" ] && [ -s "$1/output.txt" ]; then
        printf '==> standard error of the command <==\n' >>"$1/client.after.txt"
        sed -e 's/^/| /' -e 200q "$1/stderr.txt" >>"$1/client.after.txt"
        echo >>"$1/client.after.txt"
    fi
}

keep_attached() { # FOLDER
    list=$attached
    while [ -n "$list" ]; do
        mkdir -p "$1/attached" && cp -- "${list%%"$newline"*}" "$1/attached/" || return
        list=${list#*"$newline"}
    done
}

make_folder() { # FOLDER: never one that is there already
    mkdir -p "$records" && mkdir "$1" || fail $not_started "cannot make $1; choose another --run-id"
    printf '%s' "$study" >"$1/.study"
    if keep_attached "$1" && snapshot_there before "$1" && snapshot_here before "$1" && [ -z "$interrupted" ]; then
        return
    fi
    rm -r "$1"
    fail $not_started "the snapshot before the run could not be taken; the command was not run"
}

record() { # COMMAND...: one run; answers the command's exit status
    folder=$records/$this_run
    make_folder "$folder"
    start=$(now)
    write_manifest "$folder" '' ''
    run_command "$folder" "$@"
    status=$?
    snapshot_here after "$folder"
    end=$(now)
    snapshot_there after "$folder" || snapshot_there after "$folder" || say "no snapshot of $server after the run"
    keep_errors "$folder"
    write_manifest "$folder" "$end" "$status"
    : >"$folder/.recorded"
    say "recorded in $folder, exit status $status"
    push "$folder"
    return "$status"
}

record_all() { # COMMAND...
    version=$(tool_version "$@") words=$(in_words "$@") words=${words% }
    number=0 worst=0
    while [ "$number" -lt "${repeat:-1}" ] && [ -z "$interrupted" ]; do
        this_run=$run_id${repeat:+-$((${trial:-1} + number))}
        this_trial=$trial
        [ -z "$repeat" ] || this_trial=$((${trial:-1} + number))
        record "$@" || { [ "$worst" -ne 0 ] || worst=$status; }
        number=$((number + 1))
    done
    exit "$worst"
}

# ---- upload ----------------------------------------------------------------------------------------------------------

read_token() {
    token=${PERFDB_TOKEN:-}
    unset PERFDB_TOKEN
    own=${HOME:-}/.perfdb-token
    [ -n "$token$token_file" ] || [ ! -r "$own" ] || token_file=$own
    if [ -n "$token_file" ]; then
        IFS= read -r token <"$token_file" || [ -n "$token" ] || fail $usage_error "no token in $token_file"
    fi
    case $token in
    *[!A-Za-z0-9._~+/=-]*) fail $usage_error "this is no token" ;;
    esac
}

part() { # NAME [FILENAME]: the head of a part of the form
    printf '%s\r\n' "--$boundary"
    printf 'Content-Disposition: form-data; name="%s"' "$1"
    [ $# -lt 2 ] || printf '; filename="%s"' "$(printf %s "$2" | tr '\n\r\\' '___' | sed 's/"/\\"/g')"
    printf '\r\n\r\n'
}

# Prints the folder in which we are as a form: every file that holds something; hidden ones are our own notes, and
# what the tool said beside its output is in the snapshot after the run.
form() {
    for file in * */* */*/*; do
        if [ ! -f "$file" ] || [ ! -s "$file" ] || { [ "$file" = stderr.txt ] && [ -s output.txt ]; }; then continue; fi
        part files "$1/$file"
        cat -- "./$file"
        printf '\r\n'
    done
    if [ -s .study ]; then
        part study
        cat .study
        printf '\r\n'
    fi
    printf '%s\r\n' "--$boundary--"
}

# Three ways to ask, or with POST to send "$scratch/form". They keep the answer in "$scratch/answer" and print its HTTP
# status. The token goes through a pipe or a private file, never through arguments.
send_by_curl() { # METHOD ADDRESS
    [ "$1" = GET ] || set -- "$1" "$2" --header "$content_type" --data-binary "@$scratch/form"
    method=$1
    shift
    printf 'header = "Authorization: Bearer %s"\n' "$token" |
        curl --silent --show-error --config - --request "$method" --connect-timeout 10 --speed-limit 1 --speed-time 60 \
            --output "$scratch/answer" --write-out '%{http_code}' "$@"
}

send_by_wget() { # METHOD ADDRESS
    printf 'header = Authorization: Bearer %s\n' "$token" >"$scratch/wgetrc"
    [ "$1" = GET ] || set -- "$1" "$2" --header="$content_type" --post-file="$scratch/form"
    shift
    wget --config="$scratch/wgetrc" --tries=1 --timeout=60 --max-redirect=0 --content-on-error --server-response \
        --output-document="$scratch/answer" "$@" 2>"$scratch/said"
    sed -n 's/^ *HTTP\/[0-9.]* \([0-9]*\).*/\1/p' "$scratch/said" | tail -n 1
    grep -q '^ *HTTP/' "$scratch/said" || sed -n 's/^.*failed: /wget: /p' "$scratch/said" >&2
}

send_by_python() { # METHOD ADDRESS
    printf '%s' "$token" | python3 -c '
import pathlib, sys, urllib.error, urllib.request
method, address, content_type, form, answer = sys.argv[1:]
headers = {"Authorization": "Bearer " + sys.stdin.read()}
if method == "POST":
    headers["Content-Type"] = content_type.partition(": ")[2]
data = pathlib.Path(form).read_bytes() if method == "POST" else None
try:
    got = urllib.request.urlopen(urllib.request.Request(address, data, headers, method=method), timeout=60)
except urllib.error.HTTPError as error:
    got = error
except OSError as error:
    sys.exit(f"python3: {error}")
pathlib.Path(answer).write_bytes(got.read())
print(got.status)
' "$1" "$2" "$content_type" "$scratch/form" "$scratch/answer"
}

send() { # METHOD ADDRESS: prints the HTTP status
    : >"$scratch/answer"
    if command -v curl >/dev/null; then
        send_by_curl "$@"
    elif wget --version 2>/dev/null | grep -q GNU; then
        send_by_wget "$@"
    elif command -v python3 >/dev/null; then
        send_by_python "$@"
    else
        say "there is no curl, wget or python3 here: take the folder to where there is one, or upload it with a browser"
    fi
}

detail() { # what the server said of its refusal
    sed -n 's/.*"detail": *"\([^"]*\)".*/: \1/p' "$scratch/answer" | sed 1q
}

answered() { # KEY: its words in the answer
    grep -o "\"$1\": *\"[a-z-]*\"" "$scratch/answer" | cut -d '"' -f 4
}

push() { # FOLDER: it counts as uploaded when the server has said that it has it
    if [ -z "$url" ] || [ -z "$token" ]; then
        say "$1 is not uploaded, for there is no ${url:+token}${url:-address}; later: record.sh --url URL --push"
        return 1
    fi
    [ -n "$scratch" ] || scratch=$(mktemp -d) || return
    boundary=perfdb-$(cat /proc/sys/kernel/random/uuid)
    content_type="Content-Type: multipart/form-data; boundary=$boundary"
    (cd -- "$1" && name=$(pwd) && form "${name##*/}") >"$scratch/form" || return
    http=$(send POST "$url/api/v1/uploads/")
    if [ "$http" != 202 ]; then
        say "$1 is kept and not uploaded: $url answered ${http:-nothing}$(detail)"
        return 1
    fi
    upload=$(sed -n 's/.*"id": *\([0-9]*\).*/\1/p' "$scratch/answer")
    printf '%s\n' "$url/uploads/$upload/" >"$1/.uploaded"
    say_outcome
}

say_outcome() {
    send GET "$url/api/v1/uploads/$upload/?wait=30" >/dev/null
    state=$(answered state | sed 1q)
    outcomes=$(answered outcome | tr '\n' ' ')
    errors=$(answered severity | grep -c error)
    say "uploaded, $url/uploads/$upload/ is ${state:-on its way}; runs: ${outcomes:-none }; errors: $errors"
}

push_all() { # [FOLDER...]
    left=0 asked=$#
    [ "$asked" -gt 0 ] || set -- "$records"/*/
    for folder; do
        folder=${folder%/}
        if [ ! -d "$folder" ]; then
            say "there is no folder $folder"
            [ "$asked" -eq 0 ] || left=$not_pushed
        elif [ -e "$folder/.uploaded" ]; then
            [ "$asked" -eq 0 ] || say "$folder is uploaded already"
        elif [ "$asked" -eq 0 ] && [ ! -e "$folder/.recorded" ]; then
            say "$folder is not finished; name it after --push to upload it all the same"
        else
            push "$folder" || left=$not_pushed
        fi
    done
    exit "$left"
}

list() {
    for folder in "$records"/*/; do
        folder=${folder%/}
        if [ -e "$folder/.uploaded" ]; then
            printf '%s\tuploaded\t%s\n' "$folder" "$(cat "$folder/.uploaded")"
        elif [ -e "$folder/.recorded" ]; then
            printf '%s\tnot uploaded\n' "$folder"
        elif [ -d "$folder" ]; then
            printf '%s\tnot finished\n' "$folder"
        fi
    done
}

# ---- command line ----------------------------------------------------------------------------------------------------

hide_token() { # ARGUMENT...: starts again with the value of --token in the environment, where only its owner sees it
    count=$# ours=yes
    while [ "$count" -gt 0 ]; do
        word=$1 count=$((count - 1))
        shift
        case $ours$word in
        yes--token)
            [ "$count" -gt 0 ] || fail $usage_error "--token needs a value"
            PERFDB_TOKEN=$1 count=$((count - 1))
            shift
            ;;
        yes--) ours=no && set -- "$@" -- ;;
        *) set -- "$@" "$word" ;;
        esac
    done
    export PERFDB_TOKEN
    exec sh "$self" "$@"
}

must_be_number() { # OPTION TEXT
    case $2 in
    '' | 0* | *[!0-9]* | ?????*) fail $usage_error "$1 takes a number from 1 to 9999, not '$2'" ;;
    esac
}

must_be_word() { # OPTION TEXT: fit for a folder's name, and for the command line of another host
    case $2 in
    [!A-Za-z0-9]* | *[!A-Za-z0-9@:._-]*) fail $usage_error "$1 takes letters, digits and . _ - @ :, not '$2'" ;;
    esac
}

check() { # COMMAND...
    [ $# -gt 0 ] || fail $usage_error "no command; it stands behind --, and --help tells more"
    [ -z "$trial" ] || must_be_number --trial "$trial"
    [ -z "$repeat" ] || must_be_number --repeat "$repeat"
    must_be_word --run-id "$run_id"
    must_be_word --device "$device"
    must_be_word --server "$server"
    must_be_word --server-device "$server_device"
    [ -z "$server" ] || [ -r "$self" ] || fail $usage_error "--server needs this script as a file"
    if [ -z "$device" ]; then
        say "without --device nobody knows which adapter was used"
    elif [ ! -e "/sys/class/net/$device" ] && ! has_adapter "$device"; then
        fail $usage_error "there is no adapter $device; there are: $(cd /sys/class/net && echo *)"
    fi
}

dry_run() { # COMMAND...
    say "would measure: $(in_words "$@")${repeat:+($repeat trials)}"
    say "would keep in $records/$run_id${repeat:+-N}: snapshots of this host${server:+ and, over ssh, $server}," \
        "output.txt, stderr.txt and manifest.csv with facts: $fact_names"
    say "would upload to ${url:-no address is known}${token:+ with the token}${study:+, study $study}"
}

start() { # COMMAND...
    [ -n "$run_id" ] || run_id=$(uname -n | sed 's/\..*//' | tr -c 'A-Za-z0-9\n' -)-$(date -u +%Y%m%d-%H%M%S)
    case ,$fact_names, in
    *,device,*) ;;
    *) [ -z "$device" ] || add_fact device "$device" ;;
    esac
    check "$@"
    case $mode in
    dry-run) dry_run "$@" ;;
    *)
        trap 'interrupted=yes' INT TERM HUP
        record_all "$@"
        ;;
    esac
}

main() {
    while [ $# -gt 0 ]; do
        case $1 in
        --study | --device | --server | --server-device | --run-id | --trial | --repeat | --workload | --attach | --url | --token-file)
            [ $# -gt 1 ] || fail $usage_error "$1 needs a value"
            ;;
        esac
        case $1 in
        --study) study=$2 && shift ;;
        --device) device=$2 && shift ;;
        --server) server=$2 && shift ;;
        --server-device) server_device=$2 && shift ;;
        --run-id) run_id=$2 && shift ;;
        --trial) trial=$2 && shift ;;
        --repeat) repeat=$2 && shift ;;
        --workload) add_fact workload "$2" && shift ;;
        --attach)
            [ -r "$2" ] || fail $usage_error "cannot read $2"
            attached=$attached$2$newline && shift
            ;;
        --url) url=$2 && shift ;;
        --token-file) token_file=$2 && shift ;;
        --dry-run) mode=dry-run ;;
        --push | --list) mode=${1#--} ;;
        --help | -h) usage && exit ;;
        --) break ;;
        [A-Za-z]*=*)
            [ "$mode" != push ] || break
            add_fact "${1%%=*}" "${1#*=}"
            ;;
        *)
            [ "$mode" = push ] && break
            fail $usage_error "$1 is not understood; the command stands behind --, and --help tells more"
            ;;
        esac
        shift
    done
    [ "${1:-}" != -- ] || shift
    url=${url:-${PERFDB_URL:-$default_url}} url=${url%/}
    read_token
    case $mode in
    list) list ;;
    push) push_all "$@" ;;
    *) start "$@" ;;
    esac
}

if [ "${1:-}" = --snapshot ]; then
    snapshot "$2" "$3"
    exit
fi
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM HUP
for word; do
    case $word in
    --) break ;;
    --token) hide_token "$@" ;;
    esac
done
main "$@"
