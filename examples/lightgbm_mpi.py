# SPDX-License-Identifier: BSD-3-Clause
import os
import ftmpi_lightgbm
import lightgbm
import numpy

rank = int(os.environ.get("FTMPI_RANK", 0))
rows = numpy.random.default_rng(rank).normal(size=(1000, 8))
with ftmpi_lightgbm.network() as network:
    data = lightgbm.Dataset(rows, rows[:, 0] * rows[:, 1] > 0)
    params = {**network, "objective": "binary", "num_threads": 1, "verbosity": -1}
    model = lightgbm.train(params, data, 20)
if rank == 0:
    print("a model of", model.num_trees(), "trees")
