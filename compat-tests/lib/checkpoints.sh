# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=dash disable=SC2154 # test.sh sets tmp, front, job and others
# uses checkpoints: jobs with --ckpt-dir ckpt of which everything is killed at once. Goes to $tmp.
resumejob=$top_builddir/compat-tests/checkpoint/resumejob
own_jobs
seeded
cd "$tmp" || exit 99
files() { find ckpt -name 'checkpoint-*.ftmpi' 2>/dev/null | wc -l; }
newest() { ls ckpt | sed -n 's/^checkpoint-0*\([0-9]*\)\.ftmpi$/\1/p' | sort -n | tail -n 1; }
file() { printf 'ckpt/checkpoint-%010d.ftmpi' "$1"; }
has_version() { v=$(newest 2>/dev/null) && [ "${v:-0}" -ge "$1" ]; }
has_got_on() { has_version "$1" || is_gone "$front"; }
final() { grep -a '^final: ' "$1"; }
# At once: all launcher processes and all ranks; again, for those that were just being forked, until
# there is nobody. Who is dying has no exe any more. While its memory is being freed, which is long
# for a sanitized one, it has all its files: the directory's lock, and a place in out and err, which
# the next job empties. (There were 0 bytes in them.) After that it has no cwd either, and files are
# closed a moment later: those that were seen are waited for until they are zombies.
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
    kill -9 $all
    return 1
}
die() {
    seen=
    wait_for nobody_lives
    wait "$job"
}
expect_finished() {
    wait "$job"
    code=$?
    expect_code 0
    [ "$(final out)" = "$wanted" ] || fail "$what: $(final out), not $wanted"
}
# checks_ckpt_every RUN...: what runs a job with --ckpt-dir ckpt. Versions on disk are as far apart
# as was asked for, but the last one is there in any case.
checks_ckpt_every() {
    rm -rf ckpt
    "$@" --ckpt-every 7 -v "$resumejob" 30 800 20
    expect_code 0
    versions=$(sed -n 's/.*checkpoint \([0-9]*\) is in ckpt.*/\1/p' err | tr '\n' ' ')
    before=0
    for v in $versions; do
        [ "$v" -ge $((before + 7)) ] || [ "$v" = 30 ] || fail "$what: versions $versions"
        before=$v
    done
    [ "$before" = 30 ] || fail "$what: versions $versions"
    rm -rf ckpt
    "$@" --ckpt-every 1000s -v "$resumejob" 30 800 5
    [ "$(grep -c 'is in ckpt' err)" = 2 ] ||
        fail "$what: $(grep -c 'is in ckpt' err) versions are written, not the first and the last"
}

# expect_in_use OPTION...: a second job cannot have the directory of the one that runs. That one is
# then told to end, and leaves its last version: rank 0 prints a round before it makes that version.
expect_in_use() {
    timeout 120 "$ftrun" "$@" --ckpt-dir ckpt --resume "$resumejob" 5 800 1 >out2 2>err2
    code=$?
    expect_code 2
    grep -q 'is in use by another job' err2 || fail "$what: $(cat err2)"
    kill -TERM "$front"
    wait "$job"
    last=$(sed -n 's/^round \([0-9]*\):.*/\1/p' out | tail -n 1)
    has_version $((last - 1)) || fail "told to end: version $last was made, $(newest) is on disk"
}

# ---- programs that kill themselves: $program [ARGS] kill=RANK,VERSION,PLACE,LIFE... ----

# wants RANKS ARGS: what is printed if nobody is killed; sets wanted. Nobody reads input: a prompt, the
# beginning of a line that takes long, is shown to who does, and lines are mixed then.
wants() {
    wanted="$tmp/want $*"
    [ -f "$wanted" ] || timeout 120 "$ftrun" --stdin none -n "$1" "$program" $2 2>/dev/null | sort >"$wanted"
    [ -s "$wanted" ] || fail "$program $2 on $1 ranks prints nothing"
}
# same RANKS OPTIONS ARGS KILL...: as without kills; every one of them has happened. OPTIONS and ARGS are
# one word each. $others=may: they may be restarted, too.
same() {
    ranks=$1 options=$2 args=$3
    shift 3
    wants "$ranks" "$args"
    run --stdin none -n "$ranks" $options --report "$tmp/report" "$program" $args $(printf 'kill=%s ' "$@")
    expect_code 0
    sort "$tmp/out" | cmp -s "$wanted" - || { fail "$what: output differs"; sort "$tmp/out" | diff "$wanted" - | head; }
    grep -q 'not what it was before' "$tmp/err" && fail "$what: a line was printed differently"
    restarts=$(grep -c way_back "$tmp/report")
    [ "$restarts" = $# ] || { [ "${others-}" = may ] && [ "$restarts" -ge $# ]; } || fail "$what: $restarts restarts, not $#"
}
way() { grep -q "\"way_back\": \"$1\"" "$tmp/report" || fail "$what: no way back is \"$1\""; }
# released BYTES: or more, of the log.
released() {
    bytes=$(reported "$tmp/report" released_bytes)
    [ "$bytes" -ge "$1" ] || fail "$what: $bytes bytes of the log are released"
}
