# SPDX-License-Identifier: BSD-3-Clause
import os
import lightgbm
import numpy

rank, size, port = (int(os.environ[name]) for name in ("FTMPI_RANK", "FTMPI_SIZE", "MASTER_PORT"))
rows = numpy.random.default_rng(rank).normal(size=(1000, 8))
machines = ",".join(f"127.0.0.1:{port + r}" for r in range(size))
network = {"machines": machines, "local_listen_port": port + rank, "num_machines": size, "tree_learner": "data", "pre_partition": True}
data = lightgbm.Dataset(rows, rows[:, 0] * rows[:, 1] > 0)
params = {**network, "objective": "binary", "num_threads": 1, "verbosity": -1}
model = lightgbm.train(params, data, 20)
if rank == 0:
    print("a model of", model.num_trees(), "trees")
