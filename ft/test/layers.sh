#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Who may include whom (DESIGN section 8), and that what is called pure is: base <- shm <- core <- net <- ft.h, no clock,
# socket, file or exit in core, plan and policy; only libc and pthreads under users' programs.
set -u
src=${top_srcdir:-.}
build=${top_builddir:-.}
bad=0
complain() { echo "layers: $*"; bad=1; }

includes() { grep -hoE '#include "[^"]+"' "$@" | sed 's/#include "//; s/"//' | sort -u; }
for i in $(includes "$src"/ft/base/*.[ch]); do
  case $i in ft/base/*) ;; *) complain "ft/base includes $i" ;; esac
done
for i in $(includes "$src"/ft/shm/*.[ch]); do
  case $i in ft/base/*|ft/shm/*) ;; *) complain "ft/shm includes $i" ;; esac
done
for i in $(includes "$src"/ft/core/*.[ch]); do
  case $i in ft/base/*|ft/shm/*|ft/core/*|ft/ft.h) ;; *) complain "ft/core includes $i" ;; esac
done
for i in $(includes "$src"/ft/net/*.[ch]); do
  case $i in ft/base/*|ft/shm/*|ft/core/*|ft/net/*) ;; *) complain "ft/net includes $i" ;; esac
done
for i in $(includes "$src"/ft/snap/*.[ch]); do
  case $i in ft/base/*|ft/shm/*|ft/snap/*) ;; *) complain "ft/snap includes $i" ;; esac
done
for i in $(includes "$src"/ft/store/*.[ch]); do
  case $i in ft/base/*|ft/store/*|config.h) ;; *) complain "ft/store includes $i" ;; esac
done
for i in $(includes "$src"/mpi_shim/*.[ch]); do
  case $i in ft/base/*|ft/ft.h|mpi_shim/*|mpi.h|ftmpi.h|*.h) ;; *) complain "mpi_shim includes $i" ;; esac
  case $i in ft/shm/*|ft/core/*) complain "mpi_shim includes $i: ft.h is all it sees" ;; esac
done

# Undefined symbols of the pure parts: memory and text functions and our own, nothing of the system.
pure=$(find "$build/ft/core" -path '*.libs*' -name '*.o'; find "$build/launcher" -name '*policy*.o' ! -name '*test*')
[ -n "$(echo "$pure" | grep core)" ] || complain "no objects of ft/core in $build"
for o in $pure; do
  for s in $(nm -u "$o" | awk '{print $2}'); do
    case $s in
      ft_*|mem*|str*|snprintf|malloc|calloc|realloc|free|_GLOBAL_OFFSET_TABLE_|__stack_chk_fail|__*san_*|__memcpy_chk|__snprintf_chk|policy_*|ftrun_*|__start_*|__ubsan*) ;;
      *) complain "$o calls $s" ;;
    esac
  done
done
exit $bad
