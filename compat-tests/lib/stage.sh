# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=dash disable=SC2154 # test.sh sets tmp, top_builddir
# uses stage: an installation made with DESTDIR and then moved, with a space in its path. Sets
# $prefix, where it is now, and $plain, the directory of mpicc and mpiexec.
unset MAKEFLAGS MAKELEVEL # make check's
unset LD_LIBRARY_PATH LIBRARY_PATH CPATH FTMPI_CC FTMPI_CXX OMPI_CC OMPI_CXX MPICH_CC MPICH_CXX
make -C "$top_builddir" install DESTDIR="$tmp/stage" >"$tmp/install.log" 2>&1 || { tail "$tmp/install.log"; exit 99; }
prefix=$(cd "$tmp/stage" && find . -name ftmpicc -type f | sed 's|^\./||; s|/bin/ftmpicc$||')
mkdir "$tmp/moved here" && mv "$tmp/stage/$prefix" "$tmp/moved here/ftmpi" || exit 99
prefix="$tmp/moved here/ftmpi" plain=$(dirname "$(find "$tmp/moved here" -name mpiexec)")
