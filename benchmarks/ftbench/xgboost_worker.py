#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""One rank of the training that benchmarks/xgboost times, for Debian's python3-xgboost: under ftrun --rabit, or (DMLC_* in the
environment) with XGBoost's own Rabit engine and tracker. --launch N starts the tracker and N of these itself. Rows are the same for
any number of ranks. Rank 0 prints a line of JSON: seconds of the training alone, SHA-256 of the model."""
import argparse
import hashlib
import json
import os
import subprocess
import sys
import time

CHUNK = 500     # rows; each has a seed of its own


def rows(np, first, last, columns):
    chunks = []
    for chunk in range(first // CHUNK, (last + CHUNK - 1) // CHUNK):
        values = np.random.RandomState(chunk).rand(CHUNK, columns).astype(np.float32)
        begin = chunk * CHUNK
        chunks.append(values[max(first - begin, 0):min(last - begin, CHUNK)])
    return np.concatenate(chunks)


def train(args):
    import numpy as np
    import xgboost
    from xgboost import collective

    tracker = {k: os.environ[k] for k in ('DMLC_TRACKER_URI', 'DMLC_TRACKER_PORT', 'DMLC_TASK_ID') if k in os.environ}
    with collective.CommunicatorContext(**tracker):
        rank, size = collective.get_rank(), collective.get_world_size()
        if size != args.ranks:
            sys.exit('worker: %d ranks, not %d' % (size, args.ranks))
        x = rows(np, args.rows * rank // size, args.rows * (rank + 1) // size, args.columns)
        y = (x[:, 0] * 4 + x[:, 1] * x[:, 2] * 8).astype(np.int32) % args.classes
        data = xgboost.DMatrix(x, y, nthread=1)
        begin = time.monotonic()
        model = xgboost.train({'objective': 'multi:softprob', 'num_class': args.classes, 'tree_method': 'hist', 'max_bin': 64,
                               'max_depth': args.depth, 'eta': 0.3, 'nthread': 1, 'seed': 1}, data, num_boost_round=args.rounds)
        seconds = time.monotonic() - begin
        if rank == 0:
            print(json.dumps({'train': seconds, 'model': hashlib.sha256(model.save_raw()).hexdigest()}), flush=True)


def launch(args):
    """Prints one more line: the seconds from the workers' start to their end."""
    from xgboost.tracker import RabitTracker

    tracker = RabitTracker(host_ip='127.0.0.1', n_workers=args.ranks, sortby='task')
    tracker.start(args.ranks)
    begin = time.monotonic()
    mine = [a for a in sys.argv[1:] if a != '--launch']
    workers = [subprocess.Popen([sys.executable, os.path.abspath(__file__)] + mine,
                                env=dict(os.environ, DMLC_TASK_ID=str(i), **{k: str(v) for k, v in tracker.worker_envs().items()}))
               for i in range(args.ranks)]
    codes = [w.wait() for w in workers]
    print(json.dumps({'wall': time.monotonic() - begin}))
    return max(codes, key=abs)


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument('--launch', action='store_true')
    for name, default in (('ranks', 2), ('rows', 1000), ('columns', 20), ('classes', 3), ('rounds', 3), ('depth', 6)):
        p.add_argument('--' + name, type=int, default=default)
    args = p.parse_args()
    return launch(args) if args.launch else train(args)


if __name__ == '__main__':
    sys.exit(main())
