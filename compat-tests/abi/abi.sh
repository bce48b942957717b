#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The binary interface against the installed Open MPI 4.1: what its header says of every name, the sizes of exported
# objects, prototypes, programs compiled with its header (position independent, not, C++), a binary linked with its
# library, and the classes of errors. Expectations are made here and now from the installed files; without them: SKIP.
set -u
. "$(dirname "$0")/../lib/test.sh"
ours=$top_srcdir/mpi_shim
libs=$top_builddir/.libs
cc=${CC:-cc} cxx=${CXX:-c++}
export CC="$cc"

theirs=$(mpicc.openmpi --showme:incdirs 2>/dev/null | tr ' ' '\n' | head -1)
if [ -z "$theirs" ] || [ ! -f "$theirs/mpi.h" ]; then
  skip "no Open MPI to compare with: apt-get install libopenmpi-dev"
fi
their_lib=$(mpicc.openmpi --showme:libdirs | tr ' ' '\n' | head -1)
case $(mpicc.openmpi --showme:version) in *"Open MPI 4.1"*) ;; *) skip "the installed Open MPI is not 4.1" ;; esac

part() { echo "-- $*"; }

part "every name of its header has the same value in ours"
# -fPIC: handles then are addresses in the library, whose symbols dladdr can name.
sh "$here/names.sh" "$theirs/mpi.h" > "$tmp/names.c" || fail "names.sh"
$cc -w -fPIC "$tmp/names.c" -I"$theirs" -o "$tmp/theirs" -L"$libs" -lftmpi -Wl,-rpath,"$libs" || fail "their header"
$cc -w -fPIC "$tmp/names.c" -I"$ours" -o "$tmp/ours" -L"$libs" -lftmpi -Wl,-rpath,"$libs" || fail "our header lacks names"
"$tmp/theirs" > "$tmp/theirs.txt" && "$tmp/ours" > "$tmp/ours.txt" || fail "names programs"
[ "$(wc -l < "$tmp/theirs.txt")" -gt 300 ] || fail "names.sh finds too little in $theirs/mpi.h"
grep 'no symbol' "$tmp/theirs.txt" && fail "handles that are no symbols"
diff "$tmp/theirs.txt" "$tmp/ours.txt" || fail "values differ (<: Open MPI's header)"

part "exported objects have its sizes, and are all there that programs and wrappers know"
sizes() { nm -D -S --defined-only "$1" | awk 'NF == 4 && $3 ~ /[BDR]/ { print $4, $2 }' | sort; }
sizes "$libs/libftmpi.so" > "$tmp/our.sizes"
sizes "$their_lib/libmpi.so" > "$tmp/their.sizes"
join -v 1 "$tmp/our.sizes" "$tmp/their.sizes" | grep . && fail "objects that Open MPI does not export"
join "$tmp/our.sizes" "$tmp/their.sizes" | awk '$2 != $3 { print; bad = 1 } END { exit bad }' || fail "sizes differ"
[ "$(wc -l < "$tmp/our.sizes")" -gt 120 ] || fail "too few objects exported"
nm -D --defined-only "$their_lib/libmpi.so" | awk '{ print $3 }' | sort -u > "$tmp/theirs.all"
nm -D --defined-only "$libs/libftmpi.so" | awk '{ print $3 }' | sort -u > "$tmp/ours.all"
# What its headers declare, what Fortran programs call, and what its other libraries and the programs of this machine import.
{
  printf '#include <mpi.h>\n#include <mpi-ext.h>\n' | $cc -E -P -x c -I"$theirs" - | grep -oE '\b(P?MPIX?|OMPI|ompi)_[A-Za-z0-9_]+\b'
  grep -iE '^mpi_.*(_fn|_fn_null|_f90)_*$' "$tmp/theirs.all"
  for wrapper in "$their_lib"/libmpi_cxx.so "$their_lib"/libmpi_mpifh.so "$their_lib"/libmpi_usempi*.so; do
    if [ -e "$wrapper" ]; then nm -D -u "$wrapper" | awk '{ sub(/@.*/, "", $NF); print $NF }'; fi
  done
} | sort -u | comm -12 - "$tmp/theirs.all" > "$tmp/wanted"
[ "$(wc -l < "$tmp/wanted")" -gt 1000 ] || fail "the list of wanted symbols is too short"
comm -23 "$tmp/wanted" "$tmp/ours.all" | grep . && fail "symbols that programs or wrappers import and we do not have"

