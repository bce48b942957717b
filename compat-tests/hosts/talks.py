# SPDX-License-Identifier: BSD-3-Clause
"""Ranks with connections of their own between hosts, without MPI (connections.sh): talks.py ROUNDS. Rank 0 answers each line of the others with a
checksum of all that it has heard of that one; each end knows what it should be."""

import os
import socket
import sys
import time
import zlib

RANK, SIZE, ROUNDS = int(os.environ['RANK']), int(os.environ['WORLD_SIZE']), int(sys.argv[1])
WHERE = os.environ['MASTER_ADDR'], int(os.environ['MASTER_PORT'])


def line_of(rank, n):
    return b'%d %d %s\n' % (rank, n, b'word%d ' % n * (n * 37 % 500))


def answer():
    with socket.create_server(WHERE) as server:
        peers = {}
        while len(peers) < SIZE - 1:
            stream = server.accept()[0].makefile('rwb')
            peers[int(stream.readline())] = stream
        heard = dict.fromkeys(peers, 0)
        for n in range(ROUNDS):
            for rank in sorted(peers):
                line = peers[rank].readline()
                assert line == line_of(rank, n), (rank, n, line[:40])
                heard[rank] = zlib.crc32(line, heard[rank])
                peers[rank].write(b'%d\n' % heard[rank])
                peers[rank].flush()
            if n == 0 or n % 20 == 19:
                print('round', n + 1, flush=True)
        for rank in sorted(peers):
            assert peers[rank].read() == b''
    print(RANK, *[heard[rank] for rank in sorted(heard)], flush=True)


def ask():
    while True:
        try:
            stream = socket.create_connection(WHERE).makefile('rwb')
            break
        except OSError:
            time.sleep(0.05)
    stream.write(b'%d\n' % RANK)
    heard = 0
    for n in range(ROUNDS):
        heard = zlib.crc32(line_of(RANK, n), heard)
        stream.write(line_of(RANK, n))
        stream.flush()
        assert int(stream.readline()) == heard, n
        time.sleep(0.01)
    stream.close()
    print(RANK, heard, flush=True)


(ask if RANK else answer)()
