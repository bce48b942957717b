#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Jobs of every kind whose ranks send messages are killed from outside: the output is that of an undisturbed run, byte for byte, and Open
# MPI's where that has what the program calls. Without arguments a sample with fixed seeds; docs/testing.md has a count of all.
#     counts.sh ROWS KILLS [FIRST_SEED [KILLS_A_RUN]]
# kills so many in each of the rows, with as many seeds as that takes. A failing one is printed with the command that repeats it, and what
# it has left is in chaos/kept of the build directory.
. "$(dirname "$0")/../lib/test.sh"
rows=${1-two eight spill forget anysome threads checkpoint} least=${2-1} first=${3-1} each=${4-} steps=200 some=3
if [ $# -gt 0 ]; then steps=1500 some=40; fi

# Open MPI's builds, for a count only: messages.sh and threaded.sh compare a sample.
if [ $# -gt 0 ] && command -v mpicc.openmpi >/dev/null && command -v mpirun.openmpi >/dev/null; then
    mpicc.openmpi -O2 -w -D_GNU_SOURCE -I"$top_srcdir" -o "$tmp/patterns" "$here"/patterns*.c "$here/progress.c" &&
        mpicc.openmpi -O2 -w -D_GNU_SOURCE -I"$top_srcdir" -o "$tmp/threaded" "$here/threaded.c" "$here/progress.c" -lpthread ||
        fail "not compiled with Open MPI"
fi
# row NAME RANKS OPTIONS PROGRAM ARGUMENT...
row() {
    name=$1 ranks=$2 options=$3 program=$4 peer=
    shift 4
    case " $rows " in *" $name "*) ;; *) return 0 ;; esac
    [ ! -x "$tmp/$program" ] || peer="$tmp/$program $* -s {seed}"
    case $program in patterns | threaded) set -- -o "$@" -s '{seed}' -p '{dir}' ;; esac
    echo "$name: $ranks ranks, $options, $program $*"
    python3 "$here/chaos.py" --ftrun "$ftrun" --ranks "$ranks" --ftrun-args "$options" --first-seed "$first" --seeds 1 \
        --kills "${each:-$some}" --least "$least" --patience 100000 --timeout 300 --sum '([0-9]+) of any source' --peer "$peer" \
        --keep "$built/kept" -- "${built%/chaos}/${program_in:-chaos}/$program" "$@" || failed=1
}
near='--snapshot 0.05'
none='--snapshot off'
row two 2 "$near" patterns -n $steps
row two-off 2 "$none" patterns -n $steps
row three 3 "$near" patterns -n $steps
row three-off 3 "$none" patterns -n $steps
row four 4 "$near" patterns -n $steps
row four-off 4 "$none" patterns -n $steps
row eight 8 "$near" patterns -n $((steps / 2))
row eight-off 8 "$none" patterns -n $((steps / 2))
row sixteen 16 "$near" patterns -n $((steps / 4))
row sixteen-off 16 "$none" patterns -n $((steps / 4))
# The log is larger than its memory: in a file, released behind snapshots, or forgotten, and then all begin again.
row spill 4 "$none --log-limit 16M --log-spill $tmp" patterns -n $steps
row spill-near 4 "$near --log-limit 16M --log-spill $tmp" patterns -n $steps
row forget 3 "$none --log-limit 16M --log-full forget --start-over always" patterns -n $steps
# Receives of any source alone.
for pattern in anysome anysource probes server work allfree persistent; do
    row $pattern 4 "$near" patterns -k $pattern -n $steps
    row $pattern-off 4 "$none" patterns -k $pattern -n $steps
done
# What a rank was told of its threads it is told again only with what else it did.
if records; then
    row threads 3 "$near" threaded -t 3 -n $((steps / 4))
    row threads-zero 3 '--snapshot 1000' threaded -t 3 -n $((steps / 4))
    row threads-two 2 "$near" threaded -t 4 -n $((steps / 4))
    row threads-four 4 "$near" threaded -t 2 -n $((steps / 4))
    row threads-eight 8 "$near" threaded -t 2 -n $((steps / 8))
fi
program_in=abi
row communicators 4 "$near" communicators -o -n 1500 -p '{dir}'
row communicators-off 4 "$none" communicators -o -n 1500 -p '{dir}'
row intercommunicators 4 "$near" intercommunicators -o -n 1000 -p '{dir}'
row intercommunicators-off 4 "$none" intercommunicators -o -n 1000 -p '{dir}'
program_in=checkpoint
if [ $# -gt 0 ]; then steps=900; fi # rounds are in tags
row checkpoint 3 "$none" underway $steps 'progress={dir}'
row checkpoint-near 4 "$near" underway $steps 'progress={dir}'
row checkpoint-lazy 3 "$none" underway $steps lazy 'progress={dir}'
row checkpoint-communicators 4 "$near" underway $steps comm 'progress={dir}'
row checkpoint-forget 3 "$none --log-limit 16M --log-full forget --start-over always" underway $steps 'progress={dir}'
finish
