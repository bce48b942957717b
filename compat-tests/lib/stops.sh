# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=dash disable=SC2154 # test.sh sets tmp, ftrun and others; the test, $job
# uses stops: a rank, or the agent, is killed at one of its system calls, its stops, again and again.
# The test says what is run, $job, and has two functions: undisturbed, which judges a run without
# a kill, and as_ever, which judges any other.
sanitizers detect_leaks=0 # it cannot look at a traced process
cd "$tmp" || exit 99
killat=$top_builddir/compat-tests/agent/killat
runs=0 # that were drawn

# one RANK OPTIONS PLAN...: a run, with output in out, err and stops.
one() {
    traced=$1 with=$2
    shift 2
    what="killat -r $traced $*, $with"
    # shellcheck disable=SC2086
    timeout -k 5 120 "$killat" -r "$traced" "$@" "$ftrun" $with $job >out 2>err 9>stops
    code=$?
}
# each RANK OPTIONS WHO STOPS: one kill at each of them.
each() {
    n=1
    while [ $n -le "$4" ]; do
        one "$1" "$2" "$3:$n" self
        as_ever
        n=$((n + 1))
    done
}
# walk RANK OPTIONS MANY: so many runs with kills by chance, in turn of a rank and then the agent, of a
# rank and its successor, and of the agent with a rank or all; all: one at each stop. A test is seeded.
walk() {
    one "$1" "$2"
    [ "$code" != 77 ] || skip "nothing can be traced here"
    undisturbed
    of_rank=$(sed -n 's/^rank //p' stops) of_agent=$(sed -n 's/^agent //p' stops)
    [ "${of_rank:-0}" -gt 20 ] && [ "${of_agent:-0}" -gt 20 ] || { fail "$what: $of_rank and $of_agent stops" && return; }
    if [ "$3" = all ]; then
        each "$1" "$2" rank "$of_rank"
        each "$1" "$2" agent "$of_agent"
        return
    fi
    n=1
    while [ $n -le "$3" ]; do
        random "$of_rank" && a=$((drawn + 1)) && random "$of_agent" && b=$((drawn + 1)) && random 200
        case $((n % 4)) in
        0) one "$1" "$2" rank:"$a" self agent:"$b" self ;;
        1) one "$1" "$2" rank:"$a" self rank:$((a + drawn + 1)) self ;;
        2) one "$1" "$2" agent:"$b" self+rank ;;
        3) one "$1" "$2" agent:"$b" ranks ;;
        esac
        as_ever
        n=$((n + 1))
        runs=$((runs + 1))
    done
}
# some MANY PARTS: of what is wanted of all of them, for one; FT_RUNS says otherwise.
some() { if [ "${FT_RUNS:-$1}" = all ]; then echo all; else echo $((${FT_RUNS:-$1} / $2)); fi; }
