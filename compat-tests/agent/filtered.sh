#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Containers' filters refuse pidfd_open and its kin (Docker's before 20.10), and old kernels have not got them. ftrun did not
# start at all; it does without as far as it can, and else names the call, the kernel and the filter in one line.
. "$(dirname "$0")/../lib/test.sh"
real=$ftrun
filtered() { # errno, calls: ftrun is under this filter from now on
    printf '#!/bin/sh\nexec "%s" %s %s "%s" "$@"\n' "$built/deny" "$1" "$2" "$real" >"$tmp/ftrun"
    chmod +x "$tmp/ftrun"
    ftrun=$tmp/ftrun
}
cd "$tmp" || exit 99
refused='pidfd_open is refused (.*): by the system call filter of a container; Linux [^ ]* has it'

# Each rank is killed, and the process of ftrun that runs the job.
cat >die <<'EOF'
if [ "$FTMPI_INCARNATION" = 0 ]; then
    [ "$FTMPI_RANK" = 1 ] || [ "${1-}" != agent ] || kill -9 $PPID
    sleep 0.3
    kill -9 $$
fi
echo $FTMPI_RANK
EOF
for calls in pidfd_open pidfd_open,pidfd_send_signal,waitid_pidfd; do
    for errno in 1 38; do
        filtered $errno $calls
        run -n 2 sh ./die
        expect_code 0
        sorted
        expect_out 0 1
        expect_err "^ftrun: $refused. There are no snapshots in this job"
        expect_err_lines 4
        run -n 2 sh ./die agent
        expect_code 0
        sorted
        expect_out 0 1
        expect_err 'goes on with it'
    done
done
# The other one.
filtered 1 pidfd_open
begin -n 2 sh -c 'until [ -e go ]; do sleep 0.05; done; echo $FTMPI_RANK'
wait_for answers "$front"
kill -9 "$front"
wait_for told 'goes on with the job'
: >go
wait_for has_lines 2 out
wait "$job" 2>/dev/null

# Nobody needs to know of these.
for calls in clone_pidfd pidfd_send_signal waitid_pidfd pidfd_send_signal,waitid_pidfd,clone_pidfd; do
    filtered 22 $calls
    run -q -n 2 sh ./die
    expect_code 0
    sorted
    expect_out 0 1
    expect_err_lines 0
done

# Old filters refuse these, and there is another way. (getrandom was "a bug in ftmpi", faccessat2 a program that cannot be executed.)
for calls in getrandom faccessat2 getrandom,faccessat2; do
    filtered 1 $calls
    run -q -n 2 sh ./die
    expect_code 0
    sorted
    expect_out 0 1
    expect_err_lines 0
done

# Nor is there anything in place of these: one line names the call, before anything is done. (It did not, and with splice or epoll_wait
# what was printed was lost with exit code 0; with recvmsg nothing went on.)
for errno in 1 38; do
    for call in clone3 epoll_create1 epoll_wait eventfd2 madvise memfd_create pipe2 prctl prlimit64 pwrite64 recvmsg sendfile sendmsg \
        setpgid signalfd4 socketpair splice; do
        [ $call.$errno != clone3.38 ] || continue # the C library does without
        filtered $errno $call
        run -n 2 sh -c 'echo started'
        expect_code 1
        expect_no_out
        expect_err "^ftrun: $call is refused (.*): by the system call filter of a container; Linux [^ ]* has it[.] ftrun does not work without: allow it"
        expect_err_lines 1
    done
done

# Nothing is left.
filtered 1 pidfd_open,clone_pidfd
run -n 2 --snapshot off true
expect_code 1
expect_err "^ftrun: rank 0 cannot be watched: clone gives no descriptor (CLONE_PIDFD), and $refused"
expect_err_lines 1
finish
