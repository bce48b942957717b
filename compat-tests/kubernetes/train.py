# SPDX-License-Identifier: BSD-3-Clause
"""What an XGBoostJob trains: rows of the rank's own, a few rounds. The rank that DIRECTORY/victim names stops after the third one until
DIRECTORY/go is there. Each rank prints the hash of its model, and knows nothing of ftmpi."""

import hashlib
import os
import sys
import time

import numpy
import xgboost
from xgboost import collective

directory = sys.argv[1]


class Stop(xgboost.callback.TrainingCallback):
    def after_iteration(self, model, epoch, evals_log):
        go = os.path.join(directory, 'go')
        if epoch == 2 and os.path.exists(os.path.join(directory, 'victim.%d' % rank)) and not os.path.exists(go):
            with open(os.path.join(directory, 'stopped'), 'w', encoding='ascii') as f:
                f.write('%d' % os.getpid())
            while not os.path.exists(go):
                time.sleep(0.02)
        return False


with collective.CommunicatorContext():
    rank, size = collective.get_rank(), collective.get_world_size()
    rows = numpy.random.default_rng(rank).normal(size=(2000, 10))
    data = xgboost.DMatrix(rows, rows[:, 0] * rows[:, 1] > 0, nthread=1)
    params = {'objective': 'binary:logistic', 'tree_method': 'hist', 'max_depth': 4, 'nthread': 1, 'subsample': 0.8, 'seed': 7}
    said = {}
    trained = xgboost.train(params, data, 6, evals=[(data, 'train')], evals_result=said, verbose_eval=False, callbacks=[Stop()])
    print('rank', rank, 'of', size, 'model', hashlib.sha256(trained.save_raw('ubj')).hexdigest(), *said['train']['logloss'], flush=True)
