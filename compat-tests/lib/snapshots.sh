# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=dash disable=SC2154 # test.sh sets tmp, front, job and others
# uses snapshots: jobs of snapjob in a directory of their own, $job_dir, and every process that
# belongs to one.
sanitizers handle_segv=0 # ranks that are sent SIGSEGV are to die of it
own_jobs
snapjob=$top_builddir/compat-tests/snapshot/snapjob
seq 1000 4000 >"$tmp/input"
job_dir=$tmp/job
as= # a command that runs another

fresh() { rm -rf "$job_dir" && mkdir -m 777 "$job_dir"; }
# The pids of processes in the job's directory that run the program $1.
processes() {
    # One look at each process there is; ls because find would look at all that /proc has of them.
    for pid in $(ls -l /proc/[0-9]*/cwd 2>/dev/null | sed -n "s|.* /proc/\([0-9]*\)/cwd -> $job_dir\$|\1|p"); do
        case $(readlink "/proc/$pid/exe") in *"$1") echo "$pid" ;; esac
    done
}
ranks() { sed 's/.* //' "$job_dir/starts"; }
pid_of_rank() { sed -n "s/^$1 //p" "$job_dir/starts" | tail -n 1; }
# What runs the program and is none of the ranks that were started.
snapshots() { processes /snapjob | grep -v -x -F -e "$(ranks)"; }
# The job knows one of each rank: whoever dies now is woken.
has_snapshots() { [ "$($as "$ftrun" status --json 2>/dev/null | grep -c '"snapshot": {')" = 3 ]; }
has_started() { [ "$(wc -l <"$job_dir/starts")" = 3 ]; }
nothing_left() { [ -z "$(processes '')" ]; }
# begin_snapjob COMMAND...: it runs ftrun with three ranks. Returns when each has a snapshot; sets
# $job and $front.
begin_snapjob() {
    fresh
    what="ftrun $*"
    (cd "$job_dir" && exec $as env SNAPJOB="$snapjob" sh -c 'echo $$ >front; exec "$@"' sh "$@" \
        <"$tmp/input" >"$tmp/out" 2>"$tmp/err") &
    job=$!
    wait_for has_started
    wait_for has_snapshots
    front=$(cat "$job_dir/front")
}
# expect_end CODE: a job that holds goes on, and nothing of it is left.
expect_end() {
    : >"$job_dir/go"
    wait "$job"
    code=$?
    expect_code "$1"
    wait_for nothing_left || {
        ps -o pid,ppid,pgid,stat,args -p "$(processes '' | paste -sd,)"
        processes '' | xargs kill -9
    }
}
# What three ranks print and write in 1500 units.
undisturbed() {
    fresh
    (cd "$job_dir" && "$ftrun" -q --snapshot off -n 3 "$snapjob" once 1500 \
        <"$tmp/input" >"$tmp/out" 2>"$tmp/err")
    code=$? what="undisturbed"
    expect_code 0
    sort "$tmp/out" >"$tmp/wanted.out"
    cat "$job_dir"/part.* >"$tmp/wanted.parts"
}
expect_same() {
    sort "$tmp/out" | cmp -s - "$tmp/wanted.out" || fail "$what: stdout differs"
    cat "$job_dir"/part.* | cmp -s - "$tmp/wanted.parts" || fail "$what: files differ"
}
