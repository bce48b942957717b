#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# mpi4py's own tests of what ftmpi has: all of them pass, alone and with others. The whole table is docs/mpi4py.md (own.py).
. "$(dirname "$0")/../../lib/test.sh"
unset LD_LIBRARY_PATH MPI4PY_LIBMPI MPI4PY_MPIABI PYTHONPATH
needs /usr/bin/python3 python3-mpi4py
/usr/bin/python3 -c 'import mpi4py, sys; sys.exit(mpi4py.__version__ != "3.1.4")' || { echo "this is not the mpi4py whose tests are known"; exit 77; }
ranks=1,2,4
if quick; then ranks=3; fi
modules='test_p2p_buf test_p2p_buf_matched test_p2p_obj test_p2p_obj_matched test_request test_status test_grequest test_group test_info test_op test_pickle
    test_threads test_address test_attributes test_comm test_comm_inter test_ctypes test_dl test_doc test_environ test_errorcode test_exceptions test_fortran
    test_memory test_mpimem test_objmodel test_rc'
# These compute for half a minute.
quick || modules="$modules test_pack test_util_dtlib test_util_pkl5"
# shellcheck disable=SC2086 # words
bounded 900 /usr/bin/python3 "$here/own.py" --tests fetch --ftrun "$ftrun" --ranks $ranks --all-pass $modules >"$tmp/table"
code=$?
[ $code != 77 ] || { cat "$tmp/table"; exit 77; }
[ $code = 0 ] || { cat "$tmp/table"; fail "mpi4py's own tests: exit code $code"; }
finish
