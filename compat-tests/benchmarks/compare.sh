#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The runner: what it makes of given runs (ratios, means, bars, report), and that it measures, with tiny settings.
. "$(dirname "$0")/../lib/test.sh"
compare="$top_srcdir/benchmarks/compare --build $top_builddir"
report=$tmp/report

says() { grep -qF -- "$1" "$tmp/out" || { fail "not said: $1"; cat "$tmp/out"; }; }
page() { grep -qF -- "$1" "$report/index.html" || fail "not in the report: $1"; }

# Runs that are not there, or none: one line, nothing measured. (A traceback once.)
echo "some,other,table" >"$tmp/other.csv"
echo "1,2,3" >>"$tmp/other.csv"
for given in "$tmp/missing.csv" "$tmp/other.csv"; do
    bounded 120 $compare --from "$given" --report "$report" >"$tmp/out" 2>&1
    [ $? = 2 ] || fail "--from $given: not refused"
    says "compare: error: --from $given: "
    ! grep -q Traceback "$tmp/out" || fail "--from $given: a traceback"
done

# Nor where the report cannot be: before anything is measured. (A traceback once.)
bounded 120 $compare -b barrier -n 2 --minutes 1 --report "$tmp/other.csv/report" >"$tmp/out" 2>&1
[ $? = 2 ] || fail "--report: not refused"
says "compare: error: --report $tmp/other.csv/report: Not a directory"
! grep -q Traceback "$tmp/out" || fail "--report: a traceback"

# Open MPI 10 and 8 (two settings), MPICH 9: the better is 8; ours 4, 2.0x. At the other size 30 against 40: 0.75x. Runs in which the machine moved
# do not count, unless there are no others. What bare+log takes is no rival: 8 over 5 is the most there is. 8 ranks: 10 against 5, three runs of each with the cores near; with them far, or on the way, ours are more.
cat >"$tmp/given.csv" <<'END'
benchmark,ranks,size,mpi,mode,setting,run,operations,us,line_ns_before,line_ns_after,stolen_ms,others,moved,attempt
allreduce,2,8,Open MPI,,default,1,100,1000,60,200,0,0,1,1
allreduce,2,8,ftmpi,within,,1,50,1,60,200,0,0,1,1
allreduce,2,8,Open MPI,,default,1,100,10,60,61,0,0,0,2
allreduce,2,8,Open MPI,,ring,1,100,7,60,61,0,0,0,2
allreduce,2,8,Open MPI,,ring,2,100,8,60,61,0,0,0,2
allreduce,2,8,Open MPI,,ring,3,100,9,60,61,0,0,0,2
allreduce,2,8,MPICH,,default,1,100,9,60,61,0,0,0,2
allreduce,2,8,ftmpi,within,,1,50,4,60,61,0,0,0,2
allreduce,2,8,bare+log,,default,1,100,5,60,61,0,0,0,2
allreduce,2,1024,Open MPI,,default,1,100,30,60,61,0,0,1,1
allreduce,2,1024,ftmpi,within,,1,50,40,60,61,0,0,1,1
allreduce,4,8,Open MPI,,default,1,100,30,60,61,0,0,0,1
allreduce,4,8,ftmpi,within,,1,50,10,60,61,0,0,0,1
END
for run in 1 2 3 4 5; do
    near=27 far=165
    [ $run -le 3 ] || near=160
    [ $run -le 2 ] || far=25
    echo "allreduce,8,8,Open MPI,,default,$run,100,$([ $run -le 3 ] && echo 10 || echo 90),$near,$near,0,0,0,1"
    echo "allreduce,8,8,ftmpi,within,,$run,100,$([ $run -ge 3 ] && echo 5 || echo 40),$far,$far,0,0,0,1"
    echo "allreduce,8,8,ftmpi,within,,$run,100,70,27,160,0,0,1,1"
    echo "allreduce,8,8,ftmpi,within,,$run,100,70,27,33,30,0,1,2"
done >>"$tmp/given.csv"
bounded 120 $compare --from "$tmp/given.csv" --report "$report" >"$tmp/out" 2>&1 || fail "--from: code $?"
says 'allreduce     2 ranks  within    geometric mean of 2: 1.22x, wanted 2.0x: MISSED, 1.60x by bare+log; least 0.75x at 1 KiB BELOW 1.0x, 1 blocks in which the machine moved'
says 'allreduce     4 ranks  within    geometric mean of 1: 3.00x, wanted 2.0x: reached; least 3.00x at 8 B'
says 'allreduce     8 ranks  within    geometric mean of 1: 2.00x, wanted 2.5x: MISSED; least 2.00x at 8 B'
page '<td class="moved">26 ns, 6 of 20, 0 ms, 0%</td>'
page '<td class="moved">60 ns, 2 of 2, 0 ms, 0% *</td>'
says 'Open MPI, not its default setting: allreduce/2/8 B ring'
page '<td>8.000 (25%) ring</td>'
page '<td>1.60x</td>'
page '<td class="bad">1.22x</td>'
page '<td class="good">3.00x</td>'
pictures="latency-allreduce-2.svg bandwidth-allreduce-4.svg ranks-allreduce-8.svg"
if command -v gnuplot >/dev/null; then
    for picture in $pictures; do
        page "<img src=\"$picture\""
        grep -q 'ftmpi within' "$report/$picture" || fail "$picture"
        grep -q '</svg>' "$report/$picture" || fail "$picture is not whole"
    done
