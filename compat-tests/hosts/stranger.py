#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A stranger: connects to HOST:PORT... for SECONDS and does what strangers do, by seed: says nothing, says garbage, begins a good handshake
and goes on wrongly, repeats what it was told, resets, leaves at once. Prints how often it connected; 1 if anything it was told
was more than a handshake (80 bytes: magic, kind, nonce, proof), or nobody let it in at all."""
import random
import socket
import struct
import sys
import time

HELLO = 64      # magic and kind (32), nonce (32)
PROOF = 32
MAGIC = b'ftmpi1\0\0'


def hello(rng):
    return MAGIC + bytes([rng.randrange(4)]) + bytes(23) + rng.randbytes(32)


def told(s, limit=1 << 16):
    """All that it says until it says nothing for a moment."""
    said = b''
    s.settimeout(0.05)
    try:
        while len(said) < limit:
            more = s.recv(4096)
            if not more:
                break
            said += more
    except (socket.timeout, OSError):
        pass
    return said


def visit(rng, s, recorded):
    kind = rng.randrange(8)
    if kind == 0:
        s.sendall(rng.randbytes(rng.choice([1, 7, 8, 64, 96, 5000])))
    elif kind == 1:
        s.sendall(hello(rng)[:rng.randrange(HELLO)])
    elif kind == 2:
        s.sendall(hello(rng) + rng.randbytes(PROOF))
    elif kind == 3:
        # Its own words, as if they were ours.
        heard = told(s)
        s.sendall(heard)
    elif kind == 4 and recorded:
        s.sendall(rng.choice(recorded))
    elif kind == 5:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
        return b''
    elif kind == 6:
        s.sendall(b'GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    heard = told(s)
    if heard:
        recorded.append(heard)
    return heard


def main():
    seconds, seed = float(sys.argv[1]), int(sys.argv[2])
    targets = [t.rsplit(':', 1) for t in sys.argv[3:]]
    rng, held, recorded, visits, code, why = random.Random(seed), [], [], 0, 0, None
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        host, port = rng.choice(targets)
        try:
            s = socket.create_connection((host.strip('[]'), int(port)), 1)
        except OSError as e:
            why = '%s:%s: %s' % (host, port, e)
            continue
        visits += 1
        try:
            if rng.random() < 0.5:
                held.append(s)      # and there it stays, silent
                continue
            heard = visit(rng, s, recorded)
            if len(heard) > HELLO + PROOF:
                print('a stranger was told %d bytes by %s:%s' % (len(heard), host, port))
                code = 1
        except OSError:
            pass
        if s not in held:
            s.close()
    print('%d connections, %d of them held; refused last: %s' % (visits, len(held), why))
    return code or visits == 0


if __name__ == '__main__':
    sys.exit(main())
