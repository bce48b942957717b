#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The C++ binding (mpicxx.h): as XGBoost's own MPI engine uses it, with and without ranks that die, one of them within a
# custom reducer; errors; and that the header is accepted by whatever compiles it.
. "$(dirname "$0")/../lib/test.sh"
program=$built/cxxbinding

FTMPI_SNAPSHOT=off # both deaths are of those who begin at the beginning
export FTMPI_SNAPSHOT
rounds() { seq -f 'round %g' 0 9 && echo "cxxbinding ok on $1 ranks"; }

for n in 1 2 4; do
    for how in '' die; do
        run -n $n "$program" $how
        expect_code 0
        rounds $n | cmp -s - "$tmp/out" || { fail "$what: output differs"; head -20 "$tmp/out"; }
        deaths=0
        [ -z "$how" ] || deaths=$((n > 1 ? 2 : 1)) # a single rank reduces nothing, so not there
        [ "$(grep -c 'restarted, restart 1$' "$tmp/err")" = $deaths ] || fail "$what: not $deaths deaths"
    done
done

# The handler at the start ends the job, naming the function.
run -n 2 "$program" fatal
[ "$code" != 0 ] || fail "an error at the start is not fatal"
expect_err 'MPI_Bcast'

cat >"$tmp/use.cc" <<'END'
#ifdef WITHIN_C
extern "C" {
#endif
#include <mpi.h>
#ifdef WITHIN_C
}
#endif
int use()
{
#if !defined(OMPI_SKIP_MPICXX) && !defined(MPICH_SKIP_MPICXX)
    MPI::Op op;
    MPI::Datatype type = MPI_INT;
    if (type == MPI::INT && op != MPI_SUM)
        return MPI::COMM_WORLD.Get_size();
#endif
    return 0;
}
END
# compiles FLAG...: without a warning, and without code that runs before main
compiles() {
    ${CXX:-c++} "$@" -Wall -Wextra -Wshadow -Wconversion -Wold-style-cast -Wcast-function-type -pedantic -Werror \
        -I"$top_srcdir/mpi_shim" -c "$tmp/use.cc" -o "$tmp/use.o" 2>"$tmp/err" || fail "does not compile with $*"
}
for std in 11 14 17 20; do
    for flags in '' -O2 '-O2 -fPIC' -fno-exceptions -fno-rtti -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX -DWITHIN_C; do
        compiles -std=c++$std $flags
        readelf -SW "$tmp/use.o" | grep -q 'init_array' && fail "runs code before main with -std=c++$std $flags"
    done
done
compiles -std=c++98 -Wno-long-long

# That the program is what the binding's inventors meant by it.
if command -v mpicxx.openmpi >/dev/null; then
    mpicxx.openmpi -w -c "$here/cxxbinding.cc" -o "$tmp/theirs.o" || fail "Open MPI's header does not take the program"
fi
finish
