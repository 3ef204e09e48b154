# One run: its folder, its manifest, the command.

now() { date -u +%Y-%m-%dT%H:%M:%SZ; }

cell() { # TEXT as a cell of CSV, in one line
    printf '"%s"' "$(printf %s "$1" | tr '\n\r' '  ' | sed 's/"/""/g')"
}

is_told() { # KEY: whether the manifest has it already
    case ,$fact_names, in
    *,"$1",*) ;;
    *) false ;;
    esac
}

add_fact() { # KEY VALUE
    key=$(printf %s "$1" | tr '[:upper:]' '[:lower:]')
    case $key in
    *[!a-z0-9_.]* | [!a-z]*) fail $usage_error "$1 cannot be the name of a fact" ;;
    esac
    ! is_told "$key" || fail $usage_error "$1 cannot be given, or was given twice"
    fact_names=$fact_names,$key fact_cells=$fact_cells,$(cell "$2")
}

default_fact() { # KEY VALUE: where the user said nothing
    [ -z "$2" ] || is_told "$1" || add_fact "$1" "$2"
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
        iperf | iperf3 | qperf | sockperf | fping | wrk) option=--version ;;
        fortio) option=version ;;
        *) continue ;;
        esac
        command -v "$word" >/dev/null || continue
        "$word" "$option" 2>&1 </dev/null | sed -n '1s/^[^0-9]*\([0-9][^ ,)]*\).*/\1/p'
        return
    done
}

write_manifest() { # FOLDER END STATUS: once before the command, when these two are empty, and once after it
    printf '%s\n%s,%s,%s,%s,%s%s\n' "$fact_names" "$this_run" "$this_trial" "$start" "$2" "$3" "$fact_cells" \
        >"$1/manifest.csv"
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

# FOLDER: some tools print half of their results there (fping), or why they failed (iperf): it belongs behind the
# output, as if both had gone to one file. Only a document, such as JSON, would be spoilt by that.
keep_errors() {
    wait
    rm -f "$1/.out" "$1/.err" "$1/.server"
    if [ ! -s "$1/stderr.txt" ] || [ ! -s "$1/output.txt" ]; then
        return
    fi
    case $(head -c 1 "$1/output.txt") in
    [{[\<]) titled 'standard error of the command' sed -e 's/^/| /' -e 200q "$1/stderr.txt" >>"$1/client.after.txt" ;;
    *)
        [ -z "$(tail -c 1 "$1/output.txt")" ] || echo >>"$1/output.txt"
        cat "$1/stderr.txt" >>"$1/output.txt"
        ;;
    esac
}

keep_attached() { # FOLDER
    list=$attached
    while [ -n "$list" ]; do
        if ! mkdir -p "$1/attached" || ! cp -- "${list%%"$newline"*}" "$1/attached/"; then return 1; fi
        list=${list#*"$newline"}
    done
}

make_folder() { # FOLDER: never one that is there already
    if ! mkdir -p "$records" || ! mkdir "$1"; then
        fail $not_started "cannot make $1; choose another --run-id"
    fi
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
    default_fact tool_version "$(tool_version "$@")"
    words=$(in_words "$@")
    default_fact command "${words% }"
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
