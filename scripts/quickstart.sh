#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# From a fresh Debian 12 to the main job: installs what is missing, builds in build/, then trains XGBoost, the newest wheel from PyPI, on 4 ranks
# twice, undisturbed and with four of them killed on the way, and compares the models. The workers have the threads that XGBoost takes by itself, and
# each killed one goes on from a snapshot of a moment before. Needs root or sudo for apt-get only when a package is missing.
#   --build        no more than that: what README.md's first programs need
#   --no-respawn   less to train, and ftrun may not restart anything: the second run, and this script, must fail
set -eu
cd "$(dirname "$0")/.."
. scripts/packages.sh
. scripts/build.sh

only_build=""
respawn=""
rounds=100 rows=20000
case "${1-}" in
  "") ;;
  --build) only_build=yes ;;
  --no-respawn)
    respawn="--option=--max-restarts --option=0"
    rounds=6 rows=5000
    ;;
  *)
    echo "usage: $0 [--build | --no-respawn]" >&2
    exit 2
    ;;
esac

echo "1/3 packages"
# shellcheck disable=SC2154,SC2086
if [ -n "$only_build" ]; then need $packages_build; else need $packages_build $packages_wheel; fi
echo "2/3 building in build/: a minute or two (build.log says what is done)"
build_in build
if [ -n "$only_build" ]; then
  echo "built: build/ftmpicc compiles, build/ftrun -n 4 runs"
  exit 0
fi
echo "3/3 XGBoost, $rows rows on each of 4 workers, $rounds rounds: a minute or less"
# The newest wheel that this Python takes. Without its dependencies: Debian's numpy and scipy will do, and a GPU is not used.
python=build/venv/bin/python
if [ ! -x $python ]; then
  rm -rf build/venv
  /usr/bin/python3 -m venv --system-site-packages build/venv
fi
if ! $python -m pip install --quiet --upgrade --no-deps xgboost >build/venv.log 2>&1; then
  tail -n 3 build/venv.log >&2
  echo "$0: no wheel of XGBoost from PyPI (above); Debian's XGBoost 1.7: compat-tests/programs/xgboost/drive.py" >&2
  exit 1
fi
$python -c 'import xgboost; print("XGBoost", xgboost.__version__, "from PyPI, in build/venv")'
# By rounds, since the machine may be faster in the second run than in the first. Two of the kills hit the same rank; rank 0, which has XGBoost's tracker,
# is the one that nothing else can lose.
# shellcheck disable=SC2086
exec /usr/bin/python3 compat-tests/xgboost3/quick.py --ftrun build/ftrun --python $python --rows $rows --rounds $rounds --keep build/quickstart \
  --kill 2@$((rounds / 5)) --kill 0@$((rounds * 2 / 5)) --kill 2@$((rounds * 3 / 5)) --kill 3@$((rounds * 4 / 5)) $respawn
