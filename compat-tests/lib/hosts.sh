# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=dash
# uses hosts: jobs on several hosts, all of which are this one. (uses lab: hosts that can be lost
# without a word.)
sanitizers detect_leaks=0
export tmp
# A launcher: NAME runs here, down-NAME cannot be reached, gone-NAME only until $tmp/lost is there,
# bad-NAME has no ftrun, zero-NAME does nothing. Of hang-NAME nothing is heard, and the process that
# waits for it is not the one that ftrun knows.
cat >"$tmp/go" <<'END'
#!/bin/sh
host=$1
shift
echo "$host" >>"$tmp/started"
case $host in
down-*) echo "connect to host $host: No route to host" >&2; exit 255 ;;
gone-*) [ ! -e "$tmp/lost" ] || { echo "connect to host $host: No route to host" >&2; exit 255; } ;;
zero-*) exit 0 ;;
hang-*) sleep 7777 & echo $! >>"$tmp/hangs"; wait ;;
bad-*) printf 'sh: %s: not found\r\n' "$1" >&2; exit 127 ;;
esac
exec "$@"
END
chmod +x "$tmp/go"
go=$tmp/go # for what runs beside others, in a directory of its own
# hosts LIST ARGUMENT...: run, over these hosts.
hosts() {
    list=$1
    shift
    run --launcher "exec:$go" -H "$list" "$@"
}
# lose RANK: its node, as $tmp/rank.RANK has its pid. Both its processes stop before either dies, or
# the one would go on for the other.
lose() {
    rank=$(cat "$tmp/rank.$1") && agent=$(awk '/^PPid/ { print $2 }' "/proc/$rank/status") &&
        twin=$(awk '/^PPid/ { print $2 }' "/proc/$agent/status") &&
        kill -STOP "$twin" "$agent" && kill -KILL "$twin" "$agent"
}
