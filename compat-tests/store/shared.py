# SPDX-License-Identifier: BSD-3-Clause
"""shared.py [die]: ranks that use ftmpi_store; what is wrong is said. die: the last rank kills itself, twice."""
import os
import signal
import sys

import ftmpi_store

store = ftmpi_store.Store("test/")
last = store.rank == store.size - 1


def die(life):
    if last and "die" in sys.argv and os.environ.get("FTMPI_INCARNATION") == str(life):
        sys.stdout.flush()
        os.kill(os.getpid(), signal.SIGKILL)


def refused(error, text, function, *arguments):
    try:
        function(*arguments)
    except error as e:
        assert text in str(e), f"{e} does not say {text}"
    else:
        raise AssertionError(f"{function.__name__}{arguments} was not refused")


print(store.rank, "ticket", store.add("tickets"))
die(0)
store.set(f"value/{store.rank}", bytes([store.rank, 0, 255]) * 1000)
for rank in range(store.size):
    assert store.wait(f"value/{rank}") == bytes([rank, 0, 255]) * 1000
die(1)
while True:
    now = store.get("swaps")
    if store.compare_and_swap("swaps", now, str(int(now or 0) + 1)):
        break
if store.add("through") == store.size:
    store.set("all", "")
assert store.wait("all", None) == b""
assert store.get("swaps") == b"%d" % store.size
assert ftmpi_store.Store().get("test/all") == b"" and ftmpi_store.Store("x").get("all") is None
assert store.add("signed", -5) < 0 and not store.compare_and_swap("all", None, "x")

refused(ValueError, "at least one byte", store.set, "", "v")
refused(ValueError, "no zero", store.get, "a\0b")
refused(TypeError, "str or bytes", store.set, "k", 1)
refused(ValueError, "0 or more", store.wait, "k", -1)
refused(TimeoutError, "within 0.01 s", store.wait, "never", 0.01)
refused(ftmpi_store.Error, "MPIX_Store_set", store.set, "k" * 1100, "v")
refused(ftmpi_store.Error, "MPIX_Store_set", store.set, "k", bytes(2**20 + 1))
refused(ftmpi_store.Error, "MPIX_Store_add", store.add, f"value/{store.rank}")
refused(ValueError, "64 bits", store.add, "k", 2**63)
store.set("largest", bytes(2**20))
assert len(store.get("largest")) == 2**20
print(store.rank, "done")
