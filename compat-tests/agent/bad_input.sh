#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs that cannot run, limits that are too small, a host that lacks something: one clear line, the right exit code,
# nothing left running.
. "$(dirname "$0")/../lib/test.sh"
cd "$tmp" || exit 99

# One line, and no process of ours is left (they would hold the pipe that $() reads until its end).
check() { # code, pattern
    expect_code "$1"
    expect_err "$2"
    expect_err_lines 1
    expect_no_out
}
bad() { # code, pattern, arguments
    want=$1 pattern=$2
    shift 2
    run "$@"
    check "$want" "$pattern"
}
# The same in a shell that first does something to itself: code, pattern, command, arguments.
bad_after() {
    want=$1 pattern=$2 before=$3
    shift 3
    what="$before; ftrun $*"
    all=$(timeout -k 5 120 sh -c "$before"' && exec "$0" "$@"' "$ftrun" "$@" 2>"$tmp/err" </dev/null)
    code=$?
    printf '%s' "$all" >"$tmp/out"
    check "$want" "$pattern"
}

# Programs.
: >empty && printf '#!/bin/sh\r\necho\r\n' >dos && printf '#!/no/such/shell -e\n' >script && head -c 40 /proc/self/exe >begun
printf 'some\0bytes' >data && printf 'echo ran without shebang\n' >plain
cp /proc/self/exe other && printf '\050\000' | dd of=other bs=1 seek=18 conv=notrunc 2>/dev/null # its machine is ARM now
head -c 2000 /proc/self/exe >half
chmod +x empty dos script begun data plain other half
bad 126 'empty: is an empty file' -n 2 ./empty
bad 126 'the script has DOS line ends' -n 2 ./dos
bad 126 'script: its interpreter /no/such/shell does not exist' -n 2 ./script
bad 126 'begun: is the beginning of a program' -n 2 ./begun
bad 126 'half: is the beginning of a program' -n 2 ./half
bad 126 'data: is neither a program nor a script' -n 2 ./data
[ "$(uname -m)" != x86_64 ] || bad 126 'other: a program for another machine (arm), this is x86_64' -n 2 ./other
bad 126 'data: is neither' -n 1 true : -n 1 --wdir "$tmp" ./data
run -n 1 ./plain
expect_out 'ran without shebang'

# MPICH's library and its other name; a program that only speaks of it.
echo 'void f(void) {}' >l.c
echo 'void f(void); int main(void) { f(); return 0; }' >m.c
echo 'int main(void) { return "libmpich.so.12"[0] != 108; }' >n.c
for lib in libmpich.so.12 libmpi.so.12 libmpi.so.40; do
    { cc -shared -fPIC -Wl,-soname,$lib l.c -o $lib && cc m.c -L. -l:$lib -Wl,-rpath,"$tmp" -o "needs-$lib"; } || fail "cc: $lib"
done
cc n.c -o names || fail "cc: names"
bad 126 'is linked against libmpich.so.12, MPICH' -n 2 ./needs-libmpich.so.12
bad 126 'is linked against libmpi.so.12, MPICH' -n 2 ./needs-libmpi.so.12
run -n 2 ./names
expect_code 0
cc n.c -Wl,--dynamic-linker=/no/such/ld.so -o no-ld || fail "cc: no-ld"
bad 126 'no-ld: its interpreter /no/such/ld.so does not exist' -n 2 ./no-ld
# Files that lie: sizes and offsets beyond the end must not take ftrun along.
for at in 32 40 54 56 64 72 88 96 104 152 208; do
    cp names lies && printf '\377\377\377\177\377\377\377\177' | dd of=lies bs=1 seek=$at conv=notrunc 2>/dev/null
    run --max-restarts 0 -n 1 ./lies
    { [ "$code" = 126 ] || [ "$code" = 139 ] || [ "$code" = 127 ] || [ "$code" = 0 ]; } || fail "a damaged program (at $at): exit code $code"
done

# Directories that cannot be written.
bad 2 'Is a directory' --report . -n 1 true
bad 2 'No such file' --log-spill "$tmp/nonesuch" -n 1 true
bad 2 'Not a directory' --log-spill "$tmp/plain" -n 1 true
bad 2 'Not a directory' --wdir "$tmp/plain" -n 1 true

# Limits.
bad_after 1 '4 ranks: the limit of open files is 20 and must be 180: raise it (ulimit -Hn)' 'ulimit -n 20' -n 4 true
[ -n "$sanitized" ] || bad_after 1 'ulimit -v' 'ulimit -v 200000' -n 2 true
bad_after 1 'File too large (raise ulimit -Hf,' 'ulimit -f 10' -n 2 true
if [ -z "$sanitized" ]; then
    bad_after 1 'ulimit .*-v or -d' 'ulimit -d 1000' -n 2 true # which allocation fails first is chance
