# SPDX-License-Identifier: BSD-3-Clause
"""Each rank counts and appends at a Redis server outside of the job: counts.py PORT."""

import os
import sys

import redis

RANK = os.environ['RANK']
server = redis.Redis(port=int(sys.argv[1]), socket_timeout=60)
for i in range(250):
    count = server.incr('count' + RANK)
    server.rpush('list' + RANK, '%d %s' % (i, 'v' * (i % 50)))
    if i % 10 == 0:
        with server.pipeline(transaction=True) as both:
            both.incrby('all', i).append('text' + RANK, str(i)).execute()
print(RANK, count, server.llen('list' + RANK), server.strlen('text' + RANK), flush=True)
