# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints of XGBoost 1.7 training under `ftrun --rabit`: a rank that is killed goes on from the last
one, and `ftrun --resume` from the last one on disk. See docs/xgboost.md.

    import ftmpi_xgboost, xgboost
    with ftmpi_xgboost.communicator():
        data = xgboost.DMatrix(...)
        model = ftmpi_xgboost.train(params, data, 1000, every=5)

The model's bytes are the whole state of a training with tree_method hist, approx or none, and without sampling. What is not exact so is
refused. Without ftrun, or without ftmpi, this is xgboost.train."""
import collections
import contextlib
import ctypes
import json
import os
import struct
import sys
import warnings

import xgboost
from xgboost import collective

__all__ = ["Checkpoint", "CheckpointCallback", "Error", "check", "communicator", "load", "train"]

MAGIC = b"ftmpi_xgboost 1\n"
ERR_NO_MEM = 39  # as in mpi.h
SERIALIZE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_longlong))


class Error(RuntimeError):
    """What is wrong with the job or the parameters, in one line."""


# ---- ftmpi's functions, in the library that ftrun --rabit has put into this process

class _Library:
    def __init__(self):
        self.c = ctypes.CDLL(None)
        self.world = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(self.c, "ompi_mpi_comm_world")))
        self.errors_return = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(self.c, "ompi_mpi_errors_return")))
        for name in ("MPIX_Checkpoint", "MPIX_Checkpoint_lazy", "MPIX_Checkpoint_load"):
            getattr(self.c, name)

    def has_cache(self):
        """A rank that goes on from a checkpoint repeats what XGBoost does once, in the first round: that must have been kept."""
        there = ctypes.c_int()
        self.c.MPIX_Bootstrap_cache(ctypes.byref(there))
        return bool(there.value)

    def call(self, name, *arguments):
        """Calls a function with errors returned, which for MPI_COMM_WORLD end the job otherwise. True: done, False: no memory."""
        before = ctypes.c_void_p()
        self.c.MPI_Comm_get_errhandler(self.world, ctypes.byref(before))
        self.c.MPI_Comm_set_errhandler(self.world, self.errors_return)
        code = getattr(self.c, name)(*arguments)
        self.c.MPI_Comm_set_errhandler(self.world, before)
        self.c.MPI_Errhandler_free(ctypes.byref(before))
        if code not in (0, ERR_NO_MEM):
            text, length = ctypes.create_string_buffer(1024), ctypes.c_int()
            self.c.MPI_Error_string(code, text, ctypes.byref(length))
            raise Error(f"{name}: {text.value.decode(errors='replace')}")
        return code == 0


def _has_rabit():
    """ftrun --rabit has put ftmpi's library into this process."""
    return hasattr(ctypes.CDLL(None), "MPIX_Mark_rabit")


def _is_rank():
    """Not so one process alone, with ftrun or without: a world of one."""
    return "FTMPI_RANK" in os.environ and (_has_rabit() or os.environ.get("FTMPI_SIZE") != "1")


def _library():
    """None: this process is no rank, nothing is to be kept."""
    if not _is_rank():
        return None
    if not collective.is_distributed():
        raise Error("ftmpi_xgboost: a rank of ftrun trains inside `with ftmpi_xgboost.communicator():`, and needs ftrun --rabit")
    try:
        library = _Library()
    except (AttributeError, ValueError) as e:
        raise Error("ftmpi_xgboost: this process was started without ftrun --rabit, or by an ftmpi without checkpoints") from e
    if collective.get_world_size() > 1 and not library.has_cache():
        raise Error("ftmpi_xgboost: a rank that goes on from a checkpoint repeats what XGBoost does once in the first round, and that is "
                    "not kept: import ftmpi_xgboost before the communicator is made; on several hosts use ftrun --rabit --bootstrap-cache")
    return library


def _ask_for_cache():
    """As --bootstrap-cache. Later than MPI_Init it only asks."""
    if "FTMPI_RANK" in os.environ and _has_rabit():
        ctypes.CDLL(None).MPIX_Bootstrap_cache(None)


_ask_for_cache()


def communicator():
    """xgboost.collective.CommunicatorContext() in a rank of ftrun's; without ftrun, where that fails, nothing."""
    if not _is_rank():
        return contextlib.nullcontext()
    if not _has_rabit():
        raise Error("ftmpi_xgboost: this job was started without --rabit, so its ranks have no communicator: start it with ftrun --rabit")
    return collective.CommunicatorContext()


# ---- what is exact

def _value(params, name, default):
    value = params.get(name, default)
    try:
        return float(value)
    except (TypeError, ValueError):
        return value


