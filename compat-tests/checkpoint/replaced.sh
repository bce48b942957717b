#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The directory of --ckpt-dir is removed and made again while the job runs (a cleaner, a remount): checkpoints go to the one that its
# name leads to, also the last one if that had been written before. One that has come to be another job's is left alone. What is there
# at the end is told. (Nothing was written any more, and a version was said to be there that was not.)
# shellcheck disable=SC2154 # what is not assigned here is by: uses checkpoints hosts
. "$(dirname "$0")/../lib/test.sh"
uses checkpoints hosts
small=80000

# The job stays until `end` is there, after its last version.
cat >stays <<'END'
#!/bin/sh
"$@" || exit
while [ ! -e end ]; do sleep 0.02; done
END
chmod +x stays
job() {
    rm -rf end
    begin "$@"
}
# (The job may write into it while it is removed.)
again() { mv ckpt removed && mkdir ckpt && until rm -rf removed 2>/dev/null; do :; done; }
moved='^ftrun: --ckpt-dir ckpt: it is another directory than before (removed and made again?); checkpoints go there from now on$'
expect_resumed() { # with version
    run "$@" --ckpt-dir ckpt --resume -n 2 ./stays "$resumejob" 12 $small 0
    expect_code 0
    expect_err "begins with version 10"
}

for on in '' "--launcher exec:$go -H a,b"; do
    # While versions are made.
    rm -rf ckpt
    job $on --ckpt-dir ckpt -n 2 ./stays "$resumejob" 10 $small 100
    wait_for has_version 2
    again
    wait_for has_version 10
    : >end
    ended
    expect_code 0
    [ "$(grep -c "$moved" err)" = 1 ] || fail "$what: it is not told once where checkpoints go: $(cat err)"
    expect_resumed $on

    # After the last one.
    rm -rf ckpt
    job $on --ckpt-dir ckpt -n 2 ./stays "$resumejob" 10 $small 0
    wait_for has_version 10
    again
    : >end
    ended
    expect_code 0
    expect_err "$moved"
    has_version 10 || fail "$what: the last version is not there"
    expect_resumed $on

    # Removed and not made again.
    rm -rf ckpt
    job $on --ckpt-dir ckpt -n 2 ./stays "$resumejob" 10 $small 0
    wait_for has_version 10
    mv ckpt removed && rm -rf removed
    : >end
    ended
    expect_code 0
    has_version 10 || fail "$what: the last version is not there"

    # Now another job's; and then no directory at all. (The name is changed at once: a directory that is being filled would be taken.)
    mv ckpt other && mkdir first && ln -s first ckpt
    job $on --ckpt-dir ckpt -n 2 ./stays "$resumejob" 10 $small 50
    wait_for has_version 1
    cp -a other second && ln -s second new && mv -T new ckpt
    wait_for told 'it is another directory than before, with checkpoints of job [0-9a-z]*; the job goes on without a checkpoint there$'
    rm -rf ckpt && : >ckpt
    : >end
    ended
    expect_code 0
    expect_err '^ftrun: --ckpt-dir ckpt: at the end of the job there is no checkpoint there$'
    diff -r other second || fail "$what: the other job's checkpoints were changed"
    rm -rf other first second ckpt
done
finish
