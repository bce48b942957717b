#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Stock mpi4py: collectives with numpy buffers and with pickled objects, drawn from a seed; every result goes into what is
printed, each line with the rank in front. Run by chaos.py, which kills ranks: DIR/rank.N says how far each is.

    calls.py SEED OPERATIONS DIR"""
import hashlib
import mmap
import os
import random
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lib"))
import outside

import mpi4py
mpi4py.rc.fast_reduce = False  # else allreduce of objects wants a duplicate of the communicator, and messages
from mpi4py import MPI
import numpy as np

TYPES = [np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint64, np.float32, np.float64, np.complex64, np.complex128]


class Progress:
    """pid, operations since the start, furthest at the start, furthest ever: as chaos.py reads it."""

    def __init__(self, path):
        with open(path, "a+b") as f:
            if os.path.getsize(path) < 32:
                f.write(bytes(32))
                f.flush()
            self.map = mmap.mmap(f.fileno(), 32)
        self.base = self.furthest = struct.unpack("4Q", self.map[:32])[3]
        self.map[:8] = bytes(8)
        self.ops = -1
        self.step()
        self.map[:8] = struct.pack("Q", outside.pid())

    def step(self):
        self.ops += 1
        self.furthest = max(self.furthest, self.ops)
        self.map[8:32] = struct.pack("3Q", self.ops, self.base, self.furthest)


class Calls:
    """Each method is one operation; all ranks call the same, with the same random numbers, and data that depend on the rank."""

    def __init__(self, seed):
        self.comm, self.rng, self.digest = MPI.COMM_WORLD, random.Random(seed), hashlib.sha256()
        self.rank, self.size = self.comm.rank, self.comm.size
        self.mean = MPI.Op.Create(self.add, commute=True)

    @staticmethod
    def add(a, b, _):
        b = np.frombuffer(b, np.float64)
        b += np.frombuffer(a, np.float64)

    def data(self, types=None):
        kind = self.rng.choice(types or TYPES)
        count = self.rng.choice([0, 1, 3, 100, 5000, 60000])
        return ((np.arange(count) * 7 + 13 * self.rank + self.rng.randrange(100)) % 101).astype(kind)

    def note(self, what):
        self.digest.update(what.tobytes() if isinstance(what, np.ndarray) else repr(what).encode())

    def buffer_bcast(self):
        x, root = self.data(), self.rng.randrange(self.size)
        self.comm.Bcast(x, root)
        self.note(x)

    def buffer_allreduce(self):
        x, op = self.data(), MPI.SUM
        if not np.issubdtype(x.dtype, np.complexfloating):
            op = self.rng.choice([MPI.SUM, MPI.MAX, MPI.MIN])
        y = np.empty_like(x)
        self.comm.Allreduce(x, y, op)
        self.comm.Allreduce(MPI.IN_PLACE, x, op)
        assert (x == y).all()
        self.note(x)

    def own_operation(self):
        x = self.data([np.float64])
        y = np.empty_like(x)
        self.comm.Allreduce(x, y, self.mean)
        self.comm.Allreduce(MPI.IN_PLACE, x, MPI.SUM)
        assert (x == y).all()
        self.note(x)

    def buffer_reduce(self):
        x, root = self.data(), self.rng.randrange(self.size)
        y = np.empty_like(x)
        self.comm.Reduce(x, y if self.rank == root else None, MPI.SUM, root)
        self.comm.Reduce(MPI.IN_PLACE if self.rank == root else x, x if self.rank == root else None, MPI.SUM, root)
        if self.rank == root:
            assert (x == y).all()
            self.note(y)

    def buffer_allgather(self):
        x = self.data()
        all_of_them = np.empty((self.size, len(x)), x.dtype)
        self.comm.Allgather(x, all_of_them)
        self.note(all_of_them)

    def buffer_allgatherv(self):
        counts = [self.rng.randrange(2000) for _ in range(self.size)]
        x = np.full(counts[self.rank], self.rank, np.int32)
        y = np.empty(sum(counts), np.int32)
        self.comm.Allgatherv(x, [y, counts])
        self.note(y)

    def barrier(self):
        self.comm.Barrier()
        self.comm.barrier()

    def objects(self):
        root, length = self.rng.randrange(self.size), self.rng.randrange(100000)
        self.note(self.comm.bcast({"from": root, "text": "x" * length} if self.rank == root else None, root))
        self.note(self.comm.allgather((self.rank, "y" * self.rank)))
        self.note(self.comm.allreduce([self.rank]))
        self.note(self.comm.allreduce(self.rank, MPI.MAX))

    def local(self):
        """What needs nobody else: names, attributes, groups, info, errors."""
        group = self.comm.Get_group()
        others = group.Excl([self.rank])
        self.note((group.size, group.rank, others.size, MPI.Group.Translate_ranks(group, [0], others), MPI.Group.Compare(group, others)))
        others.Free()
        group.Free()
        info = MPI.Info.Create()
        info.Set("key", str(self.rank))
        self.note((info.Get("key"), info.Get("none"), info.Get_nkeys()))
        info.Free()
        key = MPI.Comm.Create_keyval()
        self.comm.Set_attr(key, self.rank)
        self.note((self.comm.Get_attr(key), self.comm.Get_attr(MPI.TAG_UB), self.comm.name, self.comm.is_inter, MPI.DOUBLE.name))
        self.comm.Delete_attr(key)
        MPI.Comm.Free_keyval(key)
        try:
            self.comm.Bcast(np.zeros(1), self.size)
        except MPI.Exception as e:
            self.note((e.Get_error_class() == MPI.ERR_ROOT, str(e)))
        else:
            raise AssertionError("a root that does not exist is accepted")


def main():
    seed, operations, where = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    calls = Calls(seed)
    progress = Progress(f"{where}/rank.{calls.rank}")
    kinds = [calls.buffer_bcast, calls.buffer_allreduce, calls.own_operation, calls.buffer_reduce, calls.buffer_allgather,
             calls.buffer_allgatherv, calls.barrier, calls.objects, calls.local]
    for i in range(operations):
        call = calls.rng.choice(kinds)
        call()
        progress.step()
        if i % 10 == 0:
            print(calls.rank, i, call.__name__, calls.digest.hexdigest()[:16], flush=True)
    print(calls.rank, "end", MPI.Get_library_version().split()[0], calls.size, calls.digest.hexdigest())


main()
