#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# --report: JSON with what happened.
. "$(dirname "$0")/lib.sh"
r=$tmp/report.json
has() { grep -q -e "$1" "$r" || fail "$what: the report does not say $1"; }

run -q --report "$r" -n 2 sh -c '[ $FTMPI_RANK.$FTMPI_INCARNATION = 1.0 ] && kill -9 $$; [ $FTMPI_RANK.$FTMPI_INCARNATION = 1.1 ] && exit 139; sleep 0.25'
expect_code 0
has '"ranks": 2'
has '"exit_code": 0'
has '"signal": 9'
has '"exit_code": 139'
has '"respawn_seconds": 0\.[0-9]'
has '"recover_seconds": null'
has '"peak_memory_bytes": [1-9]'
has '"restarts": 2'
[ "$(grep -c respawn_seconds "$r")" = 2 ] || fail "not two restarts"
run --report "$r" -n 1 sh -c 'exit 4'
expect_code 4
has '"exit_code": 4'
if command -v python3 >/dev/null; then
    python3 -m json.tool "$r" >/dev/null || fail "the report is not JSON"
fi
finish
