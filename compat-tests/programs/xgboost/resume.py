#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""ftmpi_xgboost in one process, over a store of its own in place of ftmpi's: trainings that break off between any two
checkpoints and are done again end with the model, the history and the output of xgboost.train. Nothing here needs ftrun."""
import collections
import contextlib
import ctypes
import hashlib
import io
import os
import sys

import numpy as np
import xgboost
from xgboost.callback import EarlyStopping, LearningRateScheduler, TrainingCallback

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../mpi_shim/rabit"))
import ftmpi_xgboost  # noqa: E402 pylint: disable=wrong-import-position

ROUNDS = 9
BREAKS = [(3, [2, 4, 8, 8], False), (1, [3, 7], True), (2, [5], False), (1, [1, 2, 3, 7], False), (4, [], False)]  # every, before round, lazy
Result = collections.namedtuple("Result", "model history lines")


class Store:
    """The functions of ftmpi that the module calls. full: no memory for checkpoints from that version on."""

    def __init__(self, full=99):
        self.data, self.version, self.full, self.kept = b"", 0, full, []

    def call(self, name, *args):
        if name == "MPIX_Checkpoint_load":
            data, size, version = args[0]._obj, args[1]._obj, args[4]._obj
            self.kept.append(ctypes.create_string_buffer(self.data, max(len(self.data), 1)))
            data.value, size.value, version.value = ctypes.addressof(self.kept[-1]), len(self.data), self.version
            return True
        if self.version + 1 >= self.full:
            return False
        if name == "MPIX_Checkpoint":
            data = args[0][:args[1].value]
        else:
            out, size = ctypes.c_void_p(), ctypes.c_longlong()
            if args[0](None, ctypes.pointer(out), ctypes.pointer(size)) != 0:
                raise AssertionError("the serialiser failed")
            data = ctypes.string_at(out, size.value)
        self.data, self.version = data, self.version + 1
        return True


class Broken(Exception):
    pass


class Breaks(TrainingCallback):
    def __init__(self, at):
        super().__init__()
        self.at = at

    def before_iteration(self, model, epoch, evals_log):
        if epoch == self.at:
            raise Broken
        return False


def data(seed=5):
    random = np.random.default_rng(seed)
    rows = random.normal(size=(300, 5)).astype(np.float32)
    return xgboost.DMatrix(rows, (rows[:, 0] + rows[:, 1] * rows[:, 2] + random.normal(size=300) > 0).astype(np.float32), nthread=1)


def once(train, params, breaks_at, arguments):
    """The result of one life; what it printed also if it broke off."""
    train_data, test_data = data(), data(6)
    history, out = {}, io.StringIO()
    given = {k: v() if k in ("callbacks", "xgb_model") else v for k, v in arguments.items()}
    given["callbacks"] = given.get("callbacks", []) + [Breaks(breaks_at)]
    with contextlib.redirect_stdout(out):
        rounds = given.pop("num_boost_round", ROUNDS)
        try:
            model = train(params, train_data, rounds, evals=[(train_data, "train"), (test_data, "test")], evals_result=history, **given)
            digest = hashlib.sha256(model.save_raw()).hexdigest()
        except Broken:
            digest = None
    return Result(digest, history, out.getvalue().splitlines())


def lives(params, arguments, every, breaks, lazy, store):
    """All lives of a training that breaks off before the rounds in `breaks`; each prints on from its checkpoint."""
    ftmpi_xgboost._library = lambda: store  # pylint: disable=protected-access
    lines = []
    for at in [*breaks, -1]:
        ftmpi_xgboost._trained.clear()  # pylint: disable=protected-access
        start = ftmpi_xgboost.load()
        del lines[start.rounds - start.begin:]  # that is what ftrun knows by itself
        result = once(ftmpi_xgboost.train, params, at, {**arguments, "every": every, "lazy": lazy})
        lines += result.lines
    return Result(result.model, result.history, lines)


def earlier():
    return xgboost.train({"tree_method": "hist", "nthread": 1}, data(7), 4).save_raw("ubj")


class Decays(TrainingCallback):
    """A callback as users write them: changes a parameter for good."""

    def after_iteration(self, model, epoch, evals_log):
        if epoch == 2:
            model.set_param("max_depth", 2)
        return False


CASES = {
    "plain": ({}, {}),
    "two metrics, a line every 4 rounds": ({"eval_metric": ["logloss", "auc"]}, {"verbose_eval": 4}),
    "early stopping": ({"eta": 1.0}, {"early_stopping_rounds": 3}),
    "early stopping, the best one": ({"eta": 1.0}, {"callbacks": lambda: [EarlyStopping(4, save_best=True, metric_name="logloss")],
                                                    "verbose_eval": False}),
    "a schedule of rates": ({}, {"callbacks": lambda: [LearningRateScheduler(lambda i: 0.5 / (i + 1))]}),
    "a parameter is changed": ({}, {"callbacks": lambda: [Decays()]}),
    "an objective of its own": ({}, {"obj": lambda p, d: (p - d.get_label(), np.ones_like(p))}),
    "on an earlier model": ({}, {"xgb_model": earlier, "early_stopping_rounds": 8}),
    "approximate": ({"tree_method": "approx"}, {}),
    "approximate, early stopping": ({"tree_method": "approx", "eta": 1.0}, {"early_stopping_rounds": 3}),
    "approximate, three trees a round": ({"tree_method": "approx", "num_parallel_tree": 3}, {}),
    "three trees a round": ({"num_parallel_tree": 3, "max_depth": 3}, {}),
}


def expect(what, got, wanted):
    if got != wanted:
        sys.exit(f"FAIL: {what}: {str(got)[:1500]}\n  wanted {str(wanted)[:1500]}")


def refused(params, word, inexact="refuse"):
    try:
        ftmpi_xgboost.check({"tree_method": "hist", **params}, inexact)
    except ftmpi_xgboost.Error as e:
        expect(f"the reason why {params} is refused, one line", word in str(e) and "\n" not in str(e), True)
    else:
        sys.exit(f"FAIL: {params} is not refused")


def main():
    for name, (params, arguments) in CASES.items():
        print(name, flush=True)
        params = {"objective": "binary:logistic", "tree_method": "hist", "nthread": 1, "max_depth": 4, **params}
        wanted = once(xgboost.train, params, -1, arguments)
        for every, breaks, lazy in BREAKS[:2] if os.environ.get("FT_TIER") == "quick" else BREAKS:
            store = Store()
            got = lives(params, arguments, every, breaks, lazy, store)
            what = f"{name}, checkpoints every {every}, breaks at {breaks}"
            expect(f"{what}: model", got.model, wanted.model)
            expect(f"{what}: history", got.history, wanted.history)
            n = len(wanted.lines)  # xgboost.train asks callbacks in any order, so the line of the round that stops is printed or not
            if "xgb_model" not in arguments and arguments.get("verbose_eval") != 4:
                expect(f"{what}: lines", got.lines[:n], wanted.lines)
            if "early_stopping_rounds" not in arguments and "callbacks" not in arguments:
                expect(f"{what}: versions", store.version, (ROUNDS - 1) // every)

    print("xgboost.train itself, with the callback", flush=True)
    store = Store()
    ftmpi_xgboost._library = lambda: store  # pylint: disable=protected-access
    for at in (3, 2, 2, -1):  # rounds of this life
        kept = ftmpi_xgboost.load()
        own = {"num_boost_round": ROUNDS - kept.rounds, "xgb_model": lambda: kept.model,  # pylint: disable=cell-var-from-loop
               "callbacks": lambda: [ftmpi_xgboost.CheckpointCallback(2, kept)]}  # pylint: disable=cell-var-from-loop
        got = once(xgboost.train, params, at, own)
    wanted = once(xgboost.train, params, -1, {})
    expect("model", got.model, wanted.model)
    expect("rounds in the checkpoints", (store.version, ftmpi_xgboost.load().rounds), (4, 8))
    history = ftmpi_xgboost.load().history
    expect("the history of all lives", history["test"]["logloss"], wanted.history["test"]["logloss"][:8])

    print("no memory for a checkpoint: it goes on, and from the last one", flush=True)
    store, said = Store(full=2), io.StringIO()
    with contextlib.redirect_stderr(said):
        expect("model", lives(params, {}, 2, [8], False, store).model, once(xgboost.train, params, -1, {}).model)
    expect("versions", store.version, 1)
    expect("one line for each life", [line[:33] for line in said.getvalue().splitlines()], ["ftmpi_xgboost: no memory for a che"[:33]] * 2)

    print("what is not exact, and what is not ours", flush=True)
    for param in ({"subsample": 0.5}, {"subsample": "0.5"}):
        refused(param, "warn")
        with ftmpi_warnings() as said:
            ftmpi_xgboost.check({"tree_method": "hist", **param}, "warn")
        expect(f"warnings of {param}", len(said), 1)
    for param in ({"colsample_bynode": 0.5}, {"booster": "dart"}, {"tree_method": "exact"}, {"tree_method": "gpu_hist"}, {"updater": "refresh"},
                  {"process_type": "update"}, {"colsample_bytree": 0.9, "subsample": 0.5}):
        refused(param, str(list(param.values())[0]))
        refused(param, list(param)[0], "warn")
    refused({}, "inexact", "perhaps")
    for method in ({}, {"tree_method": None}, {"tree_method": "auto"}, {"tree_method": "approx"}, {"tree_method": "hist"}):
        ftmpi_xgboost.check({"subsample": "1", "colsample_bytree": 1, **method})
    for arguments, word in (({"xgb_model": lambda: xgboost.Booster({}, model_file=earlier())}, "save_raw"), ({"every": 0}, "every=0")):
        try:
            ftmpi_xgboost._trained.clear()  # pylint: disable=protected-access
            once(ftmpi_xgboost.train, params, -1, arguments)
            sys.exit(f"FAIL: {word} is not refused")
        except ftmpi_xgboost.Error as e:
            expect("the reason", word in str(e), True)
    store = Store()
    store.data, store.version = b"something else", 1
    try:
        lives(params, {}, 2, [], False, store)
        sys.exit("FAIL: a checkpoint of another kind is loaded")
    except ftmpi_xgboost.Error as e:
        expect("the reason", "was not made by this module" in str(e), True)
    print("ok")


def ftmpi_warnings():
    import warnings  # pylint: disable=import-outside-toplevel
    caught = warnings.catch_warnings(record=True)

    @contextlib.contextmanager
    def all_of_them():
        with caught as said:
            warnings.simplefilter("always")
            yield said
    return all_of_them()


if __name__ == "__main__":
    main()
