#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Under a shell with job control in a pseudo-terminal: Ctrl-Z, bg, fg, Ctrl-C, kill %1; a killed agent in between.
. "$(dirname "$0")/../lib/test.sh"
needs python3
cd "$tmp" || exit 99
own_jobs
timeout -k 5 300 python3 - "$ftrun" <<'EOF'
import os, pty, select, signal, subprocess, sys, time

pid, fd = pty.fork()
if pid == 0:
    os.environ["PS1"] = "prompt> "
    os.execvp("bash", ["bash", "--norc", "--noediting", "-i"])
screen = b""

def fail(what):
    print(f"FAIL: {what}; the screen:\n{screen.decode(errors='replace')}")
    sys.exit(1)

def read_some():
    global screen
    if select.select([fd], [], [], 0.05)[0]:
        screen += os.read(fd, 4096)

def until(what, condition):
    end = time.monotonic() + 120
    while not condition():
        if time.monotonic() > end:
            fail(what)
        read_some()

def type_and_wait(text, wanted, count=1):
    before = screen.count(wanted)
    os.write(fd, text)
    until(f"after {text!r} no {wanted!r}", lambda: screen.count(wanted) >= before + count)

def state(of):
    """The letters of the ranks' states."""
    try:
        return "".join(open(f"/proc/{rank}/stat").read().rpartition(")")[2].split()[0] for rank in of)
    except OSError:
        return "gone"

def ftrun_of(ranks):
    """Our process that is the parent of the ranks; both of ftrun's are in one group."""
    return open(f"/proc/{ranks[0]}/stat").read().rpartition(")")[2].split()[1]

def standby_of(ranks):
    """Our second process, after a takeover: a child of the first as the ranks are."""
    agent = ftrun_of(ranks)
    until("no second process", lambda: others(agent, ranks))
    return int(others(agent, ranks)[0])

def others(agent, ranks):
    children = open(f"/proc/{agent}/task/{agent}/children").read().split()
    return [child for child in children if child not in ranks]

def start():
    if os.path.exists("pids"):
        os.remove("pids")
    # exec: while a shell starts a program it waits uninterruptibly (vfork), also when both have been told to stop.
    os.write(fd, sys.argv[1].encode() + b" -n 2 sh -c 'echo $$ >>pids; exec sleep 1000'\n")
    until("ranks do not start", lambda: os.path.exists("pids") and len(open("pids").read().split()) == 2)
    return open("pids").read().split()

def answers():
    """ftrun's other process knows the ranks' pipes by then; those it does not know it would start again."""
    until("ftrun does not answer", lambda: not subprocess.run([sys.argv[1], "status"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode)

until("no prompt", lambda: b"prompt> " in screen)
ranks = start()
type_and_wait(b"\x1a", b"Stopped")
until("Ctrl-Z does not stop the ranks", lambda: state(ranks) == "TT")
type_and_wait(b"bg\n", b"prompt> ")
until("bg does not continue the ranks", lambda: "T" not in state(ranks) and state(ranks) != "gone")
type_and_wait(b"fg\n", b"ftrun")
until("fg does not give us the terminal", lambda: os.tcgetpgrp(fd) == os.getpgid(int(ftrun_of(ranks))))
type_and_wait(b"\x1a", b"Stopped")
until("the second Ctrl-Z does not stop the ranks", lambda: state(ranks) == "TT")
type_and_wait(b"fg\n", b"ftrun")
until("fg does not continue the ranks", lambda: "T" not in state(ranks) and state(ranks) != "gone")
type_and_wait(b"\x03", b"prompt> ")
until("Ctrl-C leaves ranks", lambda: state(ranks) == "gone")
if screen.count(b"told to stop by signal 2 (SIGINT)") != 1:
    fail("Ctrl-C is not told once")
type_and_wait(b"echo code $?\n", b"code 130")

# Both processes are in the group that kill %1 signals; that counts once.
ranks = start()
type_and_wait(b"\x1a", b"Stopped")
type_and_wait(b"bg\n", b"prompt> ")
os.write(fd, b"kill %1; wait %1; echo code $?\n")
until("kill %1 does not end the job", lambda: b"code 143" in screen)
until("kill %1 leaves ranks", lambda: state(ranks) == "gone")

# The process that the shell waits for has become the agent.
ranks = start()
answers()
os.kill(int(ftrun_of(ranks)), 9)
until("no takeover", lambda: b"goes on with it" in screen)
type_and_wait(b"\x1a", b"Stopped")
until("after a takeover Ctrl-Z does not stop the ranks", lambda: state(ranks) == "TT")
# Found: a process that is being forked when Ctrl-Z is typed gets a SIGTSTP that does not say that it is the terminal's. The new standby passed it
# on, and ftrun stopped once more when it had been continued.
os.kill(standby_of(ranks), signal.SIGTSTP)
type_and_wait(b"fg\n", b"ftrun")
until("after a takeover fg does not continue the ranks", lambda: state(ranks) == "SS")
type_and_wait(b"\x1a", b"Stopped")
until("the second Ctrl-Z after a takeover does not stop the ranks", lambda: state(ranks) == "TT")
type_and_wait(b"fg\n", b"ftrun")
until("the second fg after a takeover does not continue the ranks", lambda: state(ranks) == "SS")
type_and_wait(b"\x03", b"prompt> ")
until("after a takeover Ctrl-C leaves ranks", lambda: state(ranks) == "gone")

# The agent is killed while the job is stopped: the other process takes over when it is continued, and continues the ranks.
ranks = start()
answers()
type_and_wait(b"\x1a", b"Stopped")
until("Ctrl-Z does not stop the ranks", lambda: state(ranks) == "TT")
os.kill(int(ftrun_of(ranks)), 9)
type_and_wait(b"fg\n", b"goes on with it")
until("fg does not continue the ranks of a killed agent", lambda: state(ranks) == "SS")
type_and_wait(b"\x03", b"prompt> ")
until("Ctrl-C leaves ranks of a killed agent", lambda: state(ranks) == "gone")
os.write(fd, b"exit\n")
EOF
code=$? what="ftrun under job control"
expect_code 0
finish
