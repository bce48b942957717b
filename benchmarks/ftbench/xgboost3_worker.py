# SPDX-License-Identifier: BSD-3-Clause
"""A worker of benchmarks/xgboost3: XGBoost 2.1 or later over its own network, with its tracker in rank 0. xgboost3_worker.py train ROWS COLUMNS
ROUNDS THREADS, or allreduce. Rank 0 prints a line of JSON with what it took."""

import hashlib
import json
import os
import sys
import time

import numpy as np
import xgboost as xgb
from xgboost import collective
from xgboost.tracker import RabitTracker

RANK, SIZE = int(os.environ['RANK']), int(os.environ['WORLD_SIZE'])


def train(rows, columns, rounds, threads):
    chance = np.random.default_rng(RANK + 1)
    values = chance.normal(size=(rows, columns)).astype('f4')
    labels = (values[:, 0] * values[:, 1] + np.sin(values[:, 2]) > 0).astype('f4')
    data = xgb.DMatrix(values, label=labels, nthread=threads)
    begin = time.monotonic()
    model = xgb.train({'objective': 'binary:logistic', 'tree_method': 'hist', 'max_depth': 6, 'nthread': threads}, data, num_boost_round=rounds)
    return {'train': time.monotonic() - begin, 'model': hashlib.sha256(bytes(model.save_raw('ubj'))).hexdigest()}


def allreduce():
    """Medians, in seconds, by bytes."""
    found = {}
    for size, times in ((8, 1000), (4096, 500), (1 << 20, 40)):
        values = np.ones(size // 4, dtype='f4')
        taken = []
        for _ in range(times):
            begin = time.monotonic()
            collective.allreduce(values, collective.Op.SUM)
            taken.append(time.monotonic() - begin)
        found[str(size)] = float(np.median(taken[times // 10:]))
    return found


def join(where, port):
    for _ in range(600):
        try:
            collective.init(dmlc_tracker_uri=where, dmlc_tracker_port=port, dmlc_task_id='%04d' % RANK, dmlc_retry=1)
            return
        except xgb.core.XGBoostError:
            time.sleep(0.05)
    sys.exit('no tracker')


def main():
    where, port = os.environ['MASTER_ADDR'], int(os.environ['MASTER_PORT'])
    if RANK == 0:
        tracker = RabitTracker(host_ip=where, n_workers=SIZE, port=port, sortby='task')
        tracker.start()
    join(where, port)
    found = train(*(int(a) for a in sys.argv[2:])) if sys.argv[1] == 'train' else allreduce()
    collective.finalize()
    if RANK == 0:
        tracker.wait_for()
        print(json.dumps(found), flush=True)


main()
