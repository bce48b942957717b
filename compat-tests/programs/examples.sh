#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The programs of examples/: what pages show of them is what they are, and each does what it says, with the commands of ftmpi(7).
# (Pages showed programs that nobody had run, and no whole ones. readme.sh runs sum.c.)
set -u
. "$(dirname "$0")/../lib/test.sh"
python=/usr/bin/python3
examples=$top_srcdir/examples
bounded 60 $python "$here/shown.py" "$top_srcdir" || fail "what is shown is not what is there"
# The test of that: another word is noticed.
mkdir "$tmp/top" && cp -r "$examples" "$top_srcdir/README.md" "$top_srcdir/docs" "$tmp/top" && chmod -R u+w "$tmp/top"
sed -i 's/model \/= 4.1/model \/= 4.2/' "$tmp/top/docs/ftmpi.7"
bounded 60 $python "$here/shown.py" "$tmp/top" | grep -q 'docs/ftmpi.7 shows a program' || fail "a difference is not noticed"
cd "$tmp" || exit 99

"$top_builddir/ftmpicc" -Wall -Wextra -Werror "$examples/sum.c" -o sum || fail "sum.c"
"$top_builddir/ftmpicc" -Wall -Wextra -Werror "$examples/rounds.c" -o rounds || fail "rounds.c"
run -n 4 --ckpt-dir rounds.ckpt ./rounds
expect_code 0
grep -qx '1\.[0-9]*e-11' out || fail "rounds prints something else"
cp out first
run -n 4 --ckpt-dir rounds.ckpt --resume ./rounds
expect_code 0
cmp -s out first || fail "resumed, rounds prints something else"

if command -v mpifort.openmpi >/dev/null; then
    mpifort.openmpi "$examples/pi.f90" -o pi || fail "pi.f90"
    run -n 4 ./pi
    expect_code 0
    expect_out 'pi is about 3.1415926536'
    expect_err_lines 0
fi
if $python -c 'import mpi4py' 2>/dev/null; then
    run -n 3 $python "$examples/hello.py"
    expect_code 0
    expect_out 'hello from 3 ranks on 1 host(s)'
    expect_err_lines 0
fi
if $python -c 'import sys, xgboost; sys.exit(not xgboost.__version__.startswith("1.7."))' 2>/dev/null; then
    run -n 2 --rabit $python "$examples/train.py"
    expect_code 0
    expect_err_lines 0
    grep -qx 'a model of 2 ranks: 20 rounds' out || fail "train.py prints something else"
    run -n 2 --rabit $python "$examples/checkpoints.py"
    expect_code 0
    expect_err_lines 0
    grep -q '^\[19\].train-logloss:0' out || fail "checkpoints.py prints something else"
fi
finish
