#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# LightGBM's stock wheel, whose ranks are killed: over its own sockets (`machines`), and over MPI by ftmpi_lightgbm. Models and output are
# those of the plain run; each rank comes back from a copy. The wheel is fetched into the build tree.
. "$(dirname "$0")/../../lib/test.sh"
python=/usr/bin/python3
$python -c 'import numpy, scipy' 2>/dev/null || skip "python3-numpy or python3-scipy is missing"
[ "$($python -c 'import sys; print(sys.version_info >= (3, 9))')" = True ] || skip "this Python is too old for the wheel"
site=$($python "$here/../../lib/wheel.py" "$top_builddir/compat-tests/wheels" lightgbm==4.7.0 narwhals==2.29.0 2>"$tmp/err") || skip "$(tail -n 1 "$tmp/err")"
module=$top_builddir/.libs/ftmpi/python
[ -e "$module/ftmpi_lightgbm.py" ] || fail "ftmpi_lightgbm is not in the build tree"
runs=3
if quick; then runs=1; fi
full && runs=40

# by FORM OPTION...: so many seeds, and the last line says what came of them.
by() {
    what="LightGBM by $*"
    bounded 400 $python "$here/drive.py" "$ftrun" "$site:$module" --form "$@" --runs $runs >"$tmp/drive" 2>&1 || { fail "$what"; cat "$tmp/drive"; }
    tail -n 1 "$tmp/drive"
    grep -q ' [1-9][0-9]* kills: .* 0 wrong$' "$tmp/drive" || fail "$what: nobody was killed"
}
by sockets --rounds 12 --seed 1
by mpi --ranks 2 --rounds 12 --seed 3105 # 3105: killed before MPI_Init, and after it
if full; then
    by sockets --threads 2 --ranks 3 --seed 100
    by sockets --ranks 2 --threads 4 --seed 200
    by sockets --params '{"tree_learner": "voting"}' --seed 400
    by sockets --params '{"bagging_fraction": 0.7, "bagging_freq": 2, "feature_fraction": 0.8}' --seed 500
    by sockets --params '{"boosting": "dart"}' --seed 600
    by sockets --rows 20000 --columns 60 --params '{"max_bin": 255, "num_leaves": 63}' --seed 700
    by mpi --threads 2 --seed 800
    by mpi --params '{"tree_learner": "voting"}' --seed 900
fi

# The examples.
export PYTHONPATH="$site:$module" PYTHONDONTWRITEBYTECODE=1
for example in lightgbm_mpi lightgbm_sockets; do
    run -n 3 $python "$top_srcdir/examples/$example.py"
    expect_code 0
    grep -qx 'a model of 20 trees' "$tmp/out" || fail "$example.py prints something else"
done

# What is wrong is told: a libmpi that is not ours; a thread that is not the main one. As one rank, and without ftrun, it is LightGBM alone.
alone='import ftmpi_lightgbm
with ftmpi_lightgbm.network() as network: print(network)'
call $python -c "$alone"
expect_code 0
expect_out '{}'
run -n 1 $python -c "$alone"
expect_code 0
expect_out '{}'
call env FTMPI_RANK=0 FTMPI_SIZE=2 LD_LIBRARY_PATH= $python -c "$alone"
expect_code 1
expect_err '^ftmpi_lightgbm.Error: ftmpi_lightgbm: libmpi.so.40, which this process finds, is not ftmpi'
run -n 2 $python -c 'import ftmpi_lightgbm, threading
def train():
    try: ftmpi_lightgbm.init()
    except ftmpi_lightgbm.Error as e: print(e)
t = threading.Thread(target=train); t.start(); t.join()'
expect_code 0
told="ftmpi_lightgbm: the network is of the thread that trains, and ftmpi's calls are the main thread's: train there"
[ "$(sort -u "$tmp/out")" = "$told" ] || fail "$(cat "$tmp/out")"
finish
