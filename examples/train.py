# SPDX-License-Identifier: BSD-3-Clause
import numpy
import xgboost
from xgboost import collective

with collective.CommunicatorContext():
    rank, size = collective.get_rank(), collective.get_world_size()
    rows = numpy.random.default_rng(rank).normal(size=(1000, 8))  # each rank has rows of its own
    data = xgboost.DMatrix(rows, rows[:, 0] * rows[:, 1] > 0)
    params = {"objective": "binary:logistic", "tree_method": "hist", "max_depth": 4}
    model = xgboost.train(params, data, 20, evals=[(data, "train")], verbose_eval=5)
    if rank == 0:
        print("a model of", size, "ranks:", model.num_boosted_rounds(), "rounds")
