#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Where a call was made, in a library with a version in its name, as libraries have that are found by a link: status and errors name the
# file, and where in it. (It was "?+0x1129": the rank knew the link's name, /proc/PID/maps has the file's.)
. "$(dirname "$0")/../lib/test.sh"
own_jobs
cd "$tmp" || exit 99
mkdir -m 700 run
mkdir lib
cp "$built/.libs/libcalls.so" lib/libcalls.so.1.2.3 || exit 99
ln -s libcalls.so.1.2.3 lib/libcalls.so.1
ln -s libcalls.so.1 lib/libcalls.so
at='at libcalls\.so\.1\.2\.3+0x[0-9a-f][0-9a-f]*'
for library in lib/libcalls.so.1 "$tmp/lib/libcalls.so" lib/libcalls.so.1.2.3; do
    rm -f ready
    begin -n 3 "$built/inlib" "$library" ready
    waits() { "$ftrun" status >shown 2>&1 && grep -q '^1-2 .*in MPI' shown; }
    wait_for waits
    grep -q "^1-2 .* $at; pids" shown || { fail "$library: status names no place"; cat shown; }
    : >ready
    ended
    expect_code 0
done
run -n 2 "$built/inlib" lib/libcalls.so.1 mismatch
[ $code != 0 ] || fail "$what: code 0"
expect_err "MPI_Allreduce.* $at"
expect_err 'MPI_Barrier.* at inlib+0x'

# A file that is replaced while it is used has the name that it had.
rm -f ready
begin -n 2 "$built/inlib" lib/libcalls.so.1 ready
waits() { "$ftrun" status >shown 2>&1 && grep -q '^1 .*in MPI' shown; }
wait_for waits
cp lib/libcalls.so.1.2.3 lib/new
mv lib/new lib/libcalls.so.1.2.3
"$ftrun" status >shown
grep -q "^1 .* $at" shown || { fail "$what: status names no place in a replaced file"; cat shown; }
: >ready
ended
expect_code 0
finish
