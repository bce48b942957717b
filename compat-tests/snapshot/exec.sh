#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A rank that starts another program in its place (exec) waits for the end of its snapshots, and no longer. Until 8763bfe it
# was not told when the last one was gone, and found out a second later: each exec took one.
. "$(dirname "$0")/../lib/test.sh"
at_most=60

cat >"$tmp/next" <<'EOF'
#!/bin/sh
test "$1" = 0 && exec echo over
exec "$0" $(($1 - 1))
EOF
chmod +x "$tmp/next"
before=$(date +%s)
run -n 1 "$tmp/next" 30
expect_code 0
expect_out over
took=$(($(date +%s) - before))
test $took -lt 20 || fail "31 programs, each in the place of the one before, took $took s"

run -n 1 env -u LD_PRELOAD echo over
expect_code 0
expect_out over
finish
