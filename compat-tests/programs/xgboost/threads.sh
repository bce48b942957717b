#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Debian's XGBoost with as many threads as one likes: ranks that are killed come back from newer snapshots, and the models are those of a run
# without snapshots. FT_RUNS: so many seeds. FT_SEED: the first one.
. "$(dirname "$0")/../../lib/test.sh"
records || skip "nothing is recorded in this build"
python=/usr/bin/python3
$python -c 'import sys, xgboost; sys.exit(not xgboost.__version__.startswith("1.7."))' 2>/dev/null ||
    skip "XGBoost 1.7 is missing: apt-get install python3-xgboost"
seeded
runs=2
if quick; then runs=1; fi
set -- --mode hist --ranks 3 --threads 4 --runs "${FT_RUNS:-$runs}" --newer 0.5
if full; then set -- --runs "${FT_RUNS:-60}" --newer 0.5; fi
bounded 3000 $python "$here/threads.py" --ftrun "$ftrun" --seed "$seed" "$@" 2>"$tmp/err" || fail "see above"
finish
