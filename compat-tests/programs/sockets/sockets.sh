#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Ranks with sockets of their own, without MPI: an asyncio server and its clients; clients of Redis, PostgreSQL and a web server that are no
# part of the job. Killed at any time; the servers see each request once, and one connection a rank.
. "$(dirname "$0")/../../lib/test.sh"
needs redis-server
needs psql postgresql
/usr/bin/python3 -c 'import redis, psycopg2' 2>/dev/null || skip "python3-redis or python3-psycopg2 is missing"
what="ranks with sockets"
bounded 200 /usr/bin/python3 "$here/owed.py" "$ftrun" || fail "$what: an error is owed: see above"
bounded 240 /usr/bin/python3 "$here/outside.py" "$ftrun" || fail "$what: see above"
finish
