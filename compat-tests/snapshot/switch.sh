#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Python's forced switch: 1 s in ranks with threads, or what FTMPI_PYTHON_SWITCH says. A program that sets it, before or after, has what it sets; where
# nothing is recorded, and in processes that a rank starts, it is Python's own.
. "$(dirname "$0")/../lib/test.sh"
cat >"$tmp/switch.py" <<'END'
import ctypes, subprocess, sys, threading

def thread():
    t = threading.Thread(target=int)
    t.start()
    t.join()

def foreign():
    # A thread that a library makes, while Python's others may run.
    lib = ctypes.CDLL(None)
    start = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(lambda unused: 0)
    t = ctypes.c_ulong()
    lib.pthread_create(ctypes.byref(t), None, start, None)
    lib.pthread_join(t, None)

how = sys.argv[1]
if how == 'before':
    sys.setswitchinterval(0.02)
(foreign if how == 'foreign' else thread)()
if how == 'after':
    sys.setswitchinterval(0.03)
    thread()
for i in range(100):
    pass
print(sys.getswitchinterval(), flush=True)
if how == 'child':
    subprocess.run([sys.executable, __file__, 'plain'], check=True)
END
# is WHAT ARGUMENT...: ftrun prints it.
is() {
    wanted=$1
    shift
    got=$(bounded 30 "$ftrun" "$@" 2>&1 | tr '\n' ' ')
    [ "$got" = "$wanted " ] || fail "ftrun $*: $got, not $wanted"
}
python="/usr/bin/python3 $tmp/switch.py"
# shellcheck disable=SC2086
{
    is 1.0 $python plain
    is 1.0 $python foreign
    is 0.02 $python before
    is 0.03 $python after
    is '1.0 0.005' $python child
    is 0.005 --snapshot off $python plain
    is 2.5 -x FTMPI_PYTHON_SWITCH=2.5 $python plain
    is 0.005 -x FTMPI_PYTHON_SWITCH=0 $python plain
    is 0.005 -x FTMPI_PYTHON_SWITCH= $python plain
    is 0.005 -x FTMPI_PYTHON_SWITCH=soon $python plain
}
finish
