# SPDX-License-Identifier: BSD-3-Clause
"""LightGBM's distributed training over ftmpi's collectives: stock lightgbm (4.x), by the two functions that LGBM_NetworkInitWithFunctions
takes. See docs/lightgbm.md.

    import ftmpi_lightgbm, lightgbm
    with ftmpi_lightgbm.network() as network:
        data = lightgbm.Dataset(...)                # this rank's rows
        model = lightgbm.train({**network, "objective": "binary"}, data)

Start it by `ftrun -n 4 python3 train.py`. Without ftrun, or as one rank, this is plain LightGBM."""
import atexit
import contextlib
import ctypes
import os
import sys
import threading
import traceback

import lightgbm

__all__ = ["Error", "free", "init", "network"]

SUCCESS = 0
IN_PLACE = ctypes.c_void_p(1)  # MPI_IN_PLACE, as in mpi.h
INTS = ctypes.POINTER(ctypes.c_int)
REDUCER = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int)  # from, to, bytes of an element, bytes
REDUCE_SCATTER = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_int, INTS, INTS, ctypes.c_int, ctypes.c_void_p, ctypes.c_int,
                                  ctypes.POINTER(REDUCER))
ALLGATHER = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, INTS, INTS, ctypes.c_int, ctypes.c_void_p, ctypes.c_int)


class Error(RuntimeError):
    """What is wrong with the job, in one line."""


def _or_end(function):
    """C cannot bear Python's exceptions, and to go on without the result would be a wrong model."""
    def call(*arguments):
        try:
            function(*arguments)
        except BaseException:  # pylint: disable=broad-except
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(1)
    return call


class _World:
    """MPI_COMM_WORLD of the library that ftrun leads its ranks to."""

    def __init__(self):
        try:
            self.c = ctypes.CDLL("libmpi.so.40")
            self.c.MPIX_Checkpoint  # pylint: disable=pointless-statement
        except (OSError, AttributeError) as e:
            raise Error("ftmpi_lightgbm: libmpi.so.40, which this process finds, is not ftmpi's: start it with ftrun") from e
        self.world, self.byte, self.double, self.sum = (self.object("ompi_mpi_" + name) for name in ("comm_world", "byte", "double", "op_sum"))
        self.adds = {}  # a function's address: whether it adds doubles
        there, self.rank, self.size = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        self.call("MPI_Initialized", ctypes.byref(there))
        if not there.value:
            self.call("MPI_Init", None, None)
            atexit.register(self.call, "MPI_Finalize")
        self.call("MPI_Comm_rank", self.world, ctypes.byref(self.rank))
        self.call("MPI_Comm_size", self.world, ctypes.byref(self.size))
        self.rank, self.size = self.rank.value, self.size.value
        # C keeps these, so they must live as long as the process.
        self.reduce_scatter_function, self.allgather_function = REDUCE_SCATTER(_or_end(self.reduce_scatter)), ALLGATHER(_or_end(self.allgather))

    def object(self, name):
        return ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(self.c, name)))

    def call(self, name, *arguments):
        """The error handler of MPI_COMM_WORLD ends the job, unless somebody has changed it."""
        if getattr(self.c, name)(*arguments) != SUCCESS:
            raise Error(f"ftmpi_lightgbm: {name} failed")

    def is_sum(self, reducer, size_of):
        """LightGBM says how histograms are reduced by a function. It is tried out whether that adds doubles, as MPI_SUM does."""
        address = ctypes.cast(reducer, ctypes.c_void_p).value
        if address not in self.adds:
            values, into = [0.1 * 3.7 ** i for i in range(9)], [-1.9 * 0.41 ** i for i in range(9)]
            doubles = ctypes.c_double * 9
            there = doubles(*into)
            if size_of == 8:
                reducer(ctypes.addressof(doubles(*values)), ctypes.addressof(there), 8, 72)
            self.adds[address] = list(there) == [a + b for a, b in zip(values, into)]
        return self.adds[address]

    def reduce_scatter(self, data, size, size_of, starts, lengths, _blocks, out, _out_size, reducer):
        """LightGBM does not need `data` any more, and reduces in it, too. Not by an operation of MPI's with a function in Python: a rank that
        comes back is given what came of it, and would take Python's lock less often than before."""
        start, length = starts[self.rank], lengths[self.rank]
        if self.is_sum(reducer[0], size_of):
            self.call("MPI_Allreduce", IN_PLACE, ctypes.c_void_p(data), size // 8, self.double, self.sum, self.world)
            ctypes.memmove(out, data + start, length)
            return
        every = ctypes.create_string_buffer(size * self.size)
        self.call("MPI_Allgather", ctypes.c_void_p(data), size, self.byte, every, size, self.byte, self.world)
        ctypes.memmove(out, ctypes.addressof(every) + start, length)
        for rank in range(1, self.size):
            reducer[0](ctypes.addressof(every) + rank * size + start, out, size_of, length)

    def allgather(self, data, size, starts, lengths, _blocks, out, _out_size):
        """`data` may lie in `out`, elsewhere than it goes to."""
        ctypes.memmove(out + starts[self.rank], data, size)
        self.call("MPI_Allgatherv", IN_PLACE, 0, self.byte, ctypes.c_void_p(out), lengths, starts, self.byte, self.world)


_worlds = []  # one, once it is wanted


def _lightgbm(name, *arguments):
    library = lightgbm.basic._LIB  # pylint: disable=protected-access
    if getattr(library, name)(*arguments) != 0:
        library.LGBM_GetLastError.restype = ctypes.c_char_p
        raise Error(f"ftmpi_lightgbm: {name}: {library.LGBM_GetLastError().decode(errors='replace')}")


def init():
    """LightGBM's network is ftmpi's from now on, for the thread that calls. Gives the parameters for Dataset and train; none for one process
    alone. Before the first Dataset is constructed: its bins are found together."""
    if "FTMPI_RANK" not in os.environ or os.environ.get("FTMPI_SIZE") == "1":
        return {}
    if threading.current_thread() is not threading.main_thread():
        raise Error("ftmpi_lightgbm: the network is of the thread that trains, and ftmpi's calls are the main thread's: train there")
    if not _worlds:
        _worlds.append(_World())
    world = _worlds[0]
    _lightgbm("LGBM_NetworkInitWithFunctions", world.size, world.rank, world.reduce_scatter_function, world.allgather_function)
    return {"num_machines": world.size, "tree_learner": "data", "pre_partition": True}


def free():
    """LightGBM is alone again."""
    if _worlds:
        _lightgbm("LGBM_NetworkFree")


@contextlib.contextmanager
def network():
    """init() and free()."""
    try:
        yield init()
    finally:
        free()
