# SPDX-License-Identifier: BSD-3-Clause
"""Each rank posts to a web server outside of the job, over one connection: posts.py PORT."""

import http.client
import os
import sys

RANK = os.environ['RANK']
server = http.client.HTTPConnection('127.0.0.1', int(sys.argv[1]))
total = 0
for i in range(150):
    server.request('POST', '/' + RANK, body=b'%d ' % i * (i * 11 % 300))
    total += int(server.getresponse().read())
print(RANK, total, flush=True)
