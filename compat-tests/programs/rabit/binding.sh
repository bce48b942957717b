#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Rabit's C API as Rabit's Python binding calls it: ranks are killed at random, the output is that of an undisturbed run. And where an
# error must be one.
. "$(dirname "$0")/../../lib/test.sh"
library=$(realpath "$top_builddir/.libs/librabit.so")
python=/usr/bin/python3
[ -x $python ] || skip "no $python"
models="none global local"
seconds=6
if quick; then seconds=1; fi

for model in $models; do
    aside bounded 300 python3 "$here/../../chaos/chaos.py" --ftrun "$ftrun" --ranks 3 --seeds 100 --kills 3 --least 1 --seconds $seconds --timeout 120 \
        -- $python "$here/binding.py" "$library" "$model" 40 '{dir}'
done
asides_end

# Linked by its name, a program of Rabit's gets this library from ftrun.
cat >"$tmp/linked.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
    void *lib = dlopen("librabit.so", RTLD_NOW);
    int (*init)(int, char **) = lib ? (int (*)(int, char **))dlsym(lib, "RabitInit") : 0;
    int (*size)(void) = lib ? (int (*)(void))dlsym(lib, "RabitGetWorldSize") : 0;

    if (!lib || !init || !size)
        return printf("%s\n", dlerror()), 1;
    init(0, 0);
    printf("%d\n", size());
    return 0;
}
END
${CC:-cc} "$tmp/linked.c" -o "$tmp/linked" -ldl || fail "linked.c does not compile"
[ "$(bounded 120 "$ftrun" -n 2 "$tmp/linked" | tr -d '\n')" = 22 ] || fail "librabit.so is not found by its name"

# wrong WHAT PATTERN PROGRAM...: one rank alone is enough
wrong() {
    what=$1 pattern=$2
    shift 2
    bounded 120 "$@" >"$tmp/out" 2>"$tmp/err"
    code=$?
    [ $code -ne 0 ] && [ $code -ne 124 ] || fail "$what: exit code $code"
    grep -q "$pattern" "$tmp/err" || { fail "$what: it does not say \"$pattern\":"; cat "$tmp/err"; }
}
python_call() {
    printf 'import ctypes, sys\nlib = ctypes.CDLL("%s")\nbuf = ctypes.create_string_buffer(64)\nlib.RabitInit(0, None)\n%s\n' "$library" "$1"
}
wrong 'no such type' 'MPI_ERR_TYPE' $python -c "$(python_call 'lib.RabitAllreduce(buf, 4, 10, 0, None, None)')"
wrong 'no such operation' 'MPI_ERR_OP' $python -c "$(python_call 'lib.RabitAllreduce(buf, 4, 2, 4, None, None)')"
wrong 'bits of floats' 'MPI_ERR_OP' $python -c "$(python_call 'lib.RabitAllreduce(buf, 4, 6, 3, None, None)')"
wrong 'no such root' 'MPI_ERR_ROOT' $python -c "$(python_call 'lib.RabitBroadcast(buf, 4, 1)')"
wrong 'a slice beyond the end' "rank 0's slice is bytes 12 to 20 of 16" $python -c "$(python_call 'lib.RabitAllgather(buf, 4, 3, 2, 2, 2)')"
wrong 'ranks that differ' 'MPI_Bcast.*MPI_Allreduce\|MPI_Allreduce.*MPI_Bcast' "$ftrun" -n 2 $python -c "$(python_call '
if lib.RabitGetRank(): lib.RabitBroadcast(buf, 4, 0)
else: lib.RabitAllreduce(buf, 4, 2, 0, None, None)')"

# Without ftrun: a world of one that works.
bounded 120 $python -c "$(python_call '
buf.raw = b"\1\0\0\0\2\0\0\0" + bytes(56)
assert lib.RabitGetWorldSize() == 1 and lib.RabitAllreduce(buf, 2, 2, 2, None, None) == 0 and lib.RabitBroadcast(buf, 64, 0) == 0
assert buf.raw[:8] == b"\1\0\0\0\2\0\0\0"
lib.RabitFinalize()
assert lib.RabitInit(0, None) == 1 and lib.RabitIsDistributed() == 1')" || fail "alone: exit code $?"
finish
