#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A stock wheel of XGBoost 3 as ranks: the model of a run without ftrun, whatever is killed: any worker, several, rank 0 with the tracker, in start-up, in
# a replay, in the last round, at the end. Each comes back from a copy, most of them from one newer than their start: it is made again and again.
# All counts: FT_TIER=full, or kills.py --full by hand.
. "$(dirname "$0")/../lib/test.sh"
records || skip "nothing is recorded in this build"
python=/usr/bin/python3
$python -c 'import numpy, scipy' 2>/dev/null || skip "numpy or scipy is missing: apt-get install python3-scipy"

# wheel VERSION: its directory, fetched once into the build tree.
wheel() {
    bounded 600 $python "$here/../lib/wheel.py" "$top_builddir/compat-tests/wheels" "xgboost==$1"
}
wheels=3.2.0
if full; then wheels="2.1.4 3.2.0 3.4.1"; fi
set -- --mode hist,dart --threads 1,2,4 --runs 4
if quick; then set -- --runs 2; fi
if full; then set -- --full; fi
set -- "$@" --newer 0.5 --option=--snapshot --option=0.1
for version in $wheels; do
    unpacked=$(wheel "$version")
    case $? in
    0) ;;
    77) skip "PyPI cannot be reached" ;;
    *) fail "no wheel of XGBoost $version" && continue ;;
    esac
    what="XGBoost $version"
    bounded 3000 $python "$here/kills.py" --ftrun "$ftrun" --wheel "$unpacked" "$@" 2>"$tmp/err" || { fail "$what: see above" && tail -n 20 "$tmp/err"; }
done
finish
