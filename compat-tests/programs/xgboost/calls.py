#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goes through the engine's interface from inside stock libxgboost, by its C functions: each of them ends in one
entry of the engine's table, so a wrong entry shows as a wrong answer. To be run on 2 or more ranks; prints one
line per rank and fails on the first answer that is not the right one."""
import ctypes
import os
import socket
import sys

import numpy as np
import xgboost
from xgboost import collective
from xgboost.core import _LIB as lib

SIZE_T = ctypes.c_size_t
PREPARE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
DTYPES = ["int8", "uint8", "int32", "uint32", "int64", "uint64", "float32", "float64"]
FOLDS = [np.maximum, np.minimum, np.add, np.bitwise_or]


def expect(what, got, wanted):
    if got != wanted:
        sys.exit(f"calls.py: {what}: got {str(got)[:200]}, not {str(wanted)[:200]}")


def address(array):
    return array.ctypes.data_as(ctypes.c_void_p)


def contribution(rank, dtype, n):
    return ((np.arange(n) * 7 + rank * 13) % 50).astype(dtype)


def allreduce_every_type(rank, size):
    """Every element type with every operation; with and without the callback that fills the buffer."""
    prepared = []
    for code, dtype in enumerate(DTYPES):
        for op, fold in enumerate(FOLDS):
            if op == 3 and dtype.startswith("float"):
                continue
            for n in (0, 1, 1000):
                wanted = contribution(0, dtype, n)
                for r in range(1, size):
                    wanted = fold(wanted, contribution(r, dtype, n)).astype(dtype)
                mine = contribution(rank, dtype, n)
                buf = np.zeros(n, dtype)

                def fill(_arg, buf=buf, mine=mine):
                    buf[:] = mine
                    prepared.append(1)

                callback = PREPARE(fill)
                if n != 1000:
                    buf[:] = mine
                    callback = PREPARE()
                expect("RabitAllreduce", lib.RabitAllreduce(address(buf), SIZE_T(n), code, op, callback, None), 0)
                expect(f"allreduce {dtype} op {op} n {n}", buf.tolist(), wanted.tolist())
    return len(prepared)


def allgather(rank, size):
    """Slices of different lengths, rank 1's empty. Not by RabitAllgather, which in 1.7.4 multiplies its sizes by the
    element size twice, but by the function below it, which makes the same call to the engine."""
    lengths = [0 if r == 1 else 3 + r for r in range(size)]
    begin = sum(lengths[:rank])
    wanted = np.concatenate([np.full(lengths[r], r + 1, "uint8") for r in range(size)])
    buf = np.zeros(sum(lengths), "uint8")
    buf[begin:begin + lengths[rank]] = rank + 1
    gather = lib["_ZN5rabit6engine9AllgatherEPvmmmm"]
    gather(address(buf), SIZE_T(len(buf)), SIZE_T(begin), SIZE_T(begin + lengths[rank]),
           SIZE_T(lengths[(rank + size - 1) % size]))
    expect("allgather", buf.tolist(), wanted.tolist())


def session(size):
    """One CommunicatorContext; returns the rank."""
    with collective.CommunicatorContext():
        rank = collective.get_rank()
        expect("world size", collective.get_world_size(), size)
        expect("rabit's rank", lib.RabitGetRank(), rank)
        expect("rabit's world size", lib.RabitGetWorldSize(), size)
        expect("is distributed", lib.RabitIsDistributed(), 1)
        expect("previous rank", lib.RabitGetRingPrevRank(), (rank + size - 1) % size)
        expect("version", lib.RabitVersionNumber(), 0)
        expect("host", collective.get_processor_name(), socket.gethostname())
        expect("broadcast", collective.broadcast({"from": rank} if rank == size - 1 else None, size - 1), {"from": size - 1})
        ranks = collective.allreduce(np.eye(size)[rank], collective.Op.SUM)
        expect("all ranks differ", ranks.tolist(), [1.0] * size)
        allreduce_every_type(rank, size)
        allgather(rank, size)
        collective.communicator_print(f"rank {rank} said so")
    expect("alone again", (collective.get_rank(), collective.get_world_size(), lib.RabitGetWorldSize()), (0, 1, 1))
    return rank


def main():
    size = int(sys.argv[1])
    first = session(size)
    # XGBoost programs enter the context once per training: the second time must work like the first, and the
    # time between belongs to no job.
    alone = np.arange(5.0)
    expect("RabitAllreduce alone", lib.RabitAllreduce(address(alone), SIZE_T(5), 7, 2, PREPARE(), None), 0)
    expect("allreduce alone", alone.tolist(), [0.0, 1.0, 2.0, 3.0, 4.0])
    expect("rank of the second time", session(size), first)
    # A child of the program is not the rank: its exit must not end the rank's part in the job.
    child = os.fork()
    if child == 0:
        ctypes.CDLL(None).exit(0)
    expect("child's exit", os.waitpid(child, 0)[1], 0)
    expect("third time", session(size), first)
    print(f"rank {first} of {size} with xgboost {xgboost.__version__}: ok", flush=True)


main()
