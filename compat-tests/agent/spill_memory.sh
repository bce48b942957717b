#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A directory of --log-spill that is memory itself (tmpfs): what was spilled counted against the job's limit of memory, so that ranks
# and ftrun were killed until the job was given up. Nothing is spilled there; it is told, with what to do, and the job runs.
. "$(dirname "$0")/../lib/test.sh"
uses memory
own_jobs
hog=$built/hog
cd "$tmp" || exit 99
mkdir small
if [ "$(id -u)" = 0 ]; then alone='unshare -m'; else alone='unshare -rm'; fi
cat >spilling <<'END'
#!/bin/sh
# spilling DIR COMMAND...: in a group with little memory, where DIR is memory
mount -t tmpfs -o mode=1777 none "$1" || exit 77
shift
exec "$@"
END
chmod +x spilling
$alone ./spilling small true 2>err || skip "no tmpfs can be mounted: $(cat err)"

# 320 MB of log.
bounded 120 "$ftrun" -q --snapshot off -n 2 "$hog" 8:2000 >calm || fail "undisturbed: $?"
limited job $((200 << 20))
real=$ftrun
in_memory() { # OPTION...
    # shellcheck disable=SC2154 # lib/memory.sh: group
    cat >ftrun-spilling <<END
#!/bin/sh
exec $alone ./spilling small ./inside $group - $real "\$@"
END
    chmod +x ftrun-spilling
    ftrun=./ftrun-spilling
    run --snapshot off --log-limit 32M --report report.json "$@" -n 2 "$hog" 8:2000
    ftrun=$real
    expect_code 0
    by_rank calm >calm.sorted
    by_rank out | cmp - calm.sorted || fail "$what: the output is not that of an undisturbed run"
    [ "$(reported report.json spilled_bytes)" = 0 ] || fail "$what: something is spilled"
}
forgotten='the log has reached its limit of [0-9]* MiB: its oldest part is forgotten from now on .small is memory itself, tmpfs; --log-spill names'
in_memory --log-spill small
expect_err "^ftrun: --log-spill small is memory itself on .* .tmpfs., so the log.s oldest part is forgotten at its limit, not spilled; a directory on a"
expect_err "$forgotten"
expect_err_lines 2
# Who has not asked for it hears of it only if it comes to that.
TMPDIR=small
export TMPDIR
in_memory
expect_err "$forgotten"
expect_err_lines 1

# Nor is /tmp the default where that is memory, if /var/tmp is on a disk.
unset TMPDIR
if [ -w /var/tmp ] && [ "$(stat -f -c %T /var/tmp)" != tmpfs ] && [ -d /mnt ]; then
    cat >with-tmp <<'END'
#!/bin/sh
mount --bind /tmp /mnt && mount -t tmpfs none /tmp && ln -s /mnt/* /tmp || exit 77
exec "$@"
END
    chmod +x with-tmp
    bounded 60 $alone ./with-tmp "$ftrun" -v -n 1 true 2>err
    code=$?
    if [ $code != 77 ]; then
        expect_code 0
        expect_err 'log limit [0-9]* MiB, then /var/tmp'
    fi
fi
finish
