#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Debian's python3-mpi4py, unmodified, under ftrun: runs on our library, survives kills of random ranks with the same output,
# and what is not there raises an exception that says so.
. "$(dirname "$0")/../../lib/test.sh"
export FTMPI_START_OVER=always # the program remembers in a file that it maps how far it has come
python=/usr/bin/python3
unset LD_LIBRARY_PATH
$python -c 'import mpi4py, numpy, sys; sys.exit(not mpi4py.__version__.startswith("3."))' 2>/dev/null ||
    skip "apt-get install python3-mpi4py python3-numpy"
extension=$($python -c 'from mpi4py import MPI; print(MPI.__file__)')
readelf -d "$extension" | grep -q 'NEEDED.*libmpi\.so\.40' || skip "mpi4py is not for Open MPI here: $extension"

mkdir "$tmp/progress"
run -n 3 $python "$here/calls.py" 1 60 "$tmp/progress"
expect_code 0
[ "$(grep -c '^[0-2] end ftmpi 3 ' "$tmp/out")" = 3 ] || { fail "three ranks on ftmpi do not get to the end:"; tail -5 "$tmp/out"; }

# MPI_APPNUM tells the programs of a job apart (it was 0 everywhere).
appnum='from mpi4py import MPI; print(MPI.COMM_WORLD.Get_attr(MPI.APPNUM))'
run -q -n 1 $python -c "$appnum" : -n 1 $python -c "$appnum"
expect_code 0
[ "$(sort "$tmp/out" | tr '\n' ' ')" = '0 1 ' ] || { fail "MPI_APPNUM of two programs:"; cat "$tmp/out"; }

# Objects are reduced (it was an exception about MPI_Comm_dup); who wants mpi4py's other way gets that.
run -n 3 $python -c 'from mpi4py import MPI; print(MPI.COMM_WORLD.allreduce([MPI.COMM_WORLD.rank]))'
expect_code 0
expect_out '[0, 1, 2]' '[0, 1, 2]' '[0, 1, 2]'
expect_err_lines 0
MPI4PY_RC_FAST_REDUCE=yes run -n 1 sh -c 'echo "$MPI4PY_RC_FAST_REDUCE"'
expect_out yes

seconds=12
! quick || seconds=1
$python "$here/../../chaos/chaos.py" --ftrun "$ftrun" --ranks 3 --seeds 100 --kills 3 --least 3 --seconds $seconds --timeout 120 -- \
    $python "$here/calls.py" '{seed}' 120 '{dir}' || fail "killed"

# Communicators: made, used and freed as programs do.
cat >"$tmp/comms.py" <<'EOF'
from mpi4py import MPI
world = MPI.COMM_WORLD
half = world.Split(world.rank % 2, -world.rank)
twin = half.Dup()
print(world.rank, half.rank, twin.allreduce(world.rank), MPI.Group.Compare(half.group, twin.group) == MPI.IDENT,
      MPI.Comm.Compare(half, twin) == MPI.CONGRUENT, twin.allgather([world.rank]))
twin.Free()
half.Free()
EOF
run -n 3 $python "$tmp/comms.py"
expect_code 0
sort "$tmp/out" >"$tmp/sorted" && mv "$tmp/sorted" "$tmp/out"
expect_out '0 1 2 True True [[2], [0]]' '1 0 1 True True [[1]]' '2 0 2 True True [[2], [0]]'

cat >"$tmp/absent.py" <<'EOF'
import numpy
from mpi4py import MPI
for call in (lambda: MPI.COMM_WORLD.Create_cart([1]), lambda: MPI.COMM_WORLD.Spawn("true"), lambda: MPI.Win.Allocate(8)):
    try:
        call()
    except MPI.Exception as e:
        print(e.Get_error_class() == MPI.ERR_UNSUPPORTED_OPERATION)
EOF
run -n 1 $python "$tmp/absent.py"
expect_code 0
expect_out True True True

# An exception that nobody catches is the program's own end.
run -n 2 $python -c 'from mpi4py import MPI; MPI.COMM_WORLD.Ibarrier()'
expect_code 1
expect_err 'MPI_ERR_UNSUPPORTED_OPERATION: ftmpi has no MPI_Ibarrier yet'
finish
