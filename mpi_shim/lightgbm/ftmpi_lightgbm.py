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
USER_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, INTS, ctypes.POINTER(ctypes.c_void_p))


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
        self.world, self.byte = self.object("ompi_mpi_comm_world"), self.object("ompi_mpi_byte")
        self.types, self.reducer, self.size_of = {}, None, 0
        there, self.rank, self.size = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        self.call("MPI_Initialized", ctypes.byref(there))
        if not there.value:
            self.call("MPI_Init", None, None)
            atexit.register(self.call, "MPI_Finalize")
        self.call("MPI_Comm_rank", self.world, ctypes.byref(self.rank))
        self.call("MPI_Comm_size", self.world, ctypes.byref(self.size))
        self.rank, self.size = self.rank.value, self.size.value
        self.op = ctypes.c_void_p()
        # C keeps these, so they must live as long as the process.
        self.function = USER_FUNCTION(_or_end(self.reduce))
        self.reduce_scatter_function, self.allgather_function = REDUCE_SCATTER(_or_end(self.reduce_scatter)), ALLGATHER(_or_end(self.allgather))
        self.call("MPI_Op_create", self.function, 1, ctypes.byref(self.op))

    def object(self, name):
        return ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(self.c, name)))

    def call(self, name, *arguments):
        """The error handler of MPI_COMM_WORLD ends the job, unless somebody has changed it."""
        if getattr(self.c, name)(*arguments) != SUCCESS:
            raise Error(f"ftmpi_lightgbm: {name} failed")

    def type(self, size):
        if size not in self.types:
            made = ctypes.c_void_p()
            self.call("MPI_Type_contiguous", size, self.byte, ctypes.byref(made))
            self.call("MPI_Type_commit", ctypes.byref(made))
            self.types[size] = made
        return self.types[size]

    def reduce(self, source, target, count, _type):
        """What MPI calls for a piece of the elements, in the order of the ranks."""
        self.reducer(source, target, self.size_of, count[0] * self.size_of)

    def reduce_scatter(self, data, size, size_of, starts, lengths, _blocks, out, _out_size, reducer):
        """LightGBM does not need `data` any more, and reduces in it, too."""
        self.reducer, self.size_of = reducer[0], size_of
        self.call("MPI_Allreduce", IN_PLACE, ctypes.c_void_p(data), size // size_of, self.type(size_of), self.op, self.world)
        ctypes.memmove(out, data + starts[self.rank], lengths[self.rank])

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
