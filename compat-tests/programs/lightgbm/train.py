# SPDX-License-Identifier: BSD-3-Clause
"""One worker of a distributed LightGBM training, with rows of its own that are made up.

    train.py sockets|mpi|alone [--rounds N] [--rows N] [--columns N] [--threads N] [--params JSON] [--out DIRECTORY]

sockets: the wheel's own network (`machines`), ports from MASTER_PORT on. mpi: ftmpi_lightgbm. Prints one line for each round's evaluation on
rank 0, and one per rank with the SHA-256 of its model; --out keeps the models. What training took is said on stderr."""
import argparse
import hashlib
import json
import os
import sys
import time

import lightgbm
import numpy as np


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("form", choices=("sockets", "mpi", "alone"))
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--columns", type=int, default=12)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--params", default="{}")
    parser.add_argument("--out")
    return parser.parse_args()


def number(*names):
    return next(int(os.environ[name]) for name in names if name in os.environ)


def rows_of(rank, args):
    random = np.random.default_rng(100 + rank)
    x = random.normal(size=(args.rows, args.columns)).astype(np.float32)
    y = x[:, 0] * x[:, 1] + np.sin(3 * x[:, 2]) + 0.3 * random.normal(size=args.rows) > 0
    return x, y.astype(np.float32)


def main():
    args = arguments()
    rank, size = number("RANK", "FTMPI_RANK"), number("WORLD_SIZE", "FTMPI_SIZE")
    params = {"objective": "binary", "metric": "auc", "num_leaves": 31, "verbosity": -1, "num_threads": args.threads, "deterministic": True,
              "force_row_wise": True, "pre_partition": True, "tree_learner": "data", **json.loads(args.params)}
    if args.form == "sockets":
        port = number("MASTER_PORT")
        params.update(machines=",".join(f"127.0.0.1:{port + r}" for r in range(size)), local_listen_port=port + rank, num_machines=size, time_out=5)
    elif args.form == "mpi":
        import ftmpi_lightgbm  # pylint: disable=import-outside-toplevel
        params.update(ftmpi_lightgbm.init())
    x, y = rows_of(rank, args)
    data = lightgbm.Dataset(x, y)

    def show(env):
        if rank == 0 and env.evaluation_result_list:
            print(f"round {env.iteration} auc {env.evaluation_result_list[0][2]!r}", flush=True)

    started = time.time()
    model = lightgbm.train(params, data, args.rounds, valid_sets=[data], callbacks=[show])
    took = time.time() - started
    text = model.model_to_string().encode()
    if "[machines" in text.decode():  # the one parameter in it that says who this worker is
        text = b"\n".join(line for line in text.split(b"\n") if not line.startswith((b"[machines", b"[local_listen_port")))
    if args.out:
        with open(os.path.join(args.out, f"model.{rank}"), "wb") as f:
            f.write(text)
    print(f"rank {rank} {hashlib.sha256(text).hexdigest()}", flush=True)
    if rank == 0:
        print(f"trained in {took:.3f} s", file=sys.stderr, flush=True)


main()
