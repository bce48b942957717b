#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Output exactly once when a process of ftrun is killed, again and again, while the ranks print (RULE 23).
. "$(dirname "$0")/../lib/test.sh"
what="ftrun whose processes are killed"

cat >"$tmp/talk" <<'EOT'
#!/bin/sh
i=0
while [ $i -lt 3000 ]; do
    i=$((i + 1))
    while [ $i = 2500 ] && [ ! -e "${0%/*}/killed" ]; do sleep 0.05; done
    echo "rank $FTMPI_RANK line $i, and some more text to make it longer"
    [ $((i % 5)) = 0 ] && echo "rank $FTMPI_RANK error $i" >&2
    [ $((i % 100)) = 0 ] && sleep 0.03
done
printf 'end of %s' "$FTMPI_RANK"
EOT
chmod +x "$tmp/talk"

# The processes of the job that do not run the program: $1 is the one that the shell started.
launchers() {
    for stat in /proc/[0-9]*/stat; do
        read -r pid rest <"$stat" 2>/dev/null || continue
        rest=${rest##*) }
        set -- "$1" $rest
        { [ "$pid" = "$1" ] || [ "$3" = "$1" ]; } && [ "$(readlink "/proc/$pid/exe")" = "$(readlink "/proc/$1/exe")" ] && echo "$pid"
    done 2>/dev/null
}

# Kills the agent, which is the child of the process that the shell started, as often as there is one. The ranks' last lines wait for the first time.
kill_agents() {
    killed=0
    rm -f "$tmp/killed"
    while [ $killed -lt "$2" ] && sleep "0.$((killed % 3 + 2))" && kill -0 "$1" 2>/dev/null; do
        for pid in $(launchers "$1"); do
            [ "$pid" = "$1" ] || { kill -9 "$pid" && killed=$((killed + 1)) && : >"$tmp/killed"; }
        done
    done
}

check() {
    for r in 0 1 2; do
        seq -f "rank $r line %.0f, and some more text to make it longer" 3000 >"$tmp/want"
        grep -o "rank $r line .*" "$tmp/out" | sed 's/end of .*//' | cmp -s - "$tmp/want" || fail "$1: stdout of rank $r is not exactly once"
        seq -f "rank $r error %.0f" 5 5 3000 >"$tmp/want"
        grep "^rank $r" "$tmp/err" | cmp -s - "$tmp/want" || fail "$1: stderr of rank $r is not exactly once"
        [ "$(grep -o "end of $r" "$tmp/out" | wc -l)" = 1 ] || fail "$1: the last line of rank $r, unfinished, is not there once"
    done
}

# The job with pid $1 ends within five minutes. What watches it ends with it.
attempt() {
    { timeout 300 tail --pid="$1" -f /dev/null || kill -9 "$1"; } 2>/dev/null &
    kill_agents "$1" 3
    wait "$1"
    code=$?
    expect_code 0
    [ "$killed" -ge 1 ] || fail "$2: nothing was killed"
}

"$ftrun" -n 3 "$tmp/talk" >"$tmp/out" 2>"$tmp/err" </dev/null &
attempt $! "to files"
check "to files"

: >"$tmp/out" && : >"$tmp/err"
"$ftrun" -n 3 "$tmp/talk" >>"$tmp/out" 2>>"$tmp/err" </dev/null &
attempt $! "to files opened for appending"
check "to files opened for appending"

mkfifo "$tmp/slow"
{ sleep 0.5; cat; } <"$tmp/slow" >"$tmp/out" &
reader=$!
"$ftrun" -n 3 "$tmp/talk" >"$tmp/slow" 2>"$tmp/err" </dev/null &
attempt $! "to a slow pipe"
wait $reader
check "to a slow pipe"
finish
