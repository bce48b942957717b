#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ftmpi_info --check: what a program needs and does not get, before it is started. (It was seen in the middle of a job, at the first call.)
# shellcheck disable=SC2154 # what is not assigned here is by: uses stage
set -u
. "$(dirname "$0")/../lib/test.sh"
needs mpicc.openmpi libopenmpi-dev
uses stage
cd "$tmp" || exit 99
cc=${CC:-cc}

# check PROGRAM...: $code, $tmp/out, $tmp/err
check() {
    what="ftmpi_info --check $*"
    "$prefix/bin/ftmpi_info" --check "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
    code=$?
}
says() { grep -qE -e "$1" "$tmp/out" || { fail "$what: does not say \"$1\":" && cat "$tmp/out"; }; }
bad() { says "^! $1" && expect_code 1; }
good() {
    expect_code 0
    grep '^!' "$tmp/out" && fail "$what: something is missing"
    expect_err_lines 0
}

cat >all.c <<'END'
#include <mpi.h>
int main(void) { MPI_Init(0, 0); MPI_Barrier(MPI_COMM_WORLD); return MPI_Finalize(); }
END
cat >some.c <<'END'
#include <mpi.h>
int main(int argc, char **argv)
{
    MPI_Init(0, 0);
    if (argc > 9) { MPI_Scan(argv, argv, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); PMPI_Win_fence(0, 0); MPI_Barrier(MPI_COMM_WORLD); }
    return MPI_Finalize();
}
END
mpicc.openmpi all.c -o all && mpicc.openmpi -w some.c -o some || fail "cannot compile"

check ./all
good
says '^  mpi = libmpi.so.40, the interface of Open MPI: runs as it is, on ftmpi'
says '^  functions = 3 of MPI.s, all of them in ftmpi$'
says '^All that it needs is there'
"$prefix/bin/ftmpicc" all.c -o linked || fail "ftmpicc"
check ./linked
good
says '^  mpi = libftmpi.so.0, the interface of Open MPI: runs as it is'
PATH=$tmp:$PATH check linked argument --option # found as a shell finds it; the rest is its own
good

check ./some
bad 'functions = it mentions MPI_Scan, MPI_Win_fence, which ftmpi has not yet'
says '^Not all that it needs is there'
check --parsable ./some
[ $code = 2 ] || fail "$what: --parsable is no program"
what="--parsable"
"$prefix/bin/ftmpi_info" --parsable --check ./some >out
expect_code 2
[ "$(grep -c '^check:missing:function:' out)" = 2 ] && grep -qx 'check:missing:function:MPI_Scan' out ||
    { fail "not one fact a line" && cat out; }
grep -vE '^check:(there|missing):[a-z]+:.' out && fail "these are no facts"

# Only in a library of the program's; and one that is gone.
printf '#include <mpi.h>\nvoid f(void) { MPI_Win_sync(0); }\n' >lib.c
printf 'void f(void); int main(void) { f(); }\n' >uses.c
mpicc.openmpi -w -shared -fPIC lib.c -o libmine.so && $cc uses.c -o uses -L. -lmine -Wl,-rpath,"$tmp" || fail "cannot link"
check ./uses
bad 'functions = libmine.so mentions MPI_Win_sync, which'
check ./libmine.so
bad 'functions = it mentions MPI_Win_sync'
says '^  program = a library'
rm libmine.so
check ./uses
bad 'library = libmine.so is not found'

# Names that nobody has.
printf 'int MPI_Init(void *, void *), MPI_Comm_revoke(void *); int main(void) { MPI_Init(0, 0); return MPI_Comm_revoke(0); }\n' >new.c
mpi=$(mpicc.openmpi --showme:libdirs | tr ' ' '\n' | head -1)
$cc -w -shared -fPIC new.c -o new -L"$mpi" -lmpi || fail "new.c"
check ./new
bad 'symbols = it needs MPI_Comm_revoke, which'

# Another MPI.
theirs=$(dirname "$(readlink -f "$mpi/libmpi.so")")
# shellcheck disable=SC2046 # words
$cc all.c $(mpicc.openmpi --showme:compile) -o other -L"$mpi" -lmpi -Wl,--disable-new-dtags,-rpath,"$theirs" || fail "rpath"
check ./other
bad "mpi = libmpi.so.40 is found at .*, which is not ftmpi's"
if command -v mpicc.mpich >/dev/null; then
    mpicc.mpich all.c -o mpich || fail "mpich"
    check ./mpich
    bad 'mpi = libmpi.*, the interface of MPICH .*compile it again'
fi

# What keeps ftmpi out.
printf 'int main(void) { return 0; }\n' >empty.c
if $cc -static empty.c -o static 2>/dev/null; then
    check ./static
    bad 'snapshots = none, and no MPI: nothing of ftmpi gets into a statically linked program'
fi
if [ "$(id -u)" = 0 ]; then
    cp all setuid && chown 65534 setuid && chmod u+s setuid
    check ./setuid
    bad 'privileges = set-user-ID'
fi
printf '\177ELF\002\001\001\000\000\000\000\000\000\000\000\000\002\000\267\000' >arm
head -c 100 /dev/zero >>arm
check ./arm
bad 'program = for another machine \(aarch64\)'

# Fortran.
if command -v mpifort.openmpi >/dev/null; then
    for module in "include 'mpif.h'" "use mpi" "use mpi_f08"; do
        case $module in use*) before=$module after='' ;; *) before='' after=$module ;; esac
        {
            printf 'program f\n %s\n %s\n integer x, y, e\n' "$before" "$after"
            printf ' call MPI_Init(e)\n call MPI_Scan(x, y, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, e)\n call MPI_Finalize(e)\nend\n'
        } >f.f90
        mpifort.openmpi -w f.f90 -o f || fail "f.f90"
        check ./f
        bad 'functions = it mentions MPI_Scan, which'
        says "^  binding = libmpi_[a-z0-9_]*\.so\.40, Open MPI's at /"
    done
fi

# Scripts.
printf '#!/bin/sh\ntrue\n' >script && check ./script && good && says 'interpreter = /bin/sh runs it'
printf '#!/usr/bin/env python3\n' >python && check ./python && good && says '^  python = .*imports'
printf '#!/nowhere/sh\n' >script && check ./script && bad 'interpreter = /nowhere/sh is not there'
check python3 && good && says '^  python = '

# Cannot be looked at.
for file in ./nothing nothing-of-that-name . ./all.c; do
    check $file
    expect_code 2
    expect_err_lines 1
done
check some.c && expect_code 2 && expect_err 'command not found; did you mean ./some.c?'
# "All that it needs is there" was said of what ftrun refuses to run.
head -c 2000 all >half && check ./half && expect_code 2 && expect_err 'half: is the beginning of a program'
printf '\177ELFand\0' >begun && check ./begun && expect_code 2 && expect_err 'begun: is the beginning of a program'
printf 'some\0bytes' >data.py && check ./data.py && expect_code 2 && expect_err 'data.py: is neither a program nor a script'
: >hollow && check ./hollow && expect_code 2 && expect_err 'an empty file'
"$prefix/bin/ftmpi_info" --check 2>err && fail "no program is no mistake"
# The beginnings of a program: never a crash.
size=$(wc -c <all)
for n in 1 20 64 100 500 1000 2000 4000 8000 12000 $((size - 100)); do
    [ "$n" -lt "$size" ] || continue
    head -c "$n" all >piece
    check ./piece
    [ $code -le 2 ] || fail "$what: $n bytes of a program: exit code $code"
done
finish
