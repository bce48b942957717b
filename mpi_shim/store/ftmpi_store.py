# SPDX-License-Identifier: BSD-3-Clause
"""The store of an ftmpi job: keys and values that all ranks share. Whatever is killed, each call is done once, and a rank that comes back is
answered as its predecessor was. See docs/store.md.

    import ftmpi_store
    store = ftmpi_store.Store()
    ticket = store.add("tickets")                    # 1, 2, ... each to one rank
    store.set("model", model.tobytes())
    blob = store.wait("model", timeout=60)           # bytes; TimeoutError
    store.compare_and_swap("leader", None, str(store.rank))

Start it by `ftrun -n 4 python3 program.py`. Without ftrun it is a store of this process alone."""
import atexit
import ctypes
import threading

__all__ = ["Error", "Store"]

NONE = -1  # MPIX_STORE_NONE
FOREVER = -1.0  # MPIX_STORE_FOREVER


class Error(RuntimeError):
    """What is wrong, in one line."""


def _bytes(what, value):
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    raise TypeError(f"ftmpi_store: {what} is of type {type(value).__name__}; it has to be str or bytes")


class _Library:
    """libmpi.so.40 of the directory that ftrun leads its ranks to; without ftrun libftmpi."""

    def __init__(self):
        for name in ("libmpi.so.40", "libftmpi.so.0"):
            try:
                self.c = ctypes.CDLL(name)
                self.c.MPIX_Store_set  # pylint: disable=pointless-statement
                break
            except (OSError, AttributeError):
                self.c = None
        if self.c is None:
            raise Error("ftmpi_store: this process finds no libmpi.so.40 of ftmpi's, or one without a store: start it with ftrun")
        self.lock = threading.Lock()
        self.world, self.errors_return = (ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(self.c, "ompi_mpi_" + name)))
                                          for name in ("comm_world", "errors_return"))
        there = ctypes.c_int()
        self.c.MPI_Initialized(ctypes.byref(there))
        if not there.value:
            self.c.MPI_Init(None, None)
            atexit.register(self.c.MPI_Finalize)

    def number(self, name):
        n = ctypes.c_int()
        getattr(self.c, name)(self.world, ctypes.byref(n))
        return n.value

    def call(self, name, *arguments):
        """Under the lock. An error is an exception, whatever the error handler of MPI_COMM_WORLD: that ends the job, normally."""
        over, before = ctypes.c_int(), ctypes.c_void_p()
        self.c.MPI_Finalized(ctypes.byref(over))
        if over.value:
            raise Error(f"ftmpi_store: {name} after MPI_Finalize")
        self.c.MPI_Comm_get_errhandler(self.world, ctypes.byref(before))
        self.c.MPI_Comm_set_errhandler(self.world, self.errors_return)
        code = getattr(self.c, name)(*arguments)
        self.c.MPI_Comm_set_errhandler(self.world, before)
        self.c.MPI_Errhandler_free(ctypes.byref(before))
        if code:
            text, length = ctypes.create_string_buffer(1024), ctypes.c_int()
            self.c.MPI_Error_string(code, text, ctypes.byref(length))
            raise Error(f"ftmpi_store: {name}: {text.value.decode(errors='replace')}; what each call takes is in docs/store.md")


_library = None  # pylint: disable=invalid-name


def _open():
    global _library  # pylint: disable=global-statement
    if _library is None:
        _library = _Library()
    return _library


class Store:
    """All keys of one begin with `prefix`. One call of a process at a time: a thread that waits keeps the others from theirs."""

    def __init__(self, prefix=""):
        self._prefix = _bytes("the prefix", prefix)
        self._library = _open()
        self.rank, self.size = self._library.number("MPI_Comm_rank"), self._library.number("MPI_Comm_size")

    def _key(self, key):
        key = _bytes("a key", key)
        if not key or b"\0" in key:
            raise ValueError("ftmpi_store: a key has at least one byte, and no zero")
        return self._prefix + key

    def _call(self, name, *arguments):
        with self._library.lock:
            self._library.call(name, *arguments)

    def _find(self, name, *arguments):
        value, n, there = ctypes.c_void_p(), ctypes.c_longlong(), ctypes.c_int()
        with self._library.lock:
            self._library.call(name, *arguments, ctypes.byref(value), ctypes.byref(n), ctypes.byref(there))
            return ctypes.string_at(value, n.value) if there.value else None

    def set(self, key, value):
        """value: str or bytes, up to 1 MiB."""
        value = _bytes("a value", value)
        self._call("MPIX_Store_set", self._key(key), value, ctypes.c_longlong(len(value)))

    def get(self, key):
        """bytes; None: there is nothing."""
        return self._find("MPIX_Store_get", self._key(key))

    def wait(self, key, timeout=300.0):
        """get(), once there is something. timeout: seconds; None: however long. TimeoutError."""
        seconds = FOREVER if timeout is None else float(timeout)
        if timeout is not None and not seconds >= 0:
            raise ValueError(f"ftmpi_store: timeout is {timeout}; 0 or more, or None")
        found = self._find("MPIX_Store_wait", self._key(key), ctypes.c_double(seconds))
        if found is None:
            raise TimeoutError(f"ftmpi_store: nothing was set under {key!r} within {timeout} s")
        return found

    def add(self, key, by=1):
        """Adds to the number that is there, in decimal digits (nothing is 0). What is there then."""
        total = ctypes.c_longlong()
        if not -2**63 <= by < 2**63:
            raise ValueError(f"ftmpi_store: {by} is beyond 64 bits")
        self._call("MPIX_Store_add", self._key(key), ctypes.c_longlong(by), ctypes.byref(total))
        return total.value

    def compare_and_swap(self, key, expected, value):
        """Sets value if what is there is `expected` (None: nothing is). Whether it was. Both together: up to 1 MiB."""
        swapped, value = ctypes.c_int(), _bytes("a value", value)
        before = None if expected is None else _bytes("a value", expected)
        self._call("MPIX_Store_compare_and_swap", self._key(key), before, ctypes.c_longlong(NONE if before is None else len(before)), value,
                   ctypes.c_longlong(len(value)), ctypes.byref(swapped))
        return bool(swapped.value)
