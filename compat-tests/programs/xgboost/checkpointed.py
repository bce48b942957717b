#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""An XGBoost training with checkpoints, to be run by

    ftrun -n 4 --rabit --bootstrap-cache /usr/bin/python3 checkpointed.py

or without ftrun, if Python finds ftmpi_xgboost (PYTHONPATH). Data is made up, each rank has rows of its own. Prints one line per rank with the SHA-256 of the model it ended with.

For those who test it: --die RANK@ROUND (repeatable) makes a rank kill itself before it does that round, once: a file in the
directory --marks says that it has. With --stall it does not die there, but waits for ever. --plain is xgboost.train without checkpoints, with row and column sampling."""
import argparse
import hashlib
import os
import signal
import sys
import time

import numpy as np
import xgboost
from xgboost import collective

if "--no-cache" in sys.argv:
    collective.init()  # before the module asks for one
import ftmpi_xgboost  # pylint: disable=wrong-import-position

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lib"))
import outside


class Dies(xgboost.callback.TrainingCallback):
    def __init__(self, deaths, marks, stall):
        super().__init__()
        self.stall = stall
        self.rounds = {int(death.split("@")[1]) for death in deaths if int(death.split("@")[0]) == collective.get_rank()}
        self.marks = marks

    def before_iteration(self, model, epoch, evals_log):
        if epoch in self.rounds:
            try:
                outside.write_file(f"{self.marks}/{collective.get_rank()}@{epoch}", b"", os.O_EXCL)
            except FileExistsError:
                return False
            while self.stall:
                time.sleep(1)
            os.kill(os.getpid(), signal.SIGKILL)
        return False


def made_up(rows, features, rank):
    random = np.random.default_rng(rank)
    values = random.normal(size=(rows, features)).astype(np.float32)
    noise = random.normal(size=rows)
    return xgboost.DMatrix(values, (values[:, 0] + values[:, 1] * values[:, 2] + noise > 0).astype(np.float32), nthread=1)


def main():
    args = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    args.add_argument("--rows", type=int, default=2000)
    args.add_argument("--features", type=int, default=8)
    args.add_argument("--rounds", type=int, default=20)
    args.add_argument("--every", type=int, default=5, help="rounds between checkpoints")
    args.add_argument("--lazy", action="store_true")
    args.add_argument("--nthread", type=int, default=1)
    args.add_argument("--plain", action="store_true")
    args.add_argument("--method", default="hist", help="tree_method; auto: none is set")
    args.add_argument("--no-cache", action="store_true", help="go on without what XGBoost does once")
    args.add_argument("--die", action="append", default=[], metavar="RANK@ROUND")
    args.add_argument("--marks", metavar="DIR", default=".")
    args.add_argument("--stall", action="store_true")
    args = args.parse_args()

    params = {"objective": "binary:logistic", "eval_metric": ["logloss", "auc"], "max_bin": 32, "max_depth": 4,
              "nthread": args.nthread, "seed": 2022}
    if args.no_cache:
        ftmpi_xgboost._Library.has_cache = lambda self: True  # pylint: disable=protected-access
    params["tree_method"] = args.method
    if args.method == "auto":
        del params["tree_method"]
    with ftmpi_xgboost.communicator():
        rank, size = collective.get_rank(), collective.get_world_size()
        data = made_up(args.rows // size, args.features, rank)
        test = made_up(args.rows // size // 4, args.features, size + rank)
        callbacks, evals, history = [Dies(args.die, args.marks, args.stall)], [(data, "train"), (test, "test")], {}
        if args.plain:
            params.update(subsample=0.8, colsample_bytree=0.8, colsample_bylevel=0.8)
            model = xgboost.train(params, data, args.rounds, evals=evals, evals_result=history, callbacks=callbacks)
        else:
            model = ftmpi_xgboost.train(params, data, args.rounds, every=args.every, lazy=args.lazy, evals=evals, evals_result=history,
                                        callbacks=callbacks)
        if args.nthread > 1 and len(os.listdir("/proc/self/task")) < args.nthread:
            sys.exit(f"rank {rank}: there are not {args.nthread} threads")
        done = hashlib.sha256(model.save_raw() + repr(sorted(history.items())).encode())
        print(f"rank {rank}: SHA-256 of the model {done.hexdigest()}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
