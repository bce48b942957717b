#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# --rabit, or the communicator, was forgotten, so that each rank trains alone: told in one line when training begins. (It was told at the
# end, or not at all.) And what has ranks that train together, or needs none, is told nothing. ftmpi_xgboost without ftrun.
. "$(dirname "$0")/../../lib/test.sh"
python=/usr/bin/python3
$python -c 'import sys, xgboost; sys.exit(not xgboost.__version__.startswith("1.7."))' 2>/dev/null ||
    skip "XGBoost 1.7 is missing: apt-get install python3-xgboost"
unset MAKEFLAGS MAKELEVEL

cat >"$tmp/train.py" <<'END'
import contextlib, os, sys
import numpy, xgboost
from xgboost import collective
values = numpy.arange(200.0).reshape(100, 2)
labels = numpy.arange(100) % 2
together = "alone" not in sys.argv
def train(labels=labels):
    data = xgboost.DMatrix(values, labels, nthread=1)
    return xgboost.train({"nthread": 1, "tree_method": "hist"}, data, 2).predict(data)
with collective.CommunicatorContext() if together else contextlib.nullcontext():
    train()
if "again" in sys.argv:
    train()
if "wrong" in sys.argv:
    try:
        train(labels[:10])
    except xgboost.core.XGBoostError:
        print("refused")
END
alone='^ftmpi: rank 0 on .* trains with XGBoost'

run -n 3 $python "$tmp/train.py" alone again wrong
expect_code 0
expect_out refused refused refused # what XGBoost throws passes through
expect_err_lines 1
expect_err "$alone in a job without --rabit: each of 3 ranks trains a model of its own; start it with ftrun --rabit\$"

run --rabit -n 2 $python "$tmp/train.py" alone
expect_code 1
expect_err "$alone outside of a communicator: each of 2 ranks trains a model of its own; put the training into .with xgboost"
[ "$(grep -c "$alone" "$tmp/err")" = 1 ] || fail "not told once"

run -n 2 $python "$tmp/train.py"
expect_code 1
expect_err '^ftmpi: rank [01] on .* asks XGBoost for a communicator in a job without --rabit: there is none; start it with ftrun --rabit$'

# Nothing to tell: together, and after that once more alone; one rank; no training.
run --rabit -n 2 $python "$tmp/train.py" again
expect_code 0
expect_err_lines 0
run -n 1 $python "$tmp/train.py" alone
expect_code 0
expect_err_lines 0
run -n 2 $python -c 'import numpy, xgboost; xgboost.DMatrix(numpy.ones((3, 2)))'
expect_code 0
expect_err_lines 0

# The module, where Python finds it without ftrun.
make -C "$top_builddir" install-python-site DESTDIR="$tmp/root" prefix=/usr/local >"$tmp/log" 2>&1 ||
    { fail "make install" && cat "$tmp/log"; }
link=$(find "$tmp/root" -name ftmpi_xgboost.py -type l)
site=${link%/*}
$python -c 'import site, sys; sys.exit(not any(d.startswith("/usr/local/lib") for d in site.getsitepackages()))' && [ -z "$link" ] &&
    fail "no link where Python looks for modules"
if [ -n "$link" ]; then
    cat >"$tmp/module.py" <<'END'
import ftmpi_xgboost, numpy, xgboost
with ftmpi_xgboost.communicator():
    data = xgboost.DMatrix(numpy.arange(20.0).reshape(10, 2), numpy.arange(10) % 2)
    print(ftmpi_xgboost.train({"nthread": 1}, data, 2).num_boosted_rounds(), xgboost.collective.get_world_size())
END
    export PYTHONPATH="$site" PYTHONDONTWRITEBYTECODE=1
    call $python "$tmp/module.py"
    expect_code 0
    expect_out '2 1'
    run -n 1 $python "$tmp/module.py"
    expect_code 0
    expect_out '2 1'
    expect_err_lines 0
    run --rabit -n 2 $python "$tmp/module.py" # no tree_method, no --bootstrap-cache
    expect_code 0
    expect_out '2 2' '2 2'
    run -n 2 $python "$tmp/module.py"
    expect_code 1
    expect_err '^ftmpi_xgboost.Error: ftmpi_xgboost: this job was started without --rabit'
    make -C "$top_builddir" uninstall-python-site DESTDIR="$tmp/root" prefix=/usr/local >/dev/null 2>&1
    [ ! -e "$site/ftmpi_xgboost.py" ] || fail "it is not uninstalled"
fi
finish
