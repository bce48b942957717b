# SPDX-License-Identifier: BSD-3-Clause
"""A worker of XGBoost 2.1 or later, as people start it: rank 0 runs the tracker in a thread, as XGBoost's Kubernetes tutorial has it, or
ftrun is the tracker (--xgboost-tracker). It knows nothing of ftmpi. train.py [MODE [ROWS [ROUNDS [THREADS]]]]; THREADS 0: nthread is left alone."""

import hashlib
import os
import sys
import time

import numpy as np
import xgboost as xgb
from xgboost import collective
from xgboost.tracker import RabitTracker

RANK, SIZE = int(os.environ['RANK']), int(os.environ['WORLD_SIZE'])
MODE = sys.argv[1] if len(sys.argv) > 1 else 'hist'
ROWS, ROUNDS, THREADS = (int(a) if a else b for a, b in zip((sys.argv[2:] + [''] * 3)[:3], (4000, 12, 1)))

MODES = {
    'hist': {'tree_method': 'hist'},
    'approx': {'tree_method': 'approx'},
    'gblinear': {'booster': 'gblinear', 'updater': 'coord_descent'},
    'dart': {'booster': 'dart', 'tree_method': 'hist', 'rate_drop': 0.3, 'one_drop': 1},
    'early': {'tree_method': 'hist', 'eta': 0.9},
    'evals': {'tree_method': 'hist', 'eval_metric': ['logloss', 'error', 'auc']},
    'sampling': {'tree_method': 'hist', 'subsample': 0.7, 'colsample_bytree': 0.7, 'colsample_bynode': 0.8},
    'categorical': {'tree_method': 'hist', 'max_cat_to_onehot': 2},
}


def say(*what):
    print(*what, flush=True)


class Rounds(xgb.callback.TrainingCallback):
    """Says what a round came to as the next one begins. XGBoost 2.1 has callbacks in a set, and after the round in which one of them ends the training
    it does not call those that are behind: a line of after_iteration would come or not, by where Python has put them."""

    log = None

    def say_last(self):
        every = [('%s-%s' % (of, metric), values) for of, metrics in self.log.items() for metric, values in metrics.items()]
        if every:
            say('round', len(every[0][1]) - 1, *('%s:%.7f' % (name, values[-1]) for name, values in every))

    def before_iteration(self, model, epoch, evals_log):
        self.log = evals_log
        self.say_last()
        return False

    def after_training(self, model):
        self.say_last()
        return model


def matrix(seed, rows):
    chance = np.random.default_rng(seed)
    values = chance.normal(size=(rows, 20)).astype('f4')
    labels = (values[:, 0] * values[:, 1] + np.sin(values[:, 2]) + 0.5 * chance.normal(size=rows) > 0).astype('f4')
    if MODE != 'categorical':
        return xgb.DMatrix(values, label=labels, nthread=THREADS or None)
    values[:, :5] = np.floor(np.abs(values[:, :5]) * 4) % 12
    return xgb.DMatrix(values, label=labels, nthread=THREADS or None, feature_types=['c'] * 5 + ['q'] * 15, enable_categorical=True)


def train():
    ours = matrix(RANK + 1, ROWS)
    evals = [(ours, 'train')]
    if MODE in ('early', 'evals'):
        evals.append((matrix(1000 + RANK, ROWS // 2), 'test'))
    params = {'objective': 'binary:logistic', 'max_depth': 6, 'nthread': THREADS, 'seed': 7, 'eval_metric': 'auc', **MODES[MODE]}
    if not THREADS:
        del params['nthread']
    if MODE == 'gblinear':
        del params['max_depth']
    model = xgb.train(params, ours, num_boost_round=ROUNDS, evals=evals, verbose_eval=False, callbacks=[Rounds()],
                      early_stopping_rounds=3 if MODE == 'early' else None)
    say('model', hashlib.sha256(bytes(model.save_raw('ubj'))).hexdigest(), len(model.save_raw('ubj')))


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
    train()
    collective.finalize()
    if tracker:
        tracker.wait_for()
    say('done')


main()
