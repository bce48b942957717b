#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# loopback.sh 127.0.0.N COMMAND...: for `ftrun --launcher exec:loopback.sh` (benchmarks/hosts --loopback): a node of this host, on a processor of its own
# as long as there are enough (N from 2 on).
node=${1##*.}
shift
cd / || exit
# As ssh, the launcher makes one line of the words and a shell reads it.
exec taskset -c $(((node - 2) % $(nproc))) sh -c "$*"
