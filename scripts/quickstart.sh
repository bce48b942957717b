#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# From a fresh Debian 12 to the main job: installs what is missing, builds in build/, then trains XGBoost on 4 ranks
# twice, undisturbed and with four of them killed on the way, and compares the models. Needs root or sudo for
# apt-get only when a package is missing.
#   --build        no more than that: what README.md's first programs need
#   --no-respawn   less to train, and ftrun may not restart anything: the second run, and this script, must fail
set -eu
cd "$(dirname "$0")/.."
. scripts/packages.sh
. scripts/build.sh

only_build=""
respawn=""
rounds=12 rows=60000
case "${1-}" in
  "") ;;
  --build) only_build=yes ;;
  --no-respawn)
    respawn=--no-respawn
    rounds=6 rows=10000
    ;;
  *)
    echo "usage: $0 [--build | --no-respawn]" >&2
    exit 2
    ;;
esac

echo "1/3 packages"
# shellcheck disable=SC2154,SC2086
if [ -n "$only_build" ]; then need $packages_build; else need $packages_build $packages_train; fi
echo "2/3 building in build/: a minute or two (build.log says what is done)"
build_in build
if [ -n "$only_build" ]; then
  echo "built: build/ftmpicc compiles, build/ftrun -n 4 runs"
  exit 0
fi
echo "3/3 XGBoost, $rows rows, 10 classes, $rounds rounds: a minute or two"
# At 20, 40, 60 and 80 percent of the way: by rounds, since the machine may be faster in the second run than in the first. Two of the
# kills hit the same rank; rank 0 is the one that many systems cannot lose.
exec /usr/bin/python3 compat-tests/programs/xgboost/drive.py --ftrun build/ftrun -n 4 \
  --kill 2@r$((rounds / 5)) --kill 0@r$((rounds * 2 / 5)) --kill 2@r$((rounds * 3 / 5)) --kill 3@r$((rounds * 4 / 5)) --max-memory 12 --max-log 1 --keep build/quickstart $respawn -- --rounds $rounds --rows $rows
