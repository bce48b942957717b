#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Which rank is bound to what: on a machine that hwloc makes up, and on this one.
. "$(dirname "$0")/../lib/test.sh"

# arguments -- what the ranks, in order, are bound to
bound() {
    args=
    while [ "$1" != -- ]; do
        args="$args $1"
        shift
    done
    shift
    run $args --report-bindings true
    expect_code 0
    sed -n 's/^ftrun: rank [0-9]*: bound to //p' "$tmp/err" >"$tmp/out"
    expect_out "$@"
}
HWLOC_SYNTHETIC='package:2 l3:2 core:2 pu:2' && export HWLOC_SYNTHETIC
bound -n 2 --bind-to core -- 'core 0, processors 0-1' 'core 1, processors 2-3'
bound -n 2 --bind-to hwthread -- 'hwthread 0, processors 0' 'hwthread 1, processors 1'
bound -n 2 --bind-to socket -- 'socket 0, processors 0-7' 'socket 0, processors 0-7'
bound -n 3 --bind-to socket --map-by socket -- 'socket 0, processors 0-7' 'socket 1, processors 8-15' 'socket 0, processors 0-7'
bound -n 3 --bind-to core --map-by package -- 'core 0, processors 0-1' 'core 4, processors 8-9' 'core 1, processors 2-3'
bound -n 3 --bind-to core --map-by socket --rank-by slot -- 'core 0, processors 0-1' 'core 1, processors 2-3' 'core 4, processors 8-9'
bound -n 2 --bind-to l3cache --map-by l3cache -- 'l3cache 0, processors 0-3' 'l3cache 1, processors 4-7'
bound -n 1 --bind-to numa -- 'numa 0, processors 0-15'
bound -n 3 --map-by socket:PE=2 -- 'cores 0-1, processors 0-3' 'cores 4-5, processors 8-11' 'cores 2-3, processors 4-7'
bound -n 2 --map-by slot:PE=2:HWTCPUS -- 'hwthreads 0-1, processors 0-1' 'hwthreads 2-3, processors 2-3'
bound --map-by ppr:1:socket --bind-to core -- 'core 0, processors 0-1' 'core 4, processors 8-9'
bound -n 9 --bind-to core:overload-allowed --quiet -- 'core 0, processors 0-1' 'core 1, processors 2-3' 'core 2, processors 4-5' \
    'core 3, processors 6-7' 'core 4, processors 8-9' 'core 5, processors 10-11' 'core 6, processors 12-13' \
    'core 7, processors 14-15' 'core 0, processors 0-1'
run -n 9 --bind-to core true
expect_code 0
expect_err 'binding: 9 ranks: too many for 8 cores; ranks are not bound'
expect_err_lines 1
run -n 1 --map-by socket:PE=5 true
expect_err '1 rank with 5 cores each: too many for 8'
run --map-by ppr:2:socket -n 5 true
expect_code 2
expect_err '5 ranks at 4 per host need 2 hosts'
run -n 1 --bind-to none --report-bindings true
expect_err 'rank 0: not bound'
HWLOC_SYNTHETIC='core:2 pu:1'
run -n 1 --bind-to l3cache true
expect_err 'no unit called l3cache; ranks are not bound'
unset HWLOC_SYNTHETIC

# What is said is done.
for unit in core hwthread; do
    run -n 1 --bind-to $unit --report-bindings sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status
    expect_code 0
    expect_err "^ftrun: rank 0: bound to $unit 0, processors $(cat "$tmp/out")\$"
done

run --display-map -n 2 echo one 1 : echo two
expect_code 0
expect_err '^ftrun: job [0-9a-z]\{8\} on .*: 3 ranks, [0-9]* processors$'
expect_err '^ftrun:   ranks 0-1: echo one 1$'
expect_err '^ftrun:   rank 2: echo two$'
expect_err_lines 3
run -n 3 -H localhost:2 true
expect_err '3 ranks on 2 slots: they share processors'
run -n 3 -H localhost:2 --map-by :OVERSUBSCRIBE true
expect_err_lines 0
finish
