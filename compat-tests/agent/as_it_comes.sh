#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A line is seen when it is printed, a progress bar and a question before their line ends; a message of ftrun begins a line.
# Each program waits until the test has seen what it printed last. Without PYTHONUNBUFFERED, which would hide what is wrong.
. "$(dirname "$0")/../lib/test.sh"
unset PYTHONUNBUFFERED GFORTRAN_UNBUFFERED_PRECONNECTED

cat >"$tmp/lines.c" <<'EOF'
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    (void)argc;
    for (int i = 1; i < 4; i++) {
        char path[4096];

        printf("line %d of C\n", i);
        snprintf(path, sizeof path, "%s/seen%d", argv[1], i);
        for (int ms = 0; access(path, F_OK) && ms < 60000; ms += 10)
            usleep(10000);
    }
    return 0;
}
EOF
cat >"$tmp/lines.f90" <<'EOF'
program lines
    character(4096) :: directory, path
    logical :: seen
    integer :: i, waits
    call get_command_argument(1, directory)
    do i = 1, 3
        print '(a, i0, a)', 'line ', i, ' of Fortran'
        write (path, '(a, a, i0)') trim(directory), '/seen', i
        do waits = 1, 60
            inquire (file=path, exist=seen)
            if (seen) exit
            call sleep(1)
        end do
    end do
end program
EOF
cat >"$tmp/wait.py" <<'EOF'
import os, sys, time

def seen(i):
    for _ in range(6000):
        if os.path.exists(f"{sys.argv[1]}/seen{i}"):
            return
        time.sleep(0.01)
EOF
cat >"$tmp/lines.py" <<'EOF'
from wait import *
for i in range(1, 4):
    print("line", i, "of Python")
    seen(i)
print("a terminal" if sys.stdout.isatty() else "no terminal")
EOF
cat >"$tmp/bar.py" <<'EOF'
from wait import *
out = sys.stderr if sys.argv[2] == "stderr" else sys.stdout
for i in range(1, 4):
    out.write(f"\r {i}0%")
    out.flush()
    seen(i)
out.write("\n")
EOF
export PYTHONDONTWRITEBYTECODE=1

# comes NAME STREAM PATTERN FTRUN-ARGUMENT...: $i is in PATTERN as %.
comes() {
    name=$1 stream=$2 pattern=$3
    shift 3
    rm -f "$tmp"/seen*
    begin "$@"
    for i in 1 2 3; do
        wait_for grep -q "$(echo "$pattern" | sed "s/%/$i/")" "$tmp/$stream" || fail "$name: $i is not seen while it is the last"
        : >"$tmp/seen$i"
    done
    ended
    expect_code 0
}

for snapshot in auto off; do
    ${CC:-cc} -o "$tmp/lines" "$tmp/lines.c" && comes "C, snapshots $snapshot" out "line % of C" --snapshot $snapshot -n 2 "$tmp/lines" "$tmp"
    comes "Python, snapshots $snapshot" out "line % of Python" --snapshot $snapshot -n 2 /usr/bin/python3 "$tmp/lines.py" "$tmp"
    [ "$(grep -c '^no terminal$' "$tmp/out")" = 2 ] || fail "Python takes the pipe for a terminal"
done
comes "a child of a rank" out "line % of C" -n 2 sh -c "'$tmp/lines' '$tmp'; true"
if command -v gfortran >/dev/null; then
    gfortran -o "$tmp/lines.fortran" "$tmp/lines.f90" && comes "Fortran" out "line % of Fortran" -n 1 "$tmp/lines.fortran" "$tmp"
