#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs with pools of threads as people have them: OpenMP over MPI with gcc's and with clang's runtime, NumPy and SciPy over OpenBLAS, scikit-learn with
# OpenMP and joblib's threads, Python's own threads. Killed by seed they print what they print without ftrun, and come back from newer snapshots.
# FT_RUNS: so many seeds of each. FT_SEED: the first one. More by hand: pools.py --help.
. "$(dirname "$0")/../lib/test.sh"
records || skip "nothing is recorded in this build"
# build NAME COMPILER: omp.c. Without that compiler, or its OpenMP, it is left out.
build() {
    command -v "$2" >/dev/null || return 0
    FTMPI_CC=$2 "$top_builddir/ftmpicc" -O2 -fopenmp "$here/omp.c" -o "$tmp/$1" -lm 2>"$tmp/err" || { grep -q 'omp' "$tmp/err" || fail "omp.c by $2"; }
}
build omp gcc
build omp_clang clang
seeded
runs=1
full && runs=20
# A pool of each maker.
if quick; then set -- --only blas-mpi,libgomp,libomp; fi
bounded 1500 /usr/bin/python3 "$here/pools.py" --ftrun "$ftrun" --programs "$tmp" --seed "$seed" --runs "${FT_RUNS:-$runs}" --newer 0.3 "$@" 2>"$tmp/err" || fail "see above"
finish
