# The command line.

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

must_be_study() { # TEXT: as the server takes it, which would otherwise refuse the run when it is measured
    case $1 in
    *[!A-Za-z0-9_-]*) fail $usage_error "--study takes letters, digits, - and _, not '$1'" ;;
    esac
    [ ${#1} -le 80 ] || fail $usage_error "--study takes up to 80 characters"
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
    default_fact device "$device"
    check "$@"
    case $mode in
    dry-run) dry_run "$@" ;;
    *)
        trap 'interrupted=yes' INT TERM HUP
        record_all "$@"
        ;;
    esac
}

value() { # ARGUMENT...: the first is an option, and must have one
    [ $# -gt 1 ] || fail $usage_error "$1 needs a value"
}

main() {
    while [ $# -gt 0 ]; do
        case $1 in
        --study) value "$@" && study=$2 && shift ;;
        --device) value "$@" && device=$2 && shift ;;
        --server) value "$@" && server=$2 && shift ;;
        --server-device) value "$@" && server_device=$2 && shift ;;
        --run-id) value "$@" && run_id=$2 && shift ;;
        --trial) value "$@" && trial=$2 && shift ;;
        --repeat) value "$@" && repeat=$2 && shift ;;
        --workload) value "$@" && add_fact workload "$2" && shift ;;
        --attach)
            value "$@"
            [ -r "$2" ] || fail $usage_error "cannot read $2"
            attached=$attached$2$newline && shift
            ;;
        --url) value "$@" && url=$2 && shift ;;
        --token-file) value "$@" && token_file=$2 && shift ;;
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
    must_be_study "$study"
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
