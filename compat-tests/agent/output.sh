#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Output exactly once, in whole lines, whatever dies where (RULES 21, 22).
. "$(dirname "$0")/../lib/test.sh"

# Each rank prints lines of its own on both streams, and dies at lines that differ from start to start, in the
# middle of a line, with output still in the pipe.
cat >"$tmp/talk" <<'EOF'
#!/bin/sh
die_at=$((100 + 150 * FTMPI_INCARNATION + 10 * FTMPI_RANK))
i=0
while [ $i -lt 500 ]; do
    i=$((i + 1))
    echo "rank $FTMPI_RANK line $i"
    [ $((i % 10)) = 0 ] && echo "rank $FTMPI_RANK error $i" >&2
    if [ $i = $die_at ] && [ $FTMPI_INCARNATION -lt 3 ]; then
        printf 'rank %s li' $FTMPI_RANK
        printf 'rank %s err' $FTMPI_RANK >&2
        kill -9 $$
    fi
done
printf 'end of %s' "$FTMPI_RANK"
EOF
chmod +x "$tmp/talk"
run -q -n 4 "$tmp/talk"
expect_code 0
for r in 0 1 2 3; do
    seq -f "rank $r line %.0f" 500 >"$tmp/want"
    grep -o "rank $r line .*" "$tmp/out" | sed 's/end of .*//' | cmp -s - "$tmp/want" || fail "stdout of rank $r is not exactly once"
    seq -f "rank $r error %.0f" 10 10 500 >"$tmp/want"
    grep "^rank $r" "$tmp/err" | cmp -s - "$tmp/want" || fail "stderr of rank $r is not exactly once"
    [ "$(grep -o "end of $r" "$tmp/out" | wc -l)" = 1 ] || fail "the last line of rank $r, unfinished, is not there once"
done

# Long lines of several ranks do not mix.
run -n 3 sh -c 'i=0; while [ $i -lt 20 ]; do i=$((i + 1)); printf "%0100000d\n" $FTMPI_RANK; done'
expect_code 0
[ "$(sort -u "$tmp/out" | wc -l)" = 3 ] && [ "$(wc -l <"$tmp/out")" = 60 ] || fail "lines of 100 kB are not whole"

# A line longer than is kept in memory, from a rank that dies in the middle of it and again after it.
run -q -n 1 sh -c 'head -c 1500000 /dev/zero | tr "\0" a; [ $FTMPI_INCARNATION = 0 ] && kill -9 $$; echo b; [ $FTMPI_INCARNATION = 1 ] && kill -9 $$; echo c'
expect_code 0
{ head -c 1500000 /dev/zero | tr '\0' a; printf 'b\nc\n'; } | cmp -s - "$tmp/out" || fail "a long line is not there once"

# Little address space: fewer lines are compared, everything else is the same. (Sanitizers need a lot of it.)
limit=2000000
[ -z "$sanitized" ] || limit=unlimited
(ulimit -v $limit && timeout -k 5 120 "$ftrun" -q --log-limit 32M -n 4 sh -c 'echo begin; [ $FTMPI_INCARNATION = 0 ] && kill -9 $$; echo end' \
    >"$tmp/out" 2>"$tmp/err")
[ "$(sort "$tmp/out" | uniq -c | tr -s ' \n' ' ')" = ' 4 begin 4 end ' ] || fail "under ulimit -v"

# Replayed text that differs: what was printed first stands, one line says so. Given out of the log, and compared line by line.
differs() { # what is said, OPTION...
    said=$1
    shift
    run -q "$@" -n 2 sh -c 'echo "start $FTMPI_INCARNATION"; echo "again $FTMPI_INCARNATION"; [ $FTMPI_INCARNATION = 0 ] && kill -9 $$; echo done'
    expect_code 0
    sort "$tmp/out" >"$tmp/sorted"
    # shellcheck disable=SC1010
    printf '%s\n' 'again 0' 'again 0' done done 'start 0' 'start 0' | cmp -s - "$tmp/sorted" || fail "$what: replayed lines are not dropped"
    expect_err "$said"
    expect_err_lines 2
}
if records; then differs 'rank 0: what it writes again to descriptor 1 differs from before'; fi
differs 'rank 0: .*line 1 of its stdout is not what it was' --snapshot off

# The last words of a rank that will not come back, unfinished.
run -n 1 sh -c 'printf "cannot go on"; exit 3'
expect_code 3
[ "$(cat "$tmp/out")" = 'cannot go on' ] || fail "an unfinished last line is lost"

# What a process left behind by a rank still prints comes out, if it hurries: who is too slow, for this machine is, is told to end.
for i in 1 2 3 4 5 6 7 8 9 10; do
    run -n 1 sh -c '(read line; echo "late: $line") <"$0" & exit 0' "$tmp/want"
    expect_code 0
    grep -q 'left behind by a rank that is done, is ended' "$tmp/err" || break
done
grep -q '^late: ' "$tmp/out" || fail "output of a process that outlives its rank is lost"

# A prompt comes out before it is answered.
mkfifo "$tmp/in" "$tmp/prompt"
timeout -k 5 120 "$ftrun" -n 2 sh -c '[ $FTMPI_RANK = 0 ] || exit 0; printf "name? "; read name; echo "hello $name"' \
    <"$tmp/in" >"$tmp/prompt" &
exec 3>"$tmp/in" 4<"$tmp/prompt"
got=$(timeout 120 dd bs=6 count=1 <&4 2>/dev/null)
[ "$got" = 'name? ' ] || fail "the prompt is \"$got\""
echo you >&3
exec 3>&-
[ "$(timeout 120 cat <&4)" = 'hello you' ] || fail "the answer is lost"
wait
finish
