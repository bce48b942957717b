#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Promises of `ftrun --rabit` to unmodified XGBoost, on a small training.
set -u
. "$(dirname "$0")/../../lib/test.sh"
python=/usr/bin/python3

$python -c 'import sys, xgboost; sys.exit(not xgboost.__version__.startswith("1.7."))' 2>/dev/null ||
  skip "XGBoost 1.7 is missing: apt-get install python3-xgboost"
[ -e /usr/share/datasets/fashion-mnist/train-images-idx3-ubyte.gz ] ||
  skip "the data is missing: apt-get install dataset-fashion-mnist"

# The end, with what was printed last.
wrong() {
  fail "$1"
  sed 's/^/    /' "$tmp/out"
  finish
}
# both SECONDS COMMAND...: what it prints goes to $tmp/out, errors as well, and its exit code to $code
both() {
  bounded "$@" >"$tmp/out" 2>&1
  code=$?
}
# Many rounds behind the last kill: one may be shorter than a look of drive.py's at all processes. FT_TIER=full: larger trees.
small="--rows 1000 --rounds 8 --depth 3" limit=64M
! full || small="--rows 2000 --rounds 8 --depth 4" limit=128M

echo "the engine's table has libxgboost's order"
library=$($python -c 'import os, xgboost.core as c; print(os.path.realpath(c._LIB._name))')
readelf -rW "$library" | c++filt | grep -o 'R_X86_64_64 .*AllreduceBase::[A-Za-z]*' | sed 's/.*:://' | head -n 12 >"$tmp/theirs"
sed -n '/^class IEngine/,/^};/s/.*virtual .* \([A-Za-z]*\)(.*/\1/p' "$top_srcdir/mpi_shim/rabit/engine.cc" >"$tmp/ours"
cmp "$tmp/theirs" "$tmp/ours" || wrong "the order differs: $(paste "$tmp/theirs" "$tmp/ours")"

echo "every entry of it works from inside libxgboost"
both 120 "$ftrun" --rabit -n 3 $python "$here/calls.py" 3
[ $code = 0 ] && [ "$(grep -c ': ok$' "$tmp/out")" = 3 ] || wrong "calls.py, code $code"

echo "an operation is known by the place in libxgboost that wants it, not by the one that hands it on"
cat >"$tmp/places.py" <<'END'
import numpy as np
import xgboost
from xgboost import collective
with collective.CommunicatorContext():
    if collective.get_rank() == 0:
        xgboost.DMatrix(np.ones((2, 2)))
    else:
        collective.allreduce(np.ones(2, np.uint64), collective.Op.MAX)
END
both 120 "$ftrun" --rabit -n 2 $python "$tmp/places.py"
[ $code != 0 ] && [ "$(grep -o 'at libxgboost[.]so[.0-9]*+0x[0-9a-f]*' "$tmp/out" | sort -u | wc -l)" = 2 ] || wrong "not two places, code $code"

echo "two ranks are killed, rank 0 one of them: same model, same output"
both 300 $python "$here/drive.py" --quiet --ftrun-arg=--snapshot --ftrun-arg=0.5 --ftrun "$ftrun" -n 4 --kill 0@r1 --kill 2@r2 \
  --keep "$tmp/kept" -- $small
[ $code = 0 ] || wrong "killed and restarted, code $code"
[ "$(grep -c '<use href="#k" .*<title>' "$tmp/kept.svg")" = 2 ] || wrong "not two deaths in the picture of it"

if quick; then finish; fi

echo "the same from the beginning, with most of the log on disk"
both 300 $python "$here/drive.py" --quiet --ftrun-arg=--snapshot --ftrun-arg=off --ftrun-arg=--log-limit --ftrun-arg=$limit --ftrun-arg=--log-spill \
  --ftrun-arg="$tmp" --ftrun "$ftrun" -n 4 --kill 1@r2 --kill 3@r3 -- $small
[ $code = 0 ] && grep -q 'on disk)' "$tmp/out" || wrong "killed with a spilled log, code $code"

echo "without restarts the same job fails"
both 300 $python "$here/drive.py" --quiet --no-respawn --ftrun "$ftrun" -n 4 --kill 2@r2 -- $small
[ $code = 1 ] && grep -q '^FAILED: 1 kill: ftrun ended with code' "$tmp/out" && ! grep -q '^FAILED: undisturbed' "$tmp/out" ||
  wrong "killed and not restarted, code $code"

echo "a rank's own exit code ends the job"
cat >"$tmp/leaves.py" <<'END'
import sys
import numpy as np
from xgboost import collective
with collective.CommunicatorContext():
    if collective.get_rank() == 1:
        sys.exit(3)
    collective.allreduce(np.ones(1), collective.Op.SUM)
END
both 120 "$ftrun" --rabit -n 3 $python "$tmp/leaves.py"
[ $code = 3 ] || wrong "rank 1 exits with 3, ftrun with $code"

echo "a job that never uses the engine is told so"
both 120 "$ftrun" --rabit -n 2 $python -c 'import xgboost'
[ $code != 0 ] && [ $code != 124 ] && grep -qi 'engine' "$tmp/out" || wrong "nobody used the engine, code $code"

echo "an LD_PRELOAD of the user's is kept; a program may forget to finalize"
other=$(ldconfig -p | sed -n 's/.*libjansson\.so.* => //p' | head -n 1)
[ -n "$other" ] || wrong "libjansson is not there to be preloaded"
cat >"$tmp/preload.py" <<'END'
import sys
from xgboost import collective
collective.init()
with open("/proc/self/maps") as maps:
    text = maps.read()
print(collective.get_world_size(), sys.argv[1].rsplit("/", 1)[1] in text, "libftmpi_rabit" in text)
END
both 120 env LD_PRELOAD="$other" "$ftrun" --rabit -n 2 $python "$tmp/preload.py" "$other"
[ $code = 0 ] && [ "$(grep -cx '2 True True' "$tmp/out")" = 2 ] || wrong "LD_PRELOAD of $other, code $code"
finish
