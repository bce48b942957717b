#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Under a pseudo-terminal: prompts, answers, Ctrl-C.
. "$(dirname "$0")/../lib/test.sh"
needs python3
timeout -k 5 300 python3 - "$ftrun" <<'EOF'
import os, pty, select, sys, time

def run(wait_for, send, arguments):
    """Types `send` once `wait_for` is on the screen; returns the screen and the exit code."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(sys.argv[1], ["ftrun"] + arguments)
    screen, sent, end = b"", False, time.monotonic() + 120
    while time.monotonic() < end:
        if not sent and wait_for in screen:
            os.write(fd, send)
            sent = True
        if select.select([fd], [], [], 0.1)[0]:
            try:
                screen += os.read(fd, 4096)
            except OSError:
                break
    return screen, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

def check(what, got, want):
    if got != want:
        print(f"FAIL: {what}: {got}, not {want}")
        sys.exit(1)

check("prompt", run(b"name? ", b"you\n", ["-n", "2", "sh", "-c",
      '[ $FTMPI_RANK = 0 ] || exit 0; printf "name? "; read name; echo hello $name']),
      (b"name? you\r\nhello you\r\n", 0))
check("what was typed before a death is read again", run(b"name? ", b"you\n", ["-q", "-n", "2", "sh", "-c",
      '[ $FTMPI_RANK = 0 ] || exit 0; printf "name? "; read name; [ $FTMPI_INCARNATION = 2 ] || kill -9 $$; echo hello $name']),
      (b"name? you\r\nhello you\r\n", 0))
check("Ctrl-D", run(b"name? ", b"a line\nhalf\x04\x04", ["-n", "1", "sh", "-c", 'printf "name? "; wc -c']),
      (b"name? a line\r\nhalf11\r\n", 0))
screen, code = run(b"up\r\nup\r\n", b"\x03", ["-n", "2", "sh", "-c", "echo up; while :; do sleep 0.05; done"])
check("Ctrl-C", code, 130)
check("Ctrl-C", screen.count(b"told to stop by signal 2 (SIGINT)"), 1)
EOF
code=$? what="ftrun under a terminal"
expect_code 0
finish