fi
for stream in stdout stderr; do
    comes "a bar on $stream" "${stream#std}" "%0%" -n 2 /usr/bin/python3 "$tmp/bar.py" "$tmp" $stream
    [ "$(tr -d '\n' <"$tmp/${stream#std}" | tr '\r' '\n' | grep % | sort | uniq -c | tr -s ' \n' ' ')" = ' 2 10% 2 20% 2 30% ' ] ||
        fail "bars on $stream: $(cat -v "$tmp/${stream#std}")"
done

echo "-- a question on standard error, and the line that ftrun says then"
mkfifo "$tmp/answers" "$tmp/questions"
cat "$tmp/questions" >"$tmp/err" & # as somebody sees them: not in a file
rm -f "$tmp/seen1"
# shellcheck disable=SC2016
timeout -k 5 120 "$ftrun" -n 2 sh -c '
    [ $FTMPI_RANK = 1 ] && { while [ ! -e "$1/seen1" ]; do sleep 0.05; done; exit 0; }
    [ $FTMPI_INCARNATION = 0 ] && { printf "Name? " >&2; while [ ! -e "$1/seen1" ]; do sleep 0.05; done; kill -9 $$; }
    printf "Name? " >&2; read n; echo "hello $n"' - "$tmp" <"$tmp/answers" >"$tmp/out" 2>"$tmp/questions" &
job=$!
exec 4>"$tmp/answers"
wait_for grep -q 'Name? ' "$tmp/err" || fail "the question is not seen"
: >"$tmp/seen1"
wait_for grep -q 'ftrun: rank 0' "$tmp/err" || fail "nothing is said of the death"
echo Bob >&4
exec 4>&-
ended
expect_code 0
grep -q '^hello Bob$' "$tmp/out" || fail "no answer"
grep -q '^ftrun: rank 0' "$tmp/err" || fail "a message is glued to the question"
[ "$(grep -c 'Name? ' "$tmp/err")" = 1 ] || fail "the question is asked twice"

# They were glued: "begin a line of rank 1". A file has no one who answers: there it waits for its end, and nothing is put between.
echo "-- a line of another rank does not follow on a part of one"
cat >"$tmp/mix.py" <<'EOF'
import os
from wait import *
if os.environ["FTMPI_RANK"] == "0":
    print("begin ", end="", flush=True)
    seen(1)
    print("end")
else:
    seen(0)
    print("a line of rank 1")
EOF
mkfifo "$tmp/read"
for to in read file; do
    rm -f "$tmp"/seen*
    cat "$tmp/read" >"$tmp/out" &
    reader=$!
    [ $to = read ] || { kill $reader && to=out; }
    timeout -k 5 120 "$ftrun" -n 2 --output-filename "$tmp/own" /usr/bin/python3 "$tmp/mix.py" "$tmp" <"$tmp/answers" >"$tmp/$to" 2>"$tmp/err" &
    job=$!
    exec 4>"$tmp/answers"
    if [ $to = read ]; then
        wait_for grep -q begin "$tmp/out" || fail "the part is not seen"
    fi
    : >"$tmp/seen0"
    wait_for grep -q '^a line of rank 1' "$tmp/out" || fail "the line is glued, or not seen: $(cat "$tmp/out")"
    : >"$tmp/seen1"
    ended
    exec 4>&-
    expect_code 0
    if [ $to = read ]; then
        wait $reader
        printf 'begin \na line of rank 1\nend\n' | cmp - "$tmp/out" || fail "to a pipe: $(cat "$tmp/out")"
    else
        printf 'a line of rank 1\nbegin end\n' | cmp - "$tmp/out" || fail "to a file: $(cat "$tmp/out")"
    fi
    printf 'begin end\n' | cmp - "$tmp/own/rank.0/stdout" || fail "its own file has more: $(cat "$tmp/own/rank.0/stdout")"
done
run -n 3 sh -c 'printf x'
expect_code 0
printf xxx | cmp - "$tmp/out" || fail "what has no end of a line is not whole: $(cat "$tmp/out")"

echo "-- what was printed before MPI_Abort"
cat >"$tmp/abort.c" <<'EOF'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    printf("a line\nthe beginning of a line");
    MPI_Abort(MPI_COMM_WORLD, 3);
}
EOF
"$top_builddir/ftmpicc" -o "$tmp/abort" "$tmp/abort.c" || fail "ftmpicc"
run -n 1 "$tmp/abort"
expect_code 3
printf 'a line\nthe beginning of a line' | cmp -s - "$tmp/out" || fail "before MPI_Abort: $(cat "$tmp/out")"
# What ftrun says at the end begins a line, too, where the two go to different places.
run -v -n 1 sh -c 'printf part >&2'
expect_err '^part$'
expect_err '^ftrun: done: '
finish
