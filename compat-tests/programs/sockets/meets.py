# SPDX-License-Identifier: BSD-3-Clause
"""A job with a network of its own: rank 0 is an asyncio server, the others are its clients. No MPI."""

import asyncio
import os
import random

RANK, SIZE = int(os.environ['RANK']), int(os.environ['WORLD_SIZE'])
WHERE = os.environ['MASTER_ADDR'], int(os.environ['MASTER_PORT'])


class Sum:
    """Of a stream of bytes: how many, and a checksum of their order."""

    def __init__(self):
        self.bytes = self.check = 0

    def add(self, data):
        self.bytes += len(data)
        for byte in data:
            self.check = (self.check * 31 + byte) & 0xffffffff

    def __str__(self):
        return '%d %d' % (self.bytes, self.check)


async def serve():
    seen, ended = {}, asyncio.Event()

    async def on_client(reader, writer):
        total = Sum()
        name = ''
        while line := await reader.readline():
            total.add(line)
            name = line.split()[0].decode()
            writer.write(b'%s\n' % str(total).encode())
            await writer.drain()
        seen[name] = str(total)
        writer.close()
        if len(seen) == SIZE - 1:
            ended.set()

    server = await asyncio.start_server(on_client, *WHERE)
    await ended.wait()
    server.close()
    for name in sorted(seen):
        print(RANK, name, seen[name], flush=True)


async def talk():
    chance = random.Random(RANK)
    while True:
        try:
            reader, writer = await asyncio.open_connection(*WHERE)
            break
        except OSError:
            await asyncio.sleep(0.05)
    total = Sum()
    for i in range(60):
        line = b'client%d %s\n' % (RANK, b'word%d ' % i * chance.randrange(1, 2000))
        writer.write(line)
        await writer.drain()
        total.add(line)
        answer = await reader.readline()
        assert answer == b'%s\n' % str(total).encode(), answer
        await asyncio.sleep(chance.random() * 0.01)
    writer.write_eof()
    assert await reader.read() == b''
    print(RANK, total, flush=True)


asyncio.run(talk() if RANK else serve())
