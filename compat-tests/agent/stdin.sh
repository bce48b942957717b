#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Standard input is kept: a successor of the rank that reads it is given all of it again, whoever is killed.
. "$(dirname "$0")/../lib/test.sh"
what="ftrun and its standard input"
seq -f 'line %.0f of the input, and some more text to make it longer' 40000 >"$tmp/in"   # 2 MB: more than a pipe holds
md5sum <"$tmp/in" >"$tmp/want"

# Reads half of it and dies, reads a third and dies, reads all.
cat >"$tmp/half" <<'EOT'
#!/bin/sh
case $FTMPI_INCARNATION in
0) head -c 1200000 >/dev/null; kill -9 $$ ;;
1) head -c 800000 >/dev/null; kill -9 $$ ;;
esac
exec md5sum
EOT
chmod +x "$tmp/half"
half() { timeout -k 5 120 "$ftrun" -q --stdin "$1" -n 2 sh -c "[ \$FTMPI_RANK = $1 ] || exit 0; exec $tmp/half" >"$tmp/out" 2>"$tmp/err"; }
same() { cmp -s "$tmp/want" "$tmp/out" || fail "$1: a successor does not read the same"; }
half 0 <"$tmp/in"
same "from a file"
half 1 <"$tmp/in"
same "from a file, rank 1"
half_of_pipe() { tee /dev/null <"$tmp/in" | half "$1"; }
half_of_pipe 0
same "from a pipe"
half_of_pipe 1
same "from a pipe, rank 1"
python3 -c '
import socket, sys, threading, subprocess
a, b = socket.socketpair()
data = open(sys.argv[1], "rb").read()
threading.Thread(target=lambda: (a.sendall(data), a.close())).start()
sys.exit(subprocess.run(sys.argv[2:], stdin=b).returncode)' "$tmp/in" timeout -k 5 120 "$ftrun" -q -n 1 "$tmp/half" >"$tmp/out" 2>"$tmp/err"
same "from a socket"
{ read -r line && half 0; } <"$tmp/in"
tail -n +2 "$tmp/in" | md5sum >"$tmp/want"
same "from the middle of a file"
wc -l </proc/self/status >"$tmp/want"
timeout -k 5 120 "$ftrun" -n 1 wc -l </proc/self/status >"$tmp/out" 2>"$tmp/err"
same "from a file in /proc"
echo no >"$tmp/want"
timeout -k 5 120 "$ftrun" --stdin none -n 2 sh -c '[ $FTMPI_RANK = 1 ] || read line || echo no' <"$tmp/in" >"$tmp/out"
same "--stdin none"

# Nobody reads, or not for long: the job ends, and what is read ahead is bounded.
yes | timeout -k 5 120 "$ftrun" -n 2 sleep 0.5
code=$?
expect_code 0
[ "$(yes | timeout -k 5 120 "$ftrun" -n 2 head -n 1)" = y ] || fail "a rank that closes its stdin"
timeout -k 5 120 "$ftrun" -n 1 sh -c 'exec <&-; sleep 0.3; echo done' <"$tmp/in" >"$tmp/out" 2>"$tmp/err"
code=$?
expect_code 0
expect_out 'done'

# No room to keep it: told, and the end. In a mount namespace of our own.
mkdir "$tmp/small"
if [ "$(id -u)" = 0 ]; then alone='unshare -m'; else alone='unshare -rm'; fi
what="ftrun that cannot keep its input"
yes | $alone sh -c 'mount -t tmpfs -o size=256k none "$0" && timeout -k 5 120 "$@"' "$tmp/small" \
    "$ftrun" --log-spill "$tmp/small" -n 1 sh -c 'cat >/dev/null' 2>"$tmp/err"
code=$?
expect_code 1
expect_err 'standard input cannot be kept: No space left on device; the job is ended'

# A process of ftrun is killed while rank 0 reads; its successor goes on where it was.
md5sum <"$tmp/in" >"$tmp/want"
cat >"$tmp/slowly" <<'EOT'
#!/bin/sh
{ for i in 1 2 3 4 5; do head -c 100000; sleep 0.2; done; until [ -e "${0%/*}/killed" ]; do sleep 0.05; done; cat; } | md5sum
EOT
chmod +x "$tmp/slowly"
# Not at once: the shell's child is not ftrun yet.
has_second() { second=$(other_process "$job") && [ -n "$second" ]; }
takeover() {
    job=$1
    rm -f "$tmp/killed"
    for i in 1 2 3; do
        sleep 0.25
        wait_for has_second || continue
        for pid in $second; do kill -9 "$pid" && killed=$((killed + 1)); done
    done 2>/dev/null
    : >"$tmp/killed"
    wait "$job"
    code=$?
    expect_code 0
}
killed=0
"$ftrun" -q -n 1 "$tmp/slowly" <"$tmp/in" >"$tmp/out" 2>"$tmp/err" &
takeover $!
same "from a file, ftrun killed"
mkfifo "$tmp/fifo"
cat "$tmp/in" >"$tmp/fifo" &
"$ftrun" -q -n 1 "$tmp/slowly" <"$tmp/fifo" >"$tmp/out" 2>"$tmp/err" &
takeover $!
same "from a pipe, ftrun killed"
[ $killed -ge 2 ] || fail "nothing was killed"
finish
