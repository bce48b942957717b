# SPDX-License-Identifier: BSD-3-Clause
"""Each rank adds rows to a table of a PostgreSQL server outside of the job: rows.py PORT."""

import os
import sys

import psycopg2

RANK = int(os.environ['RANK'])
server = psycopg2.connect(host='127.0.0.1', port=int(sys.argv[1]), user='postgres', dbname='postgres', sslmode='disable', gssencmode='disable')
cursor = server.cursor()
for i in range(150):
    cursor.execute('INSERT INTO rows (who, what) VALUES (%s, %s)', (RANK, 'x' * (i * 7 % 500)))
    if i % 5 == 0:
        server.commit()
server.commit()
cursor.execute('SELECT count(*), sum(length(what)) FROM rows WHERE who = %s', (RANK,))
print(RANK, *cursor.fetchone(), flush=True)
