#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2015 # fail() does not return
# Promises of `ftrun --rabit` to unmodified XGBoost, on a small training. Run by `make check` in the build directory,
# or by hand there with srcdir set.
set -eu
here=${srcdir:-..}/compat-tests/programs/xgboost
ftrun=$(pwd)/ftrun
python=/usr/bin/python3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

$python -c 'import sys, xgboost; sys.exit(not xgboost.__version__.startswith("1.7."))' 2>/dev/null ||
  { echo "SKIP: XGBoost 1.7 is missing: apt-get install python3-xgboost" && exit 77; }
[ -e /usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz ] ||
  { echo "SKIP: the data is missing: apt-get install dataset-fashion-mnist" && exit 77; }

fail() {
  echo "FAIL: $1"
  [ ! -e "$work/out" ] || sed 's/^/    /' "$work/out"
  exit 1
}
# run SECONDS COMMAND...: what it prints goes to $work/out and its exit code to $code
run() {
  code=0
  timeout "$@" >"$work/out" 2>&1 || code=$?
}
# Many rounds behind the last kill: one may be shorter than a look of drive.py's at all processes. FT_TIER=full: larger trees.
small="--rows 1000 --rounds 8 --depth 3" limit=64M
[ "${FT_TIER-}" != full ] || small="--rows 2000 --rounds 8 --depth 4" limit=128M

echo "the engine's table has libxgboost's order"
library=$($python -c 'import os, xgboost.core as c; print(os.path.realpath(c._LIB._name))')
readelf -rW "$library" | c++filt | grep -o 'R_X86_64_64 .*AllreduceBase::[A-Za-z]*' | sed 's/.*:://' | head -n 12 >"$work/theirs"
sed -n '/^class IEngine/,/^};/s/.*virtual .* \([A-Za-z]*\)(.*/\1/p' "$here/../../../mpi_shim/rabit/engine.cc" >"$work/ours"
cmp "$work/theirs" "$work/ours" || fail "the order differs: $(paste "$work/theirs" "$work/ours")"

echo "every entry of it works from inside libxgboost"
run 120 "$ftrun" --rabit -n 3 $python "$here/calls.py" 3
[ $code = 0 ] && [ "$(grep -c ': ok$' "$work/out")" = 3 ] || fail "calls.py, code $code"

echo "an operation is known by the place in libxgboost that wants it, not by the one that hands it on"
cat >"$work/places.py" <<'END'
import numpy as np
import xgboost
from xgboost import collective
with collective.CommunicatorContext():
    if collective.get_rank() == 0:
        xgboost.DMatrix(np.ones((2, 2)))
    else:
        collective.allreduce(np.ones(2, np.uint64), collective.Op.MAX)
END
run 120 "$ftrun" --rabit -n 2 $python "$work/places.py"
[ $code != 0 ] && [ "$(grep -o 'at libxgboost.so+0x[0-9a-f]*' "$work/out" | sort -u | wc -l)" = 2 ] || fail "not two places, code $code"

echo "two ranks are killed, rank 0 one of them: same model, same output"
# shellcheck disable=SC2086
run 300 $python "$here/drive.py" --quiet --ftrun-arg=--snapshot --ftrun-arg=0.5 --ftrun "$ftrun" -n 4 --kill 0@r1 --kill 2@r2 \
  --keep "$work/kept" -- $small
[ $code = 0 ] || fail "killed and restarted, code $code"
[ "$(grep -c '<use href="#k" .*<title>' "$work/kept.svg")" = 2 ] || fail "not two deaths in the picture of it"

if [ "${FT_TIER-normal}" = quick ]; then exit 0; fi

echo "the same from the beginning, with most of the log on disk"
# shellcheck disable=SC2086
run 300 $python "$here/drive.py" --quiet --ftrun-arg=--snapshot --ftrun-arg=off --ftrun-arg=--log-limit --ftrun-arg=$limit --ftrun-arg=--log-spill \
  --ftrun-arg="$work" --ftrun "$ftrun" -n 4 --kill 1@r2 --kill 3@r3 -- $small
[ $code = 0 ] && grep -q 'on disk)' "$work/out" || fail "killed with a spilled log, code $code"

echo "without restarts the same job fails"
# shellcheck disable=SC2086
run 300 $python "$here/drive.py" --quiet --no-respawn --ftrun "$ftrun" -n 4 --kill 2@r2 -- $small
[ $code = 1 ] && grep -q '^FAILED: 1 kill: ftrun ended with code' "$work/out" && ! grep -q '^FAILED: undisturbed' "$work/out" ||
  fail "killed and not restarted, code $code"

echo "a rank's own exit code ends the job"
cat >"$work/leaves.py" <<'END'
import sys
import numpy as np
from xgboost import collective
with collective.CommunicatorContext():
    if collective.get_rank() == 1:
        sys.exit(3)
    collective.allreduce(np.ones(1), collective.Op.SUM)
END
run 120 "$ftrun" --rabit -n 3 $python "$work/leaves.py"
[ $code = 3 ] || fail "rank 1 exits with 3, ftrun with $code"

echo "a job that never uses the engine is told so"
run 120 "$ftrun" --rabit -n 2 $python -c 'import xgboost'
[ $code != 0 ] && [ $code != 124 ] && grep -qi 'engine' "$work/out" || fail "nobody used the engine, code $code"

echo "an LD_PRELOAD of the user's is kept; a program may forget to finalize"
other=$(ldconfig -p | sed -n 's/.*libjansson\.so.* => //p' | head -n 1)
[ -n "$other" ] || fail "libjansson is not there to be preloaded"
cat >"$work/preload.py" <<'END'
import sys
from xgboost import collective
collective.init()
with open("/proc/self/maps") as maps:
    text = maps.read()
print(collective.get_world_size(), sys.argv[1].rsplit("/", 1)[1] in text, "libftmpi_rabit" in text)
END
run 120 env LD_PRELOAD="$other" "$ftrun" --rabit -n 2 $python "$work/preload.py" "$other"
[ $code = 0 ] && [ "$(grep -cx '2 True True' "$work/out")" = 2 ] || fail "LD_PRELOAD of $other, code $code"
