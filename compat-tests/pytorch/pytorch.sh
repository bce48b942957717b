#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# PyTorch in the place where torchrun would start it: DistributedDataParallel over gloo, messages, no MPI. By hand, undisturbed, and under kills of any
# rank at any time: the same losses and the same model. What ranks with worker processes of a DataLoader are not put back for is told.
. "$(dirname "$0")/../lib/test.sh"
/usr/bin/python3 -c 'import torch.distributed as d, sys; sys.exit(not d.is_gloo_available())' 2>/dev/null || skip "PyTorch is missing: apt-get install python3-torch"
OMP_NUM_THREADS=1
export OMP_NUM_THREADS
# FT_RUNS, FT_SEED: drive.py has them.
if quick; then FT_RUNS=${FT_RUNS:-2} && export FT_RUNS; fi
what="PyTorch under kills"
bounded $((120 + ${FT_RUNS:-5} * 120)) /usr/bin/python3 "$here/drive.py" "$ftrun" || fail "$what: see above"

bounded 120 "$ftrun" -n 2 -vv /usr/bin/python3 "$here/train.py" -e 1 -w 1 >"$tmp/out" 2>"$tmp/err"
code=$?
what="PyTorch with a DataLoader's workers"
[ $code = 0 ] || fail "$what: exit code $code"
[ "$(grep -c '^rank [01] model' "$tmp/out")" = 2 ] || fail "$what: $(cat "$tmp/out")"
grep -q '^ftrun: rank 0 cannot go on from a snapshot of before now: it has mapped a file, or memory that others may share' "$tmp/err" ||
    fail "$what: why it cannot be put back is not told"

bounded 120 "$ftrun" -n 2 --wdir "$tmp" /usr/bin/python3 "$top_srcdir/examples/ddp.py" >"$tmp/out" 2>"$tmp/err" || fail "examples/ddp.py: exit code $?"
grep -qx 'a model of 2 ranks' "$tmp/out" || fail "examples/ddp.py prints something else: $(cat "$tmp/out")"
finish
