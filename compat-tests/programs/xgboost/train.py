#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Distributed XGBoost training on Fashion-MNIST, as anybody would write it for Debian's python3-xgboost: nothing
in here knows about ftmpi. The rows are split by rank; row and column sampling are on, so that the random state is
part of what a restarted rank must have right. Prints one line per rank with the SHA-256 of the model it ended with.

--status DIR: the file DIR/rank-N always says "PID STATE ROUND", STATE one of loading, round, between, done; whoever
kills ranks looks there for the right moment."""
import argparse
import gzip
import hashlib
import os
import sys

import numpy as np
import xgboost
from xgboost import collective

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lib"))
import outside # for --status only

CLASSES = 10


class Status(xgboost.callback.TrainingCallback):
    def __init__(self, directory, rank):
        super().__init__()
        self.path = os.path.join(directory, f"rank-{rank}") if directory else None

    def say(self, state, number=-1):
        if self.path is None:
            return
        outside.replace_file(self.path, f"{outside.pid()} {state} {number}\n".encode())

    def before_iteration(self, model, epoch, evals_log):
        self.say("round", epoch)
        return False

    def after_iteration(self, model, epoch, evals_log):
        self.say("between", epoch)
        return False


def read_idx(path, first, last):
    """Items first to last-1 of a gzipped IDX file of bytes (images or labels), one per row."""
    with gzip.open(path, "rb") as data:
        dims = data.read(4)[3]
        shape = np.frombuffer(data.read(4 * dims), ">i4")
        item = int(np.prod(shape[1:]))
        last = min(last, int(shape[0]))
        data.read(first * item)
        return np.frombuffer(data.read((last - first) * item), np.uint8).reshape(last - first, item)


def main():
    args = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    args.add_argument("--data", default="/usr/share/datasets/fashion-mnist")
    args.add_argument("--rows", type=int, default=60000)
    args.add_argument("--rounds", type=int, default=20)
    args.add_argument("--depth", type=int, default=6)
    args.add_argument("--status", metavar="DIR")
    args = args.parse_args()

    with collective.CommunicatorContext():
        rank, size = collective.get_rank(), collective.get_world_size()
        status = Status(args.status, rank)
        status.say("loading")
        first, last = args.rows * rank // size, args.rows * (rank + 1) // size
        images = read_idx(f"{args.data}/train-images-idx3-ubyte.gz", first, last).astype(np.float32)
        labels = read_idx(f"{args.data}/train-labels-idx1-ubyte.gz", first, last).ravel()
        data = xgboost.DMatrix(images, labels, nthread=1)
        del images

        model = xgboost.train({
            "objective": "multi:softprob", "num_class": CLASSES, "eval_metric": "mlogloss",
            "tree_method": "hist", "max_bin": 64, "max_depth": args.depth, "eta": 0.3,
            "subsample": 0.8, "colsample_bytree": 0.8, "colsample_bylevel": 0.8,
            "nthread": 1, "seed": 2022,
        }, data, num_boost_round=args.rounds, evals=[(data, "train")], callbacks=[status])
        status.say("done")
        print(f"rank {rank}: SHA-256 of the model {hashlib.sha256(model.save_raw()).hexdigest()}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
