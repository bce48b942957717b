#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# --tag-output, --timestamp-output, --merge-stderr-to-stdout, --output-filename; each with a rank that dies.
. "$(dirname "$0")/../lib/test.sh"
# Dies in the middle of a line, with output in the pipe.
cat >"$tmp/talk" <<'EOT'
#!/bin/sh
i=0
while [ $i -lt 40 ]; do
    i=$((i + 1))
    echo "line $i of $FTMPI_RANK"
    [ $((i % 10)) = 0 ] && echo "error $i of $FTMPI_RANK" >&2
    if [ $i = 25 ] && [ $FTMPI_INCARNATION = 0 ]; then
        printf 'line'
        kill -9 $$
    fi
done
printf 'end of %s' "$FTMPI_RANK"
EOT
chmod +x "$tmp/talk"
want() { seq -f "$1line %.0f of $2" 40; echo "${1}end of $2"; }

run -q --tag-output -n 2 "$tmp/talk"
expect_code 0
for r in 0 1; do
    want "[1,$r]<stdout>:" $r >"$tmp/want"
    grep "^\[1,$r\]<stdout>:" "$tmp/out" | cmp -s - "$tmp/want" || fail "--tag-output: stdout of rank $r"
    seq -f "[1,$r]<stderr>:error %.0f of $r" 10 10 40 >"$tmp/want"
    grep "^\[1,$r\]" "$tmp/err" | cmp -s - "$tmp/want" || fail "--tag-output: stderr of rank $r"
done
[ "$(wc -l <"$tmp/out")" = 82 ] || fail "--tag-output: $(wc -l <"$tmp/out") lines"

run -q --timestamp-output -n 1 "$tmp/talk"
expect_code 0
stamp='[A-Z][a-z][a-z] [A-Z][a-z][a-z] [ 0-9][0-9] [0-9][0-9]:[0-9][0-9]:[0-9][0-9] 20[0-9][0-9]'
want '' 0 >"$tmp/want"
sed -n "s/^$stamp<stdout>://p" "$tmp/out" | cmp -s - "$tmp/want" || fail "--timestamp-output: not a time before each line"
run -q --timestamp-output --tag-output -n 1 echo hello
grep -qx "$stamp\[1,0\]<stdout>:hello" "$tmp/out" || fail "--timestamp-output --tag-output"

# Merged, the lines of one rank keep the order in which it wrote them.
run -q --merge-stderr-to-stdout -n 1 "$tmp/talk"
expect_code 0
awk 'BEGIN { for (i = 1; i <= 40; i++) { print "line " i " of 0"; if (i % 10 == 0) print "error " i " of 0" } printf "end of 0" }' >"$tmp/want"
cmp -s "$tmp/want" "$tmp/out" || fail "--merge-stderr-to-stdout: not in order, or not once"
[ ! -s "$tmp/err" ] || fail "--merge-stderr-to-stdout: something on stderr"

# Tagged once, also after a prompt.
mkfifo "$tmp/in"
timeout -k 5 120 "$ftrun" --tag-output -n 1 sh -c 'printf "name? "; read name; echo "hello $name"; echo bye' <"$tmp/in" >"$tmp/out" 2>"$tmp/err" &
exec 3>"$tmp/in"
what="a tagged prompt"
wait_for grep -q '^\[1,0\]<stdout>:name? $' "$tmp/out"
echo you >&3
exec 3>&-
wait $!
expect_out '[1,0]<stdout>:name? hello you' '[1,0]<stdout>:bye'

# Files: what was there before the job goes, what a rank printed before it died stays.
mkdir -p "$tmp/files/new/rank.0"
echo old >"$tmp/files/new/rank.0/stdout"
run -q --output-filename "$tmp/files/new" -n 2 "$tmp/talk"
expect_code 0
for r in 0 1; do
    { seq -f "line %.0f of $r" 40; printf 'end of %s' $r; } >"$tmp/want"
    cmp -s "$tmp/want" "$tmp/files/new/rank.$r/stdout" || fail "--output-filename: stdout of rank $r"
    seq -f "error %.0f of $r" 10 10 40 | cmp -s - "$tmp/files/new/rank.$r/stderr" || fail "--output-filename: stderr of rank $r"
done
[ "$(grep -c 'line .* of' "$tmp/out")" = 80 ] || fail "--output-filename: not on stdout as well"
# ftrun's own lines: each has the time, and all are on its stderr and in a file, as what ranks print is. (They had none, and were in no file.)
run --timestamp-output --output-filename "$tmp/files/own:nocopy" -n 2 sh -c '[ $FTMPI_RANK$FTMPI_INCARNATION = 10 ] && kill -9 $$; echo printed'
expect_code 0
expect_no_out
expect_err_lines 2
[ "$(grep -c '^[A-Z][a-z][a-z] [A-Z][a-z][a-z] .[0-9] ..:..:.. 20[0-9][0-9]<stderr>:ftrun: ' "$tmp/err")" = 2 ] || fail "ftrun's lines: $(cat "$tmp/err")"
cmp "$tmp/err" "$tmp/files/own/ftrun.stderr" || fail "ftrun's lines are not in its file: $(cat "$tmp/files/own/ftrun.stderr")"
run --output-filename "$tmp/files/own" -n 1 true
expect_code 0
[ -f "$tmp/files/own/ftrun.stderr" ] && [ ! -s "$tmp/files/own/ftrun.stderr" ] || fail "what an earlier job said is still there"
run --output-filename "$tmp/files/few:nocopy" -n 11 sh -c 'echo $FTMPI_RANK; echo no >&2'
expect_code 0
expect_no_out
[ "$(cat "$tmp/files/few/rank.07/stdout")" = 7 ] || fail "--output-filename DIR:nocopy"
run --output-filename "$tmp/files/x:nocpy" -n 1 true
expect_code 2
expect_err 'comes nocopy or nojobid'
run --output-filename "$tmp/talk" -n 1 echo started
expect_code 2
expect_err "cannot make .*/talk"
expect_no_out

# A full disk: told once, and a failure. In a mount namespace of our own.
mkdir "$tmp/small"
if [ "$(id -u)" = 0 ]; then alone='unshare -m'; else alone='unshare -rm'; fi
what="--output-filename on a full disk"
$alone sh -c 'mount -t tmpfs -o size=64k none "$0" && timeout -k 5 120 "$@"' "$tmp/small" \
    "$ftrun" --output-filename "$tmp/small:nocopy" -n 1 seq 100000 >"$tmp/out" 2>"$tmp/err"
code=$?
expect_code 1
expect_err 'output of rank 0 was lost: cannot write to .*/small/rank.0/stdout: No space left on device'
expect_err_lines 1
# The line that tells so came into the place of the program's, where both went to one pipe.
$alone sh -c 'mount -t tmpfs -o size=64k none "$0" && head -c 70000 /dev/zero >"$0/full" 2>/dev/null; timeout -k 5 120 "$@" 2>&1' "$tmp/small" \
    "$ftrun" --output-filename "$tmp/small" -n 1 seq 2000 >"$tmp/out"
seq 2000 >"$tmp/expected"
sed '/^ftrun: /d' "$tmp/out" | cmp - "$tmp/expected" || fail "$what, to one pipe: the program's lines are others"
[ "$(grep -c '^ftrun: output of rank 0 was lost: cannot write to .*: No space left on device$' "$tmp/out")" = 1 ] || fail "$what, to one pipe: not told"
finish
