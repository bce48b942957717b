# SPDX-License-Identifier: BSD-3-Clause
"""What tests train with XGBoost, 1.7 or later, in as many ranks as one likes: rows, made by rank; ways of training, by name; and a line for
each round. It knows nothing of ftmpi.

Without the tree method "exact": XGBoost refuses to train with that in several ranks."""

import numpy as np
import xgboost as xgb

MODES = {
    'hist': {'tree_method': 'hist'},
    'approx': {'tree_method': 'approx'},
    'gblinear': {'booster': 'gblinear', 'updater': 'coord_descent'},
    'dart': {'booster': 'dart', 'tree_method': 'hist', 'rate_drop': 0.3, 'one_drop': 1},
    'early': {'tree_method': 'hist', 'eta': 0.9},
    'evals': {'tree_method': 'hist', 'eval_metric': ['logloss', 'error', 'auc']},
    'sampling': {'tree_method': 'hist', 'subsample': 0.7, 'colsample_bytree': 0.7, 'colsample_bynode': 0.8},
    'categorical': {'tree_method': 'hist', 'max_cat_to_onehot': 2},  # from 2.1 on
}


class Rounds(xgb.callback.TrainingCallback):
    """Says what a round came to as the next one begins. XGBoost has callbacks in a set, and after the round in which one of them ends the
    training it does not call those that are behind: a line of after_iteration would come or not, by where Python has put them."""

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


def matrix(mode, seed, rows, threads):
    chance = np.random.default_rng(seed)
    values = chance.normal(size=(rows, 20)).astype('f4')
    labels = (values[:, 0] * values[:, 1] + np.sin(values[:, 2]) + 0.5 * chance.normal(size=rows) > 0).astype('f4')
    if mode != 'categorical':
        return xgb.DMatrix(values, label=labels, nthread=threads or None)
    values[:, :5] = np.floor(np.abs(values[:, :5]) * 4) % 12
    return xgb.DMatrix(values, label=labels, nthread=threads or None, feature_types=['c'] * 5 + ['q'] * 15, enable_categorical=True)


def train(mode, rank, rows, rounds, threads):
    """The model's bytes. threads 0: nthread is left alone."""
    ours = matrix(mode, rank + 1, rows, threads)
    evals = [(ours, 'train')]
    if mode in ('early', 'evals'):
        evals.append((matrix(mode, 1000 + rank, rows // 2, threads), 'test'))
    params = {'objective': 'binary:logistic', 'max_depth': 6, 'nthread': threads, 'seed': 7, 'eval_metric': 'auc', **MODES[mode]}
    if not threads:
        del params['nthread']
    if mode == 'gblinear':
        del params['max_depth']
    model = xgb.train(params, ours, num_boost_round=rounds, evals=evals, verbose_eval=False, callbacks=[Rounds()],
                      early_stopping_rounds=3 if mode == 'early' else None)
    return bytes(model.save_raw('ubj'))
