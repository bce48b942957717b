#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What docs/hosts.md and README.md print of jobs on several hosts, word for word, where alpha, beta, gamma and delta are this machine: the
# commands run, and what is said to be told is told.
. "$(dirname "$0")/../lib/test.sh"
uses hosts
# down tells which host ssh does not reach, old which has another version. --launch-arg's words come before the host.
cat >"$tmp/go" <<'END'
#!/bin/sh
while [ "$1" = -p ]; do echo "port $2" >>"$tmp/ports" && shift 2; done
host=$1
shift
case $host in
"$(cat "$tmp/down" 2>/dev/null)") echo "ssh: connect to host $host port 22: No route to host" >&2; exit 255 ;;
"$(cat "$tmp/old" 2>/dev/null)") echo "ftrun: ftmpi here is version 0.1.0, that of the job is 0.2.0" >&2; exit 2 ;;
esac
exec "$@"
END
mkdir "$tmp/bin" "$tmp/at"
ln -s "$ftrun" "$tmp/bin/ftrun"
PATH=$tmp/bin:$PATH FTMPI_LAUNCHER=exec:$tmp/go
export PATH FTMPI_LAUNCHER
cd "$tmp/at" || exit 99
printf '#!/bin/sh\necho $FTMPI_SIZE $FTMPI_RANK\n' >program
chmod +x program
cp program sum
printf 'alpha slots=4\nbeta slots=4\n' >hosts

# The commands at the top of a section.
commands() { # file, heading
    awk -v heading="$2" '/^# |^## / { on = $0 == heading } on && /^    ftrun / { print substr($0, 5) }' "$1"
}
expect_ranks() { # how many
    seq 0 $(($1 - 1)) | sed "s/^/$1 /" | sort >"$tmp/want"
    expect_code 0
    sort "$tmp/out" | cmp -s - "$tmp/want" || { fail "$what: prints something else:"; cat "$tmp/out"; }
}
# With --survive host: what is not survived.
expect_limit() {
    expect_err '^ftrun: the loss of this host would end the job: with --ckpt-dir it could be resumed$'
    expect_err_lines 1
}
{ commands "$top_srcdir/docs/hosts.md" '# Jobs on several hosts' && commands "$top_srcdir/README.md" '## Several hosts'; } >"$tmp/commands"
[ "$(wc -l <"$tmp/commands")" = 4 ] || fail "the examples are not where they were: $(cat "$tmp/commands")"
while read -r what <&3; do
    timeout -k 5 120 sh -c "$what" >"$tmp/out" 2>"$tmp/err" </dev/null
    code=$?
    case $what in
    *16*) expect_ranks 16 && expect_err '^ftrun: 16 ranks on 8 slots: they share processors$' ;;
    *delta*) expect_ranks 6 && expect_limit ;;
    *survive*) expect_ranks 8 && expect_limit ;;
    *) expect_ranks 8 && expect_err_lines 0 ;;
    esac
done 3<"$tmp/commands"

# The words for ssh or COMMAND.
words=$(sed -n 's/^  `\(--launch-arg -p --launch-arg 2222\)`.*/\1/p' "$top_srcdir/docs/hosts.md")
run $words -H alpha,beta ./program
expect_ranks 2
[ "$(sort -u "$tmp/ports" 2>/dev/null)" = 'port 2222' ] || fail "$what: $words did not come"

# What is told: the lines of the text are these.
is_line() { # its number
    awk '/^## / { on = $0 == "## When something is wrong" } on && /^    ftrun: / { print substr($0, 5) }' "$top_srcdir/docs/hosts.md" | sed -n "$1p" >"$tmp/line"
    grep -v ' of ranks survived: \|the loss of this host' "$tmp/err" | cmp -s "$tmp/line" - || { fail "$what: docs/hosts.md says another line:"; cat "$tmp/line"; }
}
echo beta >"$tmp/down"
run -H alpha:4,beta:4 ./program
is_line 1
rm "$tmp/down"
echo beta >"$tmp/old"
run -H alpha:4,beta:4 ./program
is_line 2
rm "$tmp/old"
what='a host that says nothing any more'
timeout -k 5 120 ftrun -H alpha:4,beta:4,gamma:4 --spares 1 --survive host sh -c 'echo $$ >"$tmp/rank.$FTMPI_RANK"; until [ -e "$tmp/end" ]; do sleep 0.1; done' >"$tmp/out" 2>"$tmp/err" &
pid=$!
wait_for [ -s "$tmp/rank.4" ]
agent=$(awk '/^PPid/ { print $2 }' "/proc/$(cat "$tmp/rank.4")/status") && twin=$(awk '/^PPid/ { print $2 }' "/proc/$agent/status")
kill -STOP "$twin" "$agent"
wait_for told beta
: >"$tmp/end"
kill -KILL "$twin" "$agent" 2>/dev/null # as far as ftrun has not
wait $pid
code=$?
expect_code 0
is_line 3
finish