part "prototypes agree"
# Ours, declared a second time after theirs. Names that MPI 3.0 removed are macros there.
{
  echo '#define OMPI_OMIT_MPI1_COMPAT_DECLS 1'
  echo '#include <mpi.h>'
  echo '#undef MPI_Address'; echo '#undef MPI_Errhandler_create'; echo '#undef MPI_Errhandler_get'
  echo '#undef MPI_Errhandler_set'; echo '#undef MPI_Type_extent'; echo '#undef MPI_Attr_delete'
  echo '#undef MPI_Attr_get'; echo '#undef MPI_Attr_put'; echo '#undef MPI_Keyval_create'; echo '#undef MPI_Keyval_free'; echo 'typedef MPI_Comm_errhandler_function MPI_Handler_function;'
  awk '/^FTMPI_API (int|double|MPI_[A-Za-z]+) P?MPI_/ { on = 1 } on { sub(/FTMPI_API/, ""); print } /;/ { on = 0 }' "$ours/mpi.h"
} > "$tmp/prototypes.c"
[ "$(grep -c MPI_ "$tmp/prototypes.c")" -gt 160 ] || fail "no prototypes found"
$cc -w -c -I"$theirs" "$tmp/prototypes.c" -o "$tmp/prototypes.o" || fail "prototypes differ"

part "what the library shows is what the header says, and each function under both names"
nm -D --defined-only "$libs/libftmpi.so" | awk '{ print $3 }' > "$tmp/exports"
grep -oE '^FTMPI_API (int|double|MPI_[A-Za-z]+) P?MPI_[A-Za-z_0-9]+\(' "$ours/mpi.h" | sed 's/.* //; s/(//' | sort > "$tmp/declared"
sort "$tmp/exports" | grep -E '^P?MPI_' | grep -v '^MPI_F_' | comm -13 - "$tmp/declared" | grep . && fail "declared, not exported"
# Fortran's own are left out: they come with Fortran.
nm -D --defined-only "$their_lib/libmpi.so" | awk '$2 ~ /[TW]/ && $3 ~ /^P?MPI_/ { print $3 }' | grep -vE '_FN$|_F90$|_FN_NULL$' | sort |
  { sort "$tmp/exports" > "$tmp/exports.sorted"; comm -23 - "$tmp/exports.sorted"; } | grep . && fail "functions that Open MPI has and we do not"
grep '^PMPI_' "$tmp/exports" | sed 's/^P//' | while read -r f; do grep -qx "$f" "$tmp/exports" || echo "$f"; done | grep . && fail "no MPI_ name"
grep -vE '^P?MPIX?_' "$tmp/exports.sorted" | comm -23 - "$tmp/theirs.all" | grep . && fail "exports that belong to nobody"
readelf -d "$libs/libftmpi.so" | grep -E 'SYMBOLIC|TEXTREL' && fail "copies of handles need -Bsymbolic to be off"
readelf -d "$libs/libftmpi.so" | grep NEEDED | grep -vE 'libc\.so|libpthread|ld-linux' && [ -z "${sanitized-}" ] && fail "more libraries than libc and pthread"

part "programs compiled with its header run with our library"
build() { # NAME COMPILER FLAGS...
  name=$1; shift
  "$@" -w "$here/program.c" -I"$theirs" -o "$tmp/$name" -L"$libs" -lftmpi -Wl,-rpath,"$libs" || { fail "$name does not link"; return; }
  "$tmp/$name" || fail "$name, alone"
  bounded 120 "$ftrun" -n 3 "$tmp/$name" || fail "$name under ftrun"
}
build pie $cc -fPIE -pie
build no-pie $cc -fno-pie -no-pie
build no-copies $cc -fPIC
build optimised $cc -O2
build bind-now $cc -fPIE -pie -Wl,-z,now
build bind-now-no-pie $cc -fno-pie -no-pie -Wl,-z,now
# mpi.h of Open MPI pulls the C++ bindings in, which are a library of their own.
build c++ $cxx -x c++ -DOMPI_SKIP_MPICXX -O2
readelf -r "$tmp/no-pie" | grep -q 'COPY.*ompi_mpi_comm_world' || fail "the non-PIE program has no copy relocations: nothing was tested"

