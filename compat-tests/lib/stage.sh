# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=dash disable=SC2154 # test.sh sets top_builddir
# uses stage: the installation that make check has made for all tests, moved to a path with a space,
# with nothing of the build tree's in the environment. Sets $prefix, where it is now, and $plain,
# the directory of mpicc and mpiexec.
unset MAKEFLAGS MAKELEVEL # make check's
unset LD_LIBRARY_PATH LIBRARY_PATH CPATH FTMPI_CC FTMPI_CXX OMPI_CC OMPI_CXX MPICH_CC MPICH_CXX
[ -e "$top_builddir/compat-tests/staged" ] ||
    { echo "nothing is staged: make check TESTS=" && exit 99; }
prefix=$(cd "$top_builddir/compat-tests/moved here/ftmpi" && pwd -P)
plain=$(dirname "$(find "$prefix" -name mpiexec)")
# stage_again DIRECTORY: a copy of it as `make install DESTDIR=DIRECTORY` makes it, for who wants to
# uninstall it.
stage_again() {
    local configured
    configured=$(cat "$top_builddir/compat-tests/staged")
    mkdir -p "$1${configured%/*}" && cp -a "$prefix" "$1$configured" || exit 99
}
