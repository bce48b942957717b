# SPDX-License-Identifier: BSD-3-Clause
# Sourced after lib.sh by tests of jobs on several hosts, all of which are this one.
ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
export ASAN_OPTIONS tmp
# A launcher: NAME runs here, down-NAME cannot be reached, gone-NAME only until it has been lost, bad-NAME has no ftrun, zero-NAME does nothing,
# of hang-NAME nothing is heard, and the process that waits for it is not the one that ftrun knows.
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
hosts() { # hosts, arguments
    list=$1
    shift
    run --launcher "exec:$tmp/go" -H "$list" "$@"
}
sorted() { sort "$tmp/out" >"$tmp/sorted" && mv "$tmp/sorted" "$tmp/out"; }
lose() { # the node of rank $1: both its processes stop before either dies, or the one would go on for the other
    rank=$(cat "$tmp/rank.$1") && agent=$(awk '/^PPid/ { print $2 }' "/proc/$rank/status") &&
        twin=$(awk '/^PPid/ { print $2 }' "/proc/$agent/status") && kill -STOP "$twin" "$agent" && kill -KILL "$twin" "$agent"
}
