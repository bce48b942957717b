# SPDX-License-Identifier: BSD-3-Clause
"""A worker of XGBoost 2.1 or later, as people start it: rank 0 runs the tracker in a thread, as XGBoost's Kubernetes tutorial has it, or
ftrun is the tracker (--xgboost-tracker). It knows nothing of ftmpi. train.py [MODE [ROWS [ROUNDS [THREADS]]]]; THREADS 0: nthread is left alone."""

import hashlib
import os
import sys
import time

import xgboost as xgb
from xgboost import collective
from xgboost.tracker import RabitTracker

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import boosted  # noqa: E402

RANK, SIZE = int(os.environ['RANK']), int(os.environ['WORLD_SIZE'])
MODE = sys.argv[1] if len(sys.argv) > 1 else 'hist'
ROWS, ROUNDS, THREADS = (int(a) if a else b for a, b in zip((sys.argv[2:] + [''] * 3)[:3], (4000, 12, 1)))


def say(*what):
    print(*what, flush=True)


def join(where, port):
    """The tracker may not listen yet. A socket whose connection was refused XGBoost 2.1 tries again in vain, so each try is a new one."""
    for _ in range(600):
        try:
            collective.init(dmlc_tracker_uri=where, dmlc_tracker_port=int(port), dmlc_task_id='%04d' % RANK, dmlc_retry=1)
            return
        except xgb.core.XGBoostError:
            time.sleep(0.1)
    sys.exit('there is no tracker at %s:%s' % (where, port))


def told(tracker):
    """The tracker of XGBoost 2.1 takes no port that it is given: rank 0 tells the others by a file."""
    name = os.path.join(os.environ['X3_DIR'], 'tracker')
    if tracker:
        with open(name + '.new', 'w', encoding='ascii') as f:
            f.write(str(tracker.worker_args()['dmlc_tracker_port']))
        os.rename(name + '.new', name)
    while not os.path.exists(name):
        time.sleep(0.05)
    with open(name, encoding='ascii') as f:
        return f.read()


def main():
    where, port, tracker = os.environ.get('DMLC_TRACKER_URI'), os.environ.get('DMLC_TRACKER_PORT'), None
    if not where:
        where, port = os.environ['MASTER_ADDR'], os.environ['MASTER_PORT']
        if RANK == 0:
            tracker = RabitTracker(host_ip=where, n_workers=SIZE, port=int(port), sortby='task')
            tracker.start()
        if xgb.__version__.startswith('2.'):
            port = told(tracker)
    join(where, port)
    say('rank', collective.get_rank(), collective.get_world_size())
    model = boosted.train(MODE, RANK, ROWS, ROUNDS, THREADS)
    say('model', hashlib.sha256(model).hexdigest(), len(model))
    collective.finalize()
    if tracker:
        tracker.wait_for()
    say('done')


main()