def _judge(params):
    """(what makes ranks disagree after a restart, what makes only the model another one): lists of texts."""
    wrong, other = [], []
    for name in ("colsample_bytree", "colsample_bylevel", "colsample_bynode"):
        if _value(params, name, 1.0) != 1.0:
            wrong.append(f"{name}={params[name]}")
    if params.get("booster", "gbtree") != "gbtree":
        wrong.append(f"booster={params['booster']}")
    if params.get("process_type", "default") != "default":
        wrong.append(f"process_type={params['process_type']}")
    if params.get("updater", "grow_quantile_histmaker") != "grow_quantile_histmaker":
        wrong.append(f"updater={params['updater']}")
    method = params.get("tree_method") or "auto"
    if method not in ("hist", "approx", "auto"):  # auto is approx in a communicator, whatever the data
        wrong.append(f"tree_method={method}")
    if _value(params, "subsample", 1.0) != 1.0:
        other.append(f"subsample={params['subsample']}")
    return wrong, other


def check(params, inexact="refuse"):
    """Raises Error for parameters with which the model's bytes are not the whole state of the training. With inexact="warn" only
    for those with which a restarted rank would build other trees than the rest, and a warning for those that may merely give
    another model than a run without failures."""
    if inexact not in ("refuse", "warn"):
        raise Error(f"ftmpi_xgboost: inexact={inexact!r}: refuse or warn")
    wrong, other = _judge(dict(params))
    if wrong or (other and inexact == "refuse"):
        hint = "" if wrong else ', or inexact="warn" if the model may be another one'
        raise Error(f"ftmpi_xgboost: with {', '.join(wrong + other)} a model is not the whole state of the training, and a restarted rank would "
                    f'not go on as it was; use tree_method="hist" or "approx" without sampling{hint}')
    if other and collective.get_rank() == 0:
        warnings.warn(f"ftmpi_xgboost: with {', '.join(other)} a training in which ranks were restarted may end with another model", stacklevel=3)


# ---- one checkpoint as bytes

class Checkpoint:
    """What load() gives. `model` is for xgb_model= of xgboost.train (None if nothing was kept), `rounds` how many boosting
    rounds are in it, `begin` how many of them an earlier training had done, `history` the evaluation results of all others."""

    def __init__(self):
        self.model, self.rounds, self.begin, self.in_force = None, 0, 0, {}
        self.history = collections.OrderedDict()


def _train_params(booster):
    """The tree parameters in force, by name: callbacks may have changed some since the start."""
    found = {}

    def search(node):
        for key, value in node.items():
            if key == "train_param":
                found.update(value)
            elif isinstance(value, dict):
                search(value)

    search(json.loads(booster.save_config())["learner"]["gradient_booster"])
    return found


def _pack(booster, begin, history):
    head = json.dumps({"rounds": booster.num_boosted_rounds(), "begin": begin, "history": history, "in_force": _train_params(booster)}).encode()
    return b"".join((MAGIC, struct.pack("<Q", len(head)), head, booster.save_raw("ubj")))


def _unpack(data):
    start = len(MAGIC) + 8
    if data[:len(MAGIC)] != MAGIC or len(data) < start:
        raise Error("ftmpi_xgboost: the last checkpoint of this job was not made by this module")
    end = start + struct.unpack("<Q", data[len(MAGIC):start])[0]
    kept = Checkpoint()
    kept.__dict__.update(json.loads(data[start:end], object_pairs_hook=collections.OrderedDict))
    kept.model = bytearray(data[end:])
    return kept


def load():
    """The last checkpoint, a Checkpoint; an empty one on a fresh start and where there is no ftmpi. To be called by every rank at the
    same place, before the training; what the program communicates before that must be the same in each of its lives."""
    library = _library()
    if library is None:
        return Checkpoint()
    data, size, version = ctypes.c_void_p(), ctypes.c_longlong(), ctypes.c_int()
    if not library.call("MPIX_Checkpoint_load", ctypes.byref(data), ctypes.byref(size), None, None, ctypes.byref(version)):
        raise Error("ftmpi_xgboost: no memory to load the last checkpoint")
    return _unpack(ctypes.string_at(data, size.value)) if version.value > 0 else Checkpoint()


# ---- making them