part "a binary linked with its library runs with ours: library.sh says how it finds it"
as=$libs/ftmpi
for flags in "-fPIE -pie" "-fno-pie -no-pie" "-fPIE -pie -Wl,-z,now" "-fno-pie -no-pie -Wl,-z,now" "-fPIC" "-O2"; do
  mpicc.openmpi -w $flags "$here/program.c" -o "$tmp/theirs.bin" || fail "mpicc.openmpi $flags"
  case $flags in *-no-pie*) readelf -r "$tmp/theirs.bin" | grep -q 'COPY.*ompi_mpi_comm_world' || fail "no copy relocations with $flags" ;; esac
  LD_LIBRARY_PATH=$as "$tmp/theirs.bin" || fail "their binary ($flags), alone"
  bounded 120 "$ftrun" -n 2 "$tmp/theirs.bin" || fail "their binary ($flags) under ftrun"
done

alone="env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl=self timeout 60"
part "handles have the same numbers in Fortran, datatypes the same names"
sh "$here/numbers.sh" "$theirs/mpi.h" > "$tmp/numbers.c" && mpicc.openmpi -w "$tmp/numbers.c" -o "$tmp/numbers" || fail "numbers.c"
LD_LIBRARY_PATH=$as "$tmp/numbers" > "$tmp/numbers.ours" || fail "numbers with our library"
if $alone "$tmp/numbers" > "$tmp/numbers.theirs" 2>"$tmp/numbers.err"; then
  [ "$(wc -l < "$tmp/numbers.theirs")" -gt 900 ] || fail "numbers.sh finds too little in $theirs/mpi.h"
  diff "$tmp/numbers.theirs" "$tmp/numbers.ours" || fail "numbers or names differ (<: Open MPI's)"
else
  echo "SKIP of this part: Open MPI does not run here: $(head -1 "$tmp/numbers.err")"
fi

part "wrong arguments raise the same errors, and the same handlers are called"
for program in errors handlers; do
  mpicc.openmpi -w "$here/$program.c" -o "$tmp/$program" || fail "$program.c"
  $alone "$tmp/$program" > "$tmp/theirs" 2>"$tmp/errors.err" || [ $? = 9 ] ||
    { echo "SKIP of this part: Open MPI does not run here: $(head -1 "$tmp/errors.err")"; rm -f "$tmp/theirs"; }
  LD_LIBRARY_PATH=$as "$tmp/$program" > "$tmp/errors.ours" || fail "$program with our library"
  if [ -s "$tmp/theirs" ]; then
    paste -d '|' "$tmp/theirs" "$tmp/errors.ours" | awk -F'[|]' '$1 != $2 { sub(/.*-> /, "", $2); print $1 " | " $2 }' > "$tmp/differences"
    diff "$here/$program.known" "$tmp/differences" || fail "$program: other differences than known (<: $program.known)"
  fi
done

part "groups, info, attributes and names are the same on four ranks"
mpicc.openmpi -w "$here/objects.c" -o "$tmp/objects" || fail "objects.c"
bounded 120 "$ftrun" -n 4 "$tmp/objects" > "$tmp/objects.ours" || fail "objects under ftrun"
if timeout 120 mpirun.openmpi --allow-run-as-root --oversubscribe --mca btl self,vader -n 4 "$tmp/objects" > "$tmp/objects.theirs" 2>"$tmp/objects.err"; then
  [ "$(wc -l < "$tmp/objects.theirs")" -gt 150 ] || fail "objects.c prints too little"
  diff "$tmp/objects.theirs" "$tmp/objects.ours" | grep '^[<>]' > "$tmp/differences"
  diff "$here/objects.known" "$tmp/differences" || fail "objects differ otherwise than known (<: objects.known)"
else
  echo "SKIP of this part: Open MPI's mpirun does not work here: $(head -1 "$tmp/objects.err")"
fi

[ $failed = 0 ] && echo "abi: everything agrees with $(mpicc.openmpi --showme:version | head -1)"
finish
