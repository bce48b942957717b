#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ftmpi_xgboost, alone and under ftrun: 10 ranks of stock XGBoost, of which 0, 4 and 9 die together, then 1 when they are back.
set -eu
here=${srcdir:-..}/compat-tests/programs/xgboost
python=/usr/bin/python3
$python -c 'import sys, xgboost; sys.exit(not xgboost.__version__.startswith("1.7."))' 2>/dev/null ||
  { echo "SKIP: XGBoost 1.7 is missing: apt-get install python3-xgboost" && exit 77; }

echo "-- trainings that break off, over a store in Python"
timeout 200 $python -W ignore "$here/resume.py"
echo "-- without ftrun it is plain training"
module=$(cd "$here/../../../mpi_shim/rabit" && pwd)
alone=$(PYTHONPATH=$module PYTHONDONTWRITEBYTECODE=1 timeout 200 $python - <<'END'
import ftmpi_xgboost, numpy, xgboost
with ftmpi_xgboost.communicator():
    data = xgboost.DMatrix(numpy.arange(20.0).reshape(10, 2), numpy.arange(10) % 2)
    params = {"subsample": 0.5, "nthread": 1}
    print(ftmpi_xgboost.train(params, data, 2).save_raw() == xgboost.train(params, data, 2).save_raw(), ftmpi_xgboost.load().rounds)
END
)
[ "$alone" = "True 0" ] || { echo "FAIL: alone: $alone" && exit 1; }

echo "-- what a rank is told"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# told WHAT-IS-SAID FTRUN-OPTION... -c PROGRAM
told() {
  said=$1
  shift
  timeout 120 ./ftrun -n 2 --quiet "$@" >"$work/out" 2>&1 && { echo "FAIL: not refused: $said" && exit 1; }
  grep -q "^ftmpi_xgboost.Error: ftmpi_xgboost: .*$said" "$work/out" || { echo "FAIL: not said: $said" && cat "$work/out" && exit 1; }
}
told 'ftmpi_xgboost.communicator.*' --rabit $python -c 'import ftmpi_xgboost; ftmpi_xgboost.load()'
told 'ftrun --rabit --bootstrap-cache' --rabit $python -c 'import ftmpi_xgboost
with ftmpi_xgboost.communicator(): ftmpi_xgboost.load()'

echo "-- a rank that goes on from a checkpoint without the cache: told which calls do not match, nothing is trained wrongly"
timeout 120 ./ftrun -n 3 --quiet --rabit --snapshot off -x FTMPI_BOOTSTRAP_CACHE=1 $python "$here/checkpointed.py" --rounds 5 --every 2 --die 1@3 \
  --marks "$work" >"$work/out" 2>&1 && { echo "FAIL: it went on" && exit 1; }
grep -q 'rank 1 was restarted and, at unit .*but its log has .*libxgboost' "$work/out" || { echo "FAIL: not told" && cat "$work/out" && exit 1; }

echo "-- ten ranks"
# The other runs of bootstrap.py: FT_TIER=full.
case ${FT_TIER:-normal} in
quick) set -- checkpoints ;;
full) set -- ;;
*) set -- checkpoints "everything lost" snapshots ;;
esac
exec $python "$here/bootstrap.py" --ftrun "$(pwd)/ftrun" "$@"
