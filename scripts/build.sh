# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Sourced by the other scripts, in the top directory: build_in(), an out-of-tree build that does only what is missing.

# Changes when a package is installed: what configure found is to be looked for again then.
packages_state=/var/lib/dpkg/status

# configure_here CONFIGURE-ARGUMENT...: in the build directory; a tree that is configured keeps its arguments.
configure_here() {
  if [ ! -e Makefile ]; then
    "$top/configure" "$@"
  elif [ -n "$(find "$packages_state" -newer config.status 2>/dev/null)" ]; then
    ./config.status --recheck && ./config.status
  fi
}

# build_in DIRECTORY [CONFIGURE-ARGUMENT...]: leaves a configured and made tree there (or only $build_targets made). What the tools say goes to
# DIRECTORY/build.log; its end is shown if they fail.
build_in() {
  directory=$1
  shift
  if [ -e config.status ]; then
    echo "$(basename "$0"): the source directory itself is configured; run 'make distclean' there first" >&2
    return 1
  fi
  mkdir -p "$directory"
  top=$(pwd)
  # shellcheck disable=SC2086
  if {
    # configure.ac only: what a changed *.am or *.mk needs is known to the makefile itself
    if [ ! -e configure ] || [ -n "$(find configure.ac -newer configure)" ]; then ./autogen.sh; fi &&
      cd "$directory" && configure_here "$@" && make -j"$(nproc)" ${build_targets-}
  } >"$directory.log" 2>&1; then
    cd "$top" && mv "$directory.log" "$directory/build.log"
    return 0
  fi
  cd "$top" || return 1
  mv "$directory.log" "$directory/build.log"
  tail -n 25 "$directory/build.log" >&2
  echo "$(basename "$0"): the build failed; all of it is in $directory/build.log" >&2
  return 1
}
