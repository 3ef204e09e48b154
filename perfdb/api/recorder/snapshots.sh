# Snapshots: a head for each file or command, then what it says.

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

# PHASE FOLDER: the server runs this very script; a snapshot counts only when it is whole. A server that falls silent
# is given up.
snapshot_there() {
    [ -n "$server" ] || return 0
    ssh -o ConnectTimeout=15 -o ServerAliveInterval=10 "$server" sh -s -- --snapshot "$1" "${server_device:-${device:--}}" \
        <"$self" >"$2/.server" && mv "$2/.server" "$2/server.$1.txt"
}
