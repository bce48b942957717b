#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""librabit.so through ctypes, as Rabit's Python binding loads and calls it: by path, argument types guessed from the values, models
and broadcast objects pickled. Every result is checked; lines with the rank in front say what was computed. Run by chaos.py, which
kills ranks: DIR/rank.N says how far each is. Checkpoints: none, global, or local (and global). No numpy: arrays are ctypes'.

    binding.py LIBRABIT none|global|local ROUNDS DIR"""
import ctypes
import os
import pickle
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "lib"))
import outside

MAX, MIN, SUM, BITOR = 0, 1, 2, 3
UINT32, FLOAT64 = 3, 7


class Rabit:
    def __init__(self, path):
        self.lib = ctypes.cdll.LoadLibrary(path)
        self.lib.RabitInit(0, (ctypes.c_char_p * 0)())
        self.rank, self.size = self.lib.RabitGetRank(), self.lib.RabitGetWorldSize()

    def host(self):
        length, name = ctypes.c_ulong(), ctypes.create_string_buffer(256)
        self.lib.RabitGetProcessorName(name, ctypes.byref(length), 256)
        assert len(name.value) == length.value
        return name.value.decode()

    def broadcast(self, what, root):
        length = ctypes.c_ulong()
        if root == self.rank:
            data = pickle.dumps(what)
            length.value = len(data)
        self.lib.RabitBroadcast(ctypes.byref(length), ctypes.sizeof(ctypes.c_ulong), root)
        buffer = (ctypes.c_char * length.value)()
        if root == self.rank:
            buffer.raw = data
        self.lib.RabitBroadcast(ctypes.cast(buffer, ctypes.c_void_p), length.value, root)
        return pickle.loads(buffer.raw)

    def allreduce(self, kind, number, values, op, prepare=None):
        buffer = (kind * len(values))(*values)

        def fill(_):
            buffer[:] = prepare()
        function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(fill) if prepare else None
        assert self.lib.RabitAllreduce(ctypes.cast(buffer, ctypes.c_void_p), len(values), number, op, function, None) == 0
        return list(buffer)

    def checkpoint(self, everybodys, own=None):
        a = pickle.dumps(everybodys)
        b = None if own is None else pickle.dumps(own)
        self.lib.RabitCheckPoint(a, len(a), b, len(b) if b else 0)

    def load(self, with_local):
        pairs = [(ctypes.POINTER(ctypes.c_char)(), ctypes.c_ulong()) for _ in range(1 + with_local)]
        where = [ctypes.byref(x) for pair in pairs for x in pair] + [None] * (2 - 2 * with_local)
        version = self.lib.RabitLoadCheckPoint(*where)
        if version == 0:
            assert all(not p and n.value == 0 for p, n in pairs)
            return 0, [None] * len(pairs)
        return version, [pickle.loads(ctypes.string_at(p, n.value)) for p, n in pairs]


class Progress:
    """pid, operations since the start, furthest at the start, furthest ever: as chaos.py reads it."""

    def __init__(self, path):
        self.fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        last = os.pread(self.fd, 32, 0)
        self.furthest = self.base = struct.unpack('4Q', last)[3] if len(last) == 32 else 0
        self.put(0, 0)
        self.put(outside.pid(), 0)

    def put(self, pid, ops):
        self.furthest = max(self.furthest, ops)
        outside.put(self.fd, struct.pack('4Q', pid, ops, self.base, self.furthest), 0)


def main():
    library, model, rounds, directory = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    progress = Progress('%s/rank.%s' % (directory, os.environ['FTMPI_RANK']))
    rabit = Rabit(library)
    rank, size, lib = rabit.rank, rabit.size, rabit.lib
    assert lib.RabitIsDistributed() == 1 and lib.RabitGetRingPrevRank() == (rank - 1) % size and lib.RabitLinkTag() == 0
    assert os.uname().nodename.startswith(rabit.host())
    print(rank, 'of', size, 'begins', flush=True)
    version, state = 0, [None]
    if model != 'none':
        version, state = rabit.load(model == 'local')
    total, own = state[0] or [0.0] * 1000, state[-1] or {'rank': rank, 'rounds': []}
    if model == 'local':
        assert own['rank'] == rank and own['rounds'] == list(range(version))
    for i in range(version, rounds):
        got = rabit.broadcast({'round': i, 'from': i % size, 'fill': 'x' * (i % 7 * 1000)} if rank == i % size else None, i % size)
        assert got == {'round': i, 'from': i % size, 'fill': 'x' * (i % 7 * 1000)}
        progress.put(outside.pid(), 4 * i + 1)
        most = rabit.allreduce(ctypes.c_uint, UINT32, [0] * 3, MAX, lambda r=i: [r, rank + r, 7 * rank])
        assert most == [i, size - 1 + i, 7 * (size - 1)]
        assert rabit.allreduce(ctypes.c_uint, UINT32, [1 << rank], BITOR) == [(1 << size) - 1]
        assert rabit.allreduce(ctypes.c_double, FLOAT64, [], SUM) == []
        progress.put(outside.pid(), 4 * i + 2)
        parts = (ctypes.c_int * (2 * size))(*[0] * (2 * size))
        parts[2 * rank:2 * rank + 2] = [rank, i]
        assert lib.RabitAllgather(parts, 2 * size, 2 * rank, 2, 2, 2) == 0
        assert list(parts) == [x for r in range(size) for x in (r, i)]
        progress.put(outside.pid(), 4 * i + 3)
        add = rabit.allreduce(ctypes.c_double, FLOAT64, [float((rank + 1) * (j + i)) for j in range(1000)], SUM)
        assert add == [float(size * (size + 1) // 2 * (j + i)) for j in range(1000)]
        total = [a + b for a, b in zip(total, add)]
        print(rank, i, got['from'], most, sum(total), flush=True)
        if model == 'local':
            own['rounds'].append(i)
            rabit.checkpoint(total, own)
        elif model == 'global':
            rabit.checkpoint(total)
        assert model == 'none' or lib.RabitVersionNumber() == i + 1
        progress.put(outside.pid(), 4 * i + 4)
    lib.RabitTrackerPrint(b'%d is done' % rank)
    lib.RabitFinalize()
    # Outside: a world of one.
    assert lib.RabitGetRank() == 0 and lib.RabitGetWorldSize() == 1 and lib.RabitIsDistributed() == 0


main()
