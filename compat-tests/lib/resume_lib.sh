# SPDX-License-Identifier: BSD-3-Clause
# Sourced after lib.sh by tests of --ckpt-dir: jobs of which everything is killed at once. Sets seed, job; goes to $tmp. RESUME_SEED repeats the moments of a run.
job=$top_builddir/compat-tests/checkpoint/resumejob
FTMPI_RUN_DIR=$tmp/run
export FTMPI_RUN_DIR
cd "$tmp" || exit 99
seed=${RESUME_SEED:-$(date +%s)}
echo "RESUME_SEED=$seed"
random() { # sets drawn, below $1
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    drawn=$((seed / 65536 % $1))
}
files() { find ckpt -name 'checkpoint-*.ftmpi' 2>/dev/null | wc -l; }
newest() { ls ckpt | sed -n 's/^checkpoint-0*\([0-9]*\)\.ftmpi$/\1/p' | sort -n | tail -n 1; }
file() { printf 'ckpt/checkpoint-%010d.ftmpi' "$1"; }
has_version() { v=$(newest 2>/dev/null) && [ "${v:-0}" -ge "$1" ]; }
has_got_on() { has_version "$1" || is_gone "$front"; }
final() { grep -a '^final: ' "$1"; }
# begin OPTIONS...: leaves pid, and front, the launcher process that the user started
begin() {
    what="ftrun $*"
    rm -f front
    timeout --foreground -k 5 300 sh -c 'echo $$ >front; exec "$@"' sh "$ftrun" --ckpt-dir ckpt "$@" >out 2>err </dev/null &
    pid=$!
    wait_for test -s front
    front=$(cat front)
}
# At once: all launcher processes and all ranks; again, for those that were just being forked, until there is nobody. (Who is dying has no exe any more,
# and for as long as its memory is being freed, which is long for a sanitized one, all its files: the directory's lock, and a place in out and err, which
# the next job empties. There were 0 bytes in them. After that it has no cwd either, and files are closed a moment later: those that were seen are waited for
# until they are zombies.)
nobody_lives() {
    all=$(for cwd in $(find /proc -maxdepth 2 -path '/proc/[0-9]*/cwd' -lname "$tmp" 2>/dev/null); do
        case $(readlink "${cwd%cwd}exe") in
        */resumejob|*/ftrun|*/lt-ftrun) basename "${cwd%/cwd}" ;;
        '') [ ! -e "${cwd%/cwd}" ] || basename "${cwd%/cwd}" ;; # not find itself, which has gone
        esac
    done)
    seen="$seen $all"
    if [ -z "$all" ]; then
        for one in $seen; do
            is_gone "$one" || return 1
        done
        return 0
    fi
    # shellcheck disable=SC2086
    kill -9 $all
    return 1
}
die() {
    seen=
    wait_for nobody_lives
    wait "$pid"
}
expect_finished() {
    wait "$pid"
    code=$?
    expect_code 0
    [ "$(final out)" = "$wanted" ] || fail "$what: $(final out), not $wanted"
}
# checks_ckpt_every RUN...: what runs a job with --ckpt-dir ckpt. Versions on disk are as far apart as was asked for, but the last one is there in any case.
checks_ckpt_every() {
    rm -rf ckpt
    "$@" --ckpt-every 7 -v "$job" 30 800 20
    expect_code 0
    versions=$(sed -n 's/.*version \([0-9]*\) is in ckpt.*/\1/p' err | tr '\n' ' ')
    before=0
    for v in $versions; do
        [ "$v" -ge $((before + 7)) ] || [ "$v" = 30 ] || fail "$what: versions $versions"
        before=$v
    done
    [ "$before" = 30 ] || fail "$what: versions $versions"
    rm -rf ckpt
    "$@" --ckpt-every 1000s -v "$job" 30 800 5
    [ "$(grep -c 'is in ckpt' err)" = 2 ] || fail "$what: $(grep -c 'is in ckpt' err) versions are written, not the first and the last"
}
