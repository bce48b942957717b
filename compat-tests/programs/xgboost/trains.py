# SPDX-License-Identifier: BSD-3-Clause
"""Debian's XGBoost 1.7 over Rabit's engine, as people write it; it knows nothing of ftmpi. trains.py MODE ROWS ROUNDS THREADS

Without the tree method "exact": XGBoost refuses to train with that in several ranks."""

import hashlib
import sys

import numpy as np
import xgboost as xgb
from xgboost import collective

MODE, ROWS, ROUNDS, THREADS = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
MODES = {
    'hist': {'tree_method': 'hist'},
    'approx': {'tree_method': 'approx'},
    'gblinear': {'booster': 'gblinear', 'updater': 'coord_descent'},
    'dart': {'booster': 'dart', 'tree_method': 'hist', 'rate_drop': 0.3, 'one_drop': 1},
    'early': {'tree_method': 'hist', 'eta': 0.9},
    'evals': {'tree_method': 'hist', 'eval_metric': ['logloss', 'error', 'auc']},
    'sampling': {'tree_method': 'hist', 'subsample': 0.7, 'colsample_bytree': 0.7, 'colsample_bynode': 0.8},
}


def matrix(seed, rows):
    chance = np.random.default_rng(seed)
    values = chance.normal(size=(rows, 20)).astype('f4')
    labels = (values[:, 0] * values[:, 1] + np.sin(values[:, 2]) + 0.5 * chance.normal(size=rows) > 0).astype('f4')
    return xgb.DMatrix(values, label=labels, nthread=THREADS)


class Rounds(xgb.callback.TrainingCallback):
    """Says what a round came to as the next one begins: XGBoost has callbacks in a set, and which of them it calls last is chance."""

    log = None

    def say_last(self):
        every = [('%s-%s' % (of, metric), values) for of, metrics in (self.log or {}).items() for metric, values in metrics.items()]
        if every:
            print('round', len(every[0][1]) - 1, *('%s:%.7f' % (name, values[-1]) for name, values in every), flush=True)

    def before_iteration(self, model, epoch, evals_log):
        self.log = evals_log
        self.say_last()
        return False

    def after_training(self, model):
        self.say_last()
        return model


with collective.CommunicatorContext():
    rank = collective.get_rank()
    ours = matrix(rank + 1, ROWS)
    evals = [(ours, 'train')]
    if MODE in ('early', 'evals'):
        evals.append((matrix(1000 + rank, ROWS // 2), 'test'))
    params = {'objective': 'binary:logistic', 'max_depth': 6, 'nthread': THREADS, 'seed': 7, 'eval_metric': 'auc', **MODES[MODE]}
    if MODE == 'gblinear':
        del params['max_depth']
    booster = xgb.train(params, ours, num_boost_round=ROUNDS, evals=evals, verbose_eval=False, callbacks=[Rounds()],
                        early_stopping_rounds=3 if MODE == 'early' else None)
    print('model', hashlib.sha256(booster.save_raw('ubj')).hexdigest(), flush=True)