fi
# Without gnuplot that is said, and all else is there.
rm -r "$report"
GNUPLOT=no-such-gnuplot bounded 120 $compare --from "$tmp/given.csv" --report "$report" >"$tmp/out" 2>&1 || fail "--from without gnuplot: code $?"
says 'no gnuplot, so no pictures (package gnuplot-nox)'
page 'no gnuplot'
page '<td class="bad">1.22x</td>'

# It measures: every mode, the operations that each run really made, and the kill at the end of a block.
bounded 120 $compare -b bcast,barrier -n 2 -m 8,64k -r 1 --retries 0 --seconds 0.02 --settled 1 --mode all --only ftmpi,bare+log --report "$report" \
    --csv "$tmp/copy.csv" >"$tmp/out" 2>&1 || { fail "measuring: code $?"; cat "$tmp/out"; }
says 'rank 1 was killed after timing, replayed from unit 1 and was verified'
cmp -s "$report/compare.csv" "$tmp/copy.csv" || fail "--csv is not what the report has"
for mode in within sustained settled released unlogged; do
    [ "$(grep -c "^bcast,2,[0-9]*,ftmpi,$mode,,1,[1-9][0-9]*,[0-9.]*," "$tmp/copy.csv")" = 2 ] || fail "rows of bcast, $mode"
    grep -q "^barrier,2,,ftmpi,$mode,,1,[1-9][0-9]*,[0-9.]*," "$tmp/copy.csv" || fail "row of barrier, $mode"
done
page '<h3>bcast, 2 ranks</h3>'
# The least that a log takes, with what it is of only: not barriers.
[ "$(grep -c '^bcast,2,[0-9]*,bare+log,,default,1,[1-9][0-9]*,[0-9.]*,' "$tmp/copy.csv")" = 2 ] || fail "rows of bcast, bare+log"
! grep -q '^barrier.*bare' "$tmp/copy.csv" || fail "bare+log has no barriers"

# The others, where they are: built, a trial of their settings, alternating with ours.
if ! quick; then
    bounded 200 $compare -b barrier -n 2 -r 2 --retries 0 --seconds 0.02 --mode within -v --report "$report" >"$tmp/out" 2>&1 ||
        { fail "with others: code $?"; cat "$tmp/out"; }
    for cc in mpicc.openmpi mpicc.mpich; do
        name='Open MPI' setting='bruck'
        [ $cc = mpicc.mpich ] && name=MPICH setting=dissemination
        if ! command -v $cc >/dev/null; then
            says "$name: not here"
        else
            grep -q "^  $name, -: .*$setting [0-9.]" "$tmp/out" || { fail "the trial of $name"; cat "$tmp/out"; }
            [ "$(grep -c "^barrier,2,,$name,,[^,]*,[12],[1-9]" "$report/compare.csv")" -ge 2 ] || fail "rows of $name"
        fi
    done
fi
# A job is settled if each rank had its snapshot, and more was logged before what is timed (ten times 1 MiB) than is ever held.
python3 - "$top_srcdir/benchmarks" <<'END' || fail "is_settled, or when it may be"
import sys
sys.path.insert(0, sys.argv[1])
from ftbench import cases
def settled(taken, log_mib, held_mib):
    return cases.is_settled({'snapshots': {'taken': taken}, 'log_bytes': log_mib << 20, 'peak_log_bytes': held_mib << 20}, 'allreduce', 4, {1 << 20: 10})
assert settled(4, 510, 500) and not settled(4, 509, 500) and not settled(3, 510, 500)
assert settled(4, 10, 10)           # so little that no snapshot is due for it
assert cases.settled_seconds(2, 2) == cases.settled_seconds(16, 2) == 2 and cases.settled_seconds(256, 2) == 17
END
# An MPI that does not come to an end has figures as far as it got, and that is said.
mkdir "$tmp/bin"
cat >"$tmp/bin/mpicc.openmpi" <<'END'
#!/bin/sh
while [ "$1" != -o ]; do shift; done
echo >"$2"
END
cat >"$tmp/bin/mpirun.openmpi" <<'END'
#!/bin/sh
case "$*" in *--version*) echo "mpirun 4.1" && exit ;; esac
echo "8 10.0"
case "$*" in *"-m 8, "*) exit ;; esac
exec sleep 600
END
chmod +x "$tmp/bin/"*
PATH=$tmp/bin:$PATH bounded 120 $compare -b allreduce -n 2 -m 8,64k -r 1 --retries 0 --limit 1 --no-trial --only openmpi --report "$report" \
    >"$tmp/out" 2>&1 || { fail "no end: code $?"; cat "$tmp/out"; }
grep -q '^8 B  *10\.000 ' "$tmp/out" || fail "what came to an end"
grep -q '^64 KiB  *no end$' "$tmp/out" || fail "what did not"
says 'Open MPI, allreduce on 2 ranks (no end of a few calls in 1 s: none from 64 KiB on)'
for bad in "-b gather" "-n 0" "-m 8:4:4" "--mode off"; do
    bounded 120 $compare $bad >"$tmp/out" 2>&1 && fail "$bad was accepted"
done
finish
