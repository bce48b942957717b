#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# With MPI_THREAD_MULTIPLE one thread at a time is in the library: each exported function has SHIM_ENTER at its head (mpi_shim/shim.h),
# but those below, which may be called at any time or only say that they are missing. Looked up in the code that ships.
. "$(dirname "$0")/../lib/test.sh"
needs objdump binutils
free="Init Init_thread Initialized Finalized Query_thread Is_thread_main Wtime Wtick Get_version Get_library_version Abort Pcontrol Call_site
    Bootstrap_cache Query_cuda_support Win_f2c Win_c2f File_f2c File_c2f"
objdump -d --no-show-raw-insn "$top_builddir/.libs/libftmpi.so" | awk -v free="$free" '
    BEGIN { n = split(free, names); for (i = 1; i <= n; i++) exempt[names[i]] = 1 }
    /^[0-9a-f]+ </ {
        name = $2
        gsub(/[<>:]/, "", name)
        sub(/\.cold.*|\.part.*/, "", name)
        public = name ~ /^P?MPIX?_/ && name !~ /^MPI_|^PMPI_T_|@/
        if (public)
            seen[name] = 1
    }
    public && /ft_order_enter/ { enters[name] = 1 }
    public && /<missing[.>]|<missing\.part/ { exempt_now[name] = 1 }
    END {
        for (name in seen) {
            short = name
            sub(/^P?MPIX?_/, "", short)
            if (!enters[name] && !exempt[short] && !exempt_now[name])
                print name
            n_enter += enters[name]
        }
        if (n_enter < 150)
            print "only " n_enter " functions have it"
    }' >"$tmp/lacking"
[ ! -s "$tmp/lacking" ] || { fail "without SHIM_ENTER:"; cat "$tmp/lacking"; }
finish
