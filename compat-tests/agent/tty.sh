#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# --tty: programs take their output for a terminal, also what they start; it stays exact when a rank is killed. Without it they do not.
. "$(dirname "$0")/../lib/test.sh"
uses hosts
records || skip "the recorder is not preloaded in this build"
cat >"$tmp/asks.py" <<'EOF'
import os, subprocess, sys
size = tuple(os.get_terminal_size(1)) if os.isatty(1) else None
print(sys.stdout.isatty(), sys.stderr.isatty(), size, os.isatty(0), flush=True)
subprocess.run(["sh", "-c", "[ -t 1 ] && echo child"])
EOF
unset COLUMNS LINES
run --tty -n 1 /usr/bin/python3 "$tmp/asks.py"
expect_code 0
expect_out 'True True (80, 24) False' child
run -n 1 /usr/bin/python3 "$tmp/asks.py"
expect_out 'False False None False'
hosts a:1,b:1 --tty /usr/bin/python3 "$tmp/asks.py"
sorted
expect_out 'True True (80, 24) False' 'True True (80, 24) False' child child
# Who is started by a rank with --tty, without it, has none.
run --tty -n 1 "$ftrun" -n 1 /usr/bin/python3 "$tmp/asks.py"
expect_out 'False False None False'
# With a terminal there is its size.
script -qec "stty cols 99 rows 33; '$ftrun' --tty -n 1 /usr/bin/python3 '$tmp/asks.py'" "$tmp/typed" >/dev/null 2>&1 </dev/null
grep -q 'True True (99, 33) False' "$tmp/typed" || fail "the size of the terminal: $(cat "$tmp/typed")"

cat >"$tmp/bar.py" <<'EOF'
import os, sys, time
assert sys.stdout.isatty()
for i in range(40):
    sys.stdout.write("\r\033[32m%3d%%\033[0m" % (i * 100 // 39))
    sys.stdout.flush()
    time.sleep(0.01)
    if i == 20 and sys.argv[1] == "killed":
        os.system("kill -9 $PPID") # a child is made once
print()
EOF
run --tty -n 1 /usr/bin/python3 "$tmp/bar.py" alone
mv "$tmp/out" "$tmp/undisturbed"
run --tty -n 1 /usr/bin/python3 "$tmp/bar.py" killed
expect_code 0
expect_err 'was killed by signal 9'
cmp "$tmp/out" "$tmp/undisturbed" || fail "a bar is another one after a kill"
finish
