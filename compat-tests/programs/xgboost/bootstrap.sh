#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ftmpi_xgboost, alone and under ftrun: 10 ranks of stock XGBoost, of which 0, 4 and 9 die together, then 1 when they are back.
set -u
. "$(dirname "$0")/../../lib/test.sh"
python=/usr/bin/python3
$python -c 'import sys, xgboost; sys.exit(not xgboost.__version__.startswith("1.7."))' 2>/dev/null ||
  skip "XGBoost 1.7 is missing: apt-get install python3-xgboost"

echo "-- trainings that break off, over a store in Python"
bounded 200 $python -W ignore "$here/resume.py" || fail "resume.py: exit code $?"
echo "-- without ftrun it is plain training"
alone=$(PYTHONPATH=$top_srcdir/mpi_shim/rabit PYTHONDONTWRITEBYTECODE=1 timeout 200 $python - <<'END'
import ftmpi_xgboost, numpy, xgboost
with ftmpi_xgboost.communicator():
    data = xgboost.DMatrix(numpy.arange(20.0).reshape(10, 2), numpy.arange(10) % 2)
    params = {"subsample": 0.5, "nthread": 1}
    print(ftmpi_xgboost.train(params, data, 2).save_raw() == xgboost.train(params, data, 2).save_raw(), ftmpi_xgboost.load().rounds)
END
)
[ "$alone" = "True 0" ] || fail "alone: $alone"

echo "-- what a rank is told"
# refused WHAT-IS-SAID FTRUN-OPTION... -c PROGRAM
refused() {
  said=$1
  shift
  bounded 120 "$ftrun" -n 2 --quiet "$@" >"$tmp/out" 2>&1 && fail "not refused: $said"
  grep -q "^ftmpi_xgboost.Error: ftmpi_xgboost: .*$said" "$tmp/out" || { fail "not said: $said"; cat "$tmp/out"; }
}
refused 'ftmpi_xgboost.communicator.*' --rabit $python -c 'import ftmpi_xgboost; ftmpi_xgboost.load()'
refused 'import ftmpi_xgboost before' --rabit $python -c 'from xgboost import collective
collective.init()
import ftmpi_xgboost
ftmpi_xgboost.load()'

echo "-- a rank that goes on from a checkpoint without the cache: told which calls do not match, nothing is trained wrongly"
bounded 120 "$ftrun" -n 3 --quiet --rabit --snapshot off $python "$here/checkpointed.py" --no-cache --rounds 5 --every 2 --die 1@3 \
  --marks "$tmp" >"$tmp/out" 2>&1 && fail "it went on"
grep -q 'rank 1 was restarted and, at unit .*but its log has .*libxgboost' "$tmp/out" || { fail "not told"; cat "$tmp/out"; }

echo "-- ten ranks"
# The other runs of bootstrap.py: FT_TIER=full.
set -- checkpoints "no tree method" "everything lost" snapshots
if quick; then set -- "no tree method"; fi
if full; then set --; fi
$python "$here/bootstrap.py" --ftrun "$ftrun" "$@" || fail "bootstrap.py: exit code $?"
finish
