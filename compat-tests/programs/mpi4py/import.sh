#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A Python module that is made for another MPI: one line says so, with what helps. (Python's own speaks of a file or a name.) Modules stand
# for mpi4py built for MPICH, or for a newer MPI; loading by ctypes is as by import, both ask dlerror.
. "$(dirname "$0")/../../lib/test.sh"
python=/usr/bin/python3
cc=${CC:-cc}
[ -x $python ] || skip "apt-get install python3"
cd "$tmp" || exit 99
line='^ftmpi: rank 0 on .* could not load a library that is made for another MPI than Open MPI 4.1.s interface (%s): build it with ftmpicc'

# Its library is not there.
mkdir lib
echo 'int MPI_Init(void *a, void *b) { return a == b; }' >mpi.c
echo 'int MPI_Init(void *, void *); int start(void) { return MPI_Init(0, 0); }' >module.c
$cc -shared -fPIC mpi.c -Wl,-soname,libmpi.so.12 -o lib/libmpi.so.12 &&
    $cc -shared -fPIC module.c lib/libmpi.so.12 -o mpich.so || fail "mpich.so"
# A function is not there.
echo 'int MPI_Session_init(void *); int start(void) { return MPI_Session_init(0); }' >newer.c
$cc -shared -fPIC newer.c -o newer.so -L"$top_builddir/.libs" -lftmpi || fail "newer.so"
for case in 'mpich libmpi\.so\.12: cannot open shared object file: No such file or directory' \
    'newer [^ ]*/newer\.so: undefined symbol: MPI_Session_init'; do
    module=${case%% *}
    # shellcheck disable=SC2059 # the format is above
    wanted=$(printf "$line" "${case#* }")
    run -n 1 $python -c "import ctypes, os; ctypes.CDLL('$tmp/$module.so', os.RTLD_NOW)"
    expect_code 1
    expect_err "$wanted"
    [ "$(grep -c '^ftmpi:' err)" = 1 ] || fail "$module: not one line"
    # Who tries, and goes on without, is told nothing; nor who fails for another reason.
    run -n 1 $python -c "
import ctypes, os
try:
    ctypes.CDLL('$tmp/$module.so', os.RTLD_NOW)
except OSError:
    print('without')"
    expect_code 0
    expect_out without
    expect_err_lines 0
done
run -n 1 $python -c 'import ctypes; ctypes.CDLL("libno-such-thing.so.12")'
expect_code 1
grep '^ftmpi:' err && fail "told of a library that is no MPI"
run -n 1 $python -c 'import nothing_of_that_name'
expect_code 1
expect_err "^ModuleNotFoundError: No module named 'nothing_of_that_name'"
grep '^ftmpi:' err && fail "told of a module that is not installed"

# Another MPI that is there: the job ends when it starts, and the line is for Python.
openmpi=$(mpicc.openmpi -print-file-name=libmpi.so.40 2>/dev/null)
if [ -e "$openmpi" ]; then
    run -n 2 $python -c "import ctypes; ctypes.CDLL('$openmpi').MPI_Init(None, None)"
    expect_code 126
    expect_err "has started another MPI, .*: use mpi4py's wheel, with MPI4PY_LIBMPI unset, or build the module with ftmpicc; --other"
    expect_err_lines 1
fi
finish
