#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Bad input: one clear line, the right exit code, nothing started.
. "$(dirname "$0")/../lib/test.sh"
touch "$tmp/file" && mkdir "$tmp/dir"

bad() { # code, pattern, arguments
    want=$1 pattern=$2
    shift 2
    run "$@"
    expect_code "$want"
    expect_err "$pattern"
    expect_err_lines 1
    expect_no_out
}
bad 2 'no program given'
bad 2 'no program given' -n 2
bad 2 'at least one rank' -n 0 true
bad 2 'not a valid value' -n x true
bad 2 'too many' -n 100000 true
bad 2 'did you mean --max-restarts' --max-restart 3 true
bad 2 'not a valid value' --log-limit 12Q true
bad 2 'not a valid value' --max-restarts -1 true
bad 2 '"300" is not a valid value; wanted: signal, exit codes from 1 to 255' --restart-on 300 true
bad 2 'did you mean -vvv?' -vvvv true
bad 2 '"never" is not a valid value; wanted: on|off' --snapshot-threads never true
bad 2 '"1" is not a valid value; wanted: on|off' --snapshot-threads=1 true
# A misspelt launcher was ignored as one of Hydra's, and the job started by ssh.
bad 2 '"exce:h.sh" is not a valid value; wanted: ssh|srun|exec:COMMAND' --launcher exce:h.sh -H a,b true
bad 2 '"foo" is not a valid value' --launcher foo true
run --bootstrap slurm -n 1 true
expect_code 0
expect_err '--bootstrap slurm is ignored'
# A report and a picture in one file: one of them was lost. A link that leads to no file yet was replaced by one.
ln -s target "$tmp/link"
bad 2 'are one file: each needs its own' --report "$tmp/x.json" --timeline "$tmp/./x.json" true
bad 2 'are one file' --report "$tmp/link" --timeline "$tmp/target" true
run --report "$tmp/link" --timeline "$tmp/x.svg" -n 1 true
expect_code 0
[ -L "$tmp/link" ] && [ -s "$tmp/target" ] && [ -s "$tmp/x.svg" ] || fail "--report does not follow a link"
bad 2 'are one file' --report "$tmp/link" --timeline "$tmp/target" true
run --report /dev/null --timeline /dev/null -n 1 true
expect_code 0
run -v -n 1 true
grep -E '[^0-9]1 (ranks|processors|nodes|restarts)' "$tmp/err" && fail "a word in the plural for one"
bad 2 'needs a value' -n
bad 2 'No such file or directory' --wdir "$tmp/nonesuch" true
bad 2 'Not a directory' --wdir "$tmp/file" true
bad 2 'No such file or directory' --report "$tmp/nonesuch/report" true
bad 2 'names no directory' --output-filename :nocopy true
bad 2 'cannot make .*: Not a directory' --output-filename "$tmp/file/files" true
mkdir -p "$tmp/piped/rank.0" && mkfifo "$tmp/piped/rank.0/stdout"
bad 2 'it is a pipe' --output-filename "$tmp/piped:nocopy" true
bad 2 'no such interface' --iface nosuch0 -H a,b true
bad 2 'Not a directory' --ckpt-dir "$tmp/file" true
bad 2 'No such file or directory' --ckpt-dir "$tmp/nonesuch/dir" true
bad 2 'name.* the directory' --resume true
bad 2 'there is no checkpoint in' --ckpt-dir "$tmp/ckpt" --resume true
bad 2 'wanted: yes, no or auto' --resume=perhaps true
bad 2 'a number like 10, or seconds like 30s' --ckpt-every 0 true
bad 2 'not a valid value' --ckpt-every 0s true
bad 2 'not a valid value' --ckpt-every s true
bad 2 'not a valid value' --ckpt-every 5m true
# Wrong values that only the job's memory showed had exit code 1.
bad 2 'No such file or directory' --log-spill "$tmp/nonesuch" true
bad 2 'too small: it must be at least 16M$' --log-limit 1K true
bad 2 'is more memory than .* has available, [0-9]* MiB' --log-prepare 4000G --log-limit 4000G true
bad 127 'command not found' -n 2 no-such-program-anywhere
bad 127 'no such file' -n 2 "$tmp/nonesuch"
bad 126 'permission denied' -n 2 "$tmp/file"
bad 126 'is a directory' -n 2 "$tmp/dir"

# Words about jobs, misspelt, or as other tools have them: no program of the system's is started as a rank.
bad 127 'statsu: command not found; did you mean ftrun status?' statsu
bad 127 'did you mean ftrun attach?' attahc 1234
bad 127 'did you mean ftrun list?' lsit
bad 2 'help foo: there is no such command' help foo
FTMPI_RUN_DIR=$tmp/run && mkdir -m 700 "$FTMPI_RUN_DIR" && export FTMPI_RUN_DIR
for word in ps kill top; do
    run $word
    expect_err 'no job of this user is running'
done
unset FTMPI_RUN_DIR
run help
expect_code 0
grep -q -e '--max-restarts N' "$tmp/out" || fail "help is no help"
run help status
grep -q -e '--watch' "$tmp/out" || fail "help status does not tell of --watch"

# The same, where it needs a particular place or limit.
cd "$tmp" && cp "$(command -v env)" ./here-only
bad 127 'did you mean ./here-only' here-only
(ulimit -n 64 && timeout 120 "$ftrun" -n 4 true 2>"$tmp/err")
code=$? what="ftrun with ulimit -n 64"
expect_code 1
expect_err 'open files'
expect_err_lines 1

run --help
expect_code 0
grep -q -e '--max-restarts N' "$tmp/out" || fail "--help does not list --max-restarts"
run --version
expect_code 0
run --wdir "$tmp/dir" -n 1 pwd
expect_out "$(cd "$tmp/dir" && pwd -P)"
run -n 1 -- ./here-only
expect_code 0
finish