class CheckpointCallback(xgboost.callback.TrainingCallback):
    """For callbacks= of xgboost.train: a checkpoint whenever `every` rounds are done, before the next one begins. `resumed` is what load()
    gave. lazy=True: only when ftrun has a use for it; `every` may then be 1."""

    def __init__(self, every, resumed=None, lazy=False):
        super().__init__()
        if int(every) != every or every < 1:
            raise Error(f"ftmpi_xgboost: every={every}: a number of rounds, 1 or more")
        self.every, self.lazy = int(every), lazy
        self.resumed = resumed or Checkpoint()
        self.library, self.failed, self.bytes = None, False, b""

    def before_training(self, model):
        self.library = _library()
        return model

    def before_iteration(self, model, epoch, evals_log):
        if self.library is not None and epoch > 0:  # all that other callbacks do after the round before this one is done
            rounds = model.num_boosted_rounds()
            if rounds % self.every == 0 and rounds > self.resumed.rounds:
                self.keep(model, self.joined(evals_log))
        return False

    def joined(self, evals_log):
        """With xgboost.train evals_log has what came since the restart only."""
        before = self.resumed.history
        return {data: {metric: (before.get(data, {}).get(metric, []) + log) if before is not evals_log else log
                       for metric, log in metrics.items()} for data, metrics in evals_log.items()}

    def keep(self, model, history):
        sys.stdout.flush()  # a restarted rank does not print again what stands before its checkpoint
        sys.stderr.flush()
        if self.lazy:
            done = self.library.call("MPIX_Checkpoint_lazy", SERIALIZE(lambda *out: self.serialize(model, history, *out)), None)
        else:
            data = _pack(model, self.resumed.begin, history)
            done = self.library.call("MPIX_Checkpoint", data, ctypes.c_longlong(len(data)), None, ctypes.c_longlong(0))
        if not done and not self.failed and collective.get_rank() == 0:
            print("ftmpi_xgboost: no memory for a checkpoint: the training goes on, with the last one there was", file=sys.stderr, flush=True)
        self.failed = not done

    def serialize(self, model, history, _state, data, size):
        """C's serialiser; Python's exceptions must not leave it."""
        try:
            self.bytes = _pack(model, self.resumed.begin, history)
            data[0] = ctypes.cast(ctypes.c_char_p(self.bytes), ctypes.c_void_p)
            size[0] = len(self.bytes)
            return 0
        except Exception as e:  # pylint: disable=broad-except
            print(f"ftmpi_xgboost: {e}", file=sys.stderr, flush=True)
            return 1


def _bring_up(callbacks, booster, kept):
    """XGBoost's own callbacks remember what they saw: they see it again."""
    last = kept.rounds - kept.begin - 1
    for callback in callbacks:
        if isinstance(callback, xgboost.callback.EarlyStopping):
            callback.starting_round = kept.begin
            for i in range(last + 1):
                seen = collections.OrderedDict((data, collections.OrderedDict((metric, [log[i]]) for metric, log in metrics.items()))
                                               for data, metrics in kept.history.items())
                callback.after_iteration(booster, i, seen)
        elif isinstance(callback, xgboost.callback.EvaluationMonitor) and last % callback.period:
            callback.after_iteration(booster, last, kept.history)  # prints nothing, remembers the line
    now = _train_params(booster)
    changed = {name: value for name, value in kept.in_force.items() if now.get(name) != value}
    if changed:
        booster.set_param(changed)


_trained = []  # one training of a program has checkpoints


def train(params, dtrain, num_boost_round=10, *, every=5, lazy=False, inexact="refuse", evals=None, obj=None, maximize=None,
          early_stopping_rounds=None, evals_result=None, verbose_eval=True, xgb_model=None, callbacks=None, custom_metric=None):
    """xgboost.train with a checkpoint every `every` rounds, going on from the last one. The arguments are xgboost.train's; `lazy` is
    CheckpointCallback's, `inexact` check()'s. With the same arguments the model is xgboost.train's, whatever dies."""
    if _library() is None:
        return xgboost.train(params, dtrain, num_boost_round, evals=evals, obj=obj, maximize=maximize, early_stopping_rounds=early_stopping_rounds,
                             evals_result=evals_result, verbose_eval=verbose_eval, xgb_model=xgb_model, callbacks=callbacks,
                             custom_metric=custom_metric)
    check(params, inexact)
    if isinstance(xgb_model, xgboost.Booster):  # would bring its own parameters, too, which a checkpoint has not
        raise Error("ftmpi_xgboost: xgb_model is a Booster: give its save_raw(), or a file")
    if _trained:
        raise Error("ftmpi_xgboost: this program trains a second time: only one training can have checkpoints, use xgboost.train for the others")
    _trained.append(True)
    kept = load()
    callbacks, evals = list(callbacks or []), list(evals or [])
    if verbose_eval:
        callbacks.append(xgboost.callback.EvaluationMonitor(period=1 if verbose_eval is True else verbose_eval))
    if early_stopping_rounds:
        callbacks.append(xgboost.callback.EarlyStopping(rounds=early_stopping_rounds, maximize=maximize))
    booster = xgboost.Booster(params, [dtrain] + [d[0] for d in evals], model_file=xgb_model if kept.model is None else kept.model)
    if kept.model is None and xgb_model is not None:
        kept.rounds = kept.begin = booster.num_boosted_rounds()
    callbacks.append(CheckpointCallback(every, kept, lazy))
    container = xgboost.callback.CallbackContainer(callbacks, metric=custom_metric, output_margin=callable(obj))
    container.callbacks = callbacks  # in this order in every life, not in a set's
    container.history = kept.history
    booster = container.before_training(booster)
    if kept.model is not None:
        _bring_up(callbacks, booster, kept)
    for i in range(kept.rounds - kept.begin, num_boost_round):
        if container.before_iteration(booster, i, dtrain, evals):
            break
        booster.update(dtrain, i, obj)
        if container.after_iteration(booster, i, dtrain, evals):
            break
    booster = container.after_training(booster)
    if evals_result is not None:
        evals_result.update(container.history)
    return booster.copy()
