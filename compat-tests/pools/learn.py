# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn: histogram boosting and neighbours with OpenMP, a forest and a grid over joblib's threads. Left out is what differs from run to run
with threads: the probabilities of a forest, and k-means, are sums in the order in which threads come to a lock. learn.py ROUNDS"""

import hashlib
import os
import pickle
import sys

import joblib
import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import Ridge
from sklearn.neighbors import NearestNeighbors

ROUNDS, RANK = int(sys.argv[1]), int(os.environ['RANK'])


def fitted(alpha, x, y):
    return Ridge(alpha=alpha).fit(x, y).coef_


def main():
    chance = np.random.default_rng(RANK + 1)
    x = chance.normal(size=(1500, 12))
    y = (x[:, 0] * x[:, 1] + np.sin(x[:, 2]) > 0).astype(int)
    boosted = HistGradientBoostingClassifier(max_iter=1, warm_start=True, random_state=7, early_stopping=False, max_leaf_nodes=15)
    forest = RandomForestClassifier(n_estimators=4, warm_start=True, random_state=7, n_jobs=4, max_depth=6)
    whole = hashlib.sha256()
    for k in range(ROUNDS):
        boosted.set_params(max_iter=3 * (k + 1))
        forest.set_params(n_estimators=4 * (k + 1))
        boosted.fit(x, y)
        forest.fit(x, y)
        far, near = NearestNeighbors(n_neighbors=4, algorithm='brute').fit(x).kneighbors(x[k::3])
        grid = joblib.Parallel(n_jobs=3, backend='threading')(joblib.delayed(fitted)(10.0 ** a, x, y) for a in range(6))
        for part in (boosted.predict_proba(x), forest.apply(x), far, near, *grid):
            whole.update(np.ascontiguousarray(part).tobytes())
        print('round', k, whole.hexdigest()[:16], flush=True)
    whole.update(pickle.dumps([tree.get_n_leaf_nodes() for trees in boosted._predictors for tree in trees]))
    print('model', whole.hexdigest(), flush=True)


main()
