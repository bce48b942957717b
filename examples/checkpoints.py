# SPDX-License-Identifier: BSD-3-Clause
import ftmpi_xgboost
import numpy
import xgboost

with ftmpi_xgboost.communicator():
    rank = xgboost.collective.get_rank()
    rows = numpy.random.default_rng(rank).normal(size=(1000, 8))
    data = xgboost.DMatrix(rows, rows[:, 0] * rows[:, 1] > 0)
    params = {"objective": "binary:logistic", "max_depth": 4}
    model = ftmpi_xgboost.train(params, data, 20, every=5, evals=[(data, "train")], verbose_eval=5)