fi
if [ "$(id -u)" = 0 ] && setpriv --reuid=65534 --clear-groups test -x "$ftrun"; then
    timeout 120 setpriv --reuid=65534 --clear-groups prlimit --nproc=3 "$ftrun" -n 1 true : -n 2 true >out 2>err </dev/null
    code=$? what='too few processes' # root has no such limit
    check 1 'the limit of processes, 3, is too low for . ranks*: raise it (ulimit -u)'
fi
# Those that can be raised are, and ranks have them as they were.
timeout 120 prlimit --fsize=10240:unlimited --nofile=50:4096 "$ftrun" -n 1 grep -E '^Max (file size|open files)' /proc/self/limits >limits 2>err
code=$? what='soft limits'
expect_code 0
awk '{print $4}' limits >out
expect_out 10240 50

# Standard descriptors that are closed, each and all. What is lost with stdout was not told.
closed() { # the lines of output that are left, code
    what="closed descriptors" code=$?
    expect_code "${2:-0}"
    [ "$(wc -l <"$tmp/out")" = "$1" ] || fail "$what: $(cat "$tmp/out")"
}
timeout 120 "$ftrun" -n 2 sh -c 'cat; echo ran' <&- >out 2>err
closed 2
timeout 120 "$ftrun" -n 2 sh -c 'echo ran; echo ran >&2' 2>&- >out </dev/null
closed 2
: >out
timeout 120 "$ftrun" -n 2 sh -c 'echo ran >>out' >&- 2>err </dev/null
closed 2
: >out
timeout 120 "$ftrun" -n 2 sh -c 'cat; echo ran >>out; echo lost; echo lost >&2' <&- >&- 2>&-
closed 2 1
timeout 120 "$ftrun" -n 2 echo lost >&- 2>err </dev/null
code=$? what='stdout is closed'
: >out
check 1 'output was lost: cannot write to stdout: Bad file descriptor'
timeout 120 "$ftrun" --help >&- 2>err
code=$? what='ftrun --help without stdout'
check 1 'output was lost: cannot write to stdout'

# A disk that is full.
if [ -w /dev/full ]; then
    timeout 120 "$ftrun" -n 2 echo lost >/dev/full 2>err </dev/null
    code=$? what='stdout is full'
    : >out
    check 1 'output was lost: cannot write to stdout: No space left on device'
    timeout 120 "$ftrun" -n 1 sh -c 'echo lost >&2' 2>/dev/full </dev/null
    code=$? what='stderr is full'
    expect_code 1
fi

# What needs a place of its own: without /proc, /dev/shm, /sys; with another user's processes hidden; /tmp read-only; a full report.
if [ "$(id -u)" = 0 ]; then alone='unshare -m'; else alone='unshare -rm'; fi
if $alone true 2>/dev/null; then
    mkdir small
    in_private() { # command, arguments of ftrun
        what="after $1: ftrun"
        timeout -k 5 120 $alone sh -c 'do=$1; shift; eval "$do" && exec "$0" "$@"' "$ftrun" "$@" >out 2>err </dev/null
        code=$?
    }
    if [ "$(id -u)" = 0 ]; then
        if [ -z "$sanitized" ]; then # the sanitizers want it, too
            in_private 'umount -l /proc' -n 2 true
            check 1 '/proc is not there'
        fi
        in_private 'mount -o remount,hidepid=2 /proc' -n 2 echo ran
        expect_code 0
        expect_out ran ran
    fi
    if [ -z "$sanitized" ]; then
        in_private 'mount -t tmpfs none /proc' -n 2 true
        check 1 '/proc is not there'
    fi
    in_private 'mount -t tmpfs none /sys' -n 2 echo ran
    expect_code 0
    if [ "$(id -u)" = 0 ] && [ -d /dev/shm ]; then
        in_private 'mount --bind small /dev && ! [ -e /dev/shm ] && mknod /dev/null c 1 3 && chmod 666 /dev/null' -n 2 echo ran
        expect_code 0
        expect_out ran ran
        rm -f small/null
    fi
    in_private 'mount -t tmpfs -o ro none small; export TMPDIR=small' -n 2 true
    check 1 'cannot create a file in small for the log to spill to: Read-only file system (--log-spill names another directory)'
    in_private 'mount -t tmpfs -o size=64k none small; head -c 65536 /dev/zero >small/f' --report small/report -n 1 true
    expect_code 1
    expect_err 'report could not be written: No space left on device'
else
    echo "private mounts are not permitted here; what needs them was not checked"
fi
finish
