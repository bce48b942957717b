# SPDX-License-Identifier: BSD-3-Clause
"""Python's own threads: some that live as long as the program, with a lock, a condition, a barrier and a queue between them, and a ThreadPoolExecutor
for work that Python's lock is left for (hashes, zlib). What is printed does not depend on who was first. python.py ROUNDS"""

import concurrent.futures
import hashlib
import os
import queue
import sys
import threading
import time
import zlib

ROUNDS, WORKERS = int(sys.argv[1]), 3
RANK = int(os.environ['RANK'])


class Bench:
    """Workers that take pieces from a queue, and meet at a barrier when the last one is done."""

    def __init__(self):
        self.pieces, self.done, self.lock = queue.Queue(), [], threading.Lock()
        self.idle, self.left = threading.Condition(self.lock), 0
        self.barrier = threading.Barrier(WORKERS)
        self.own, self.rounds_seen = threading.local(), []
        self.threads = [threading.Thread(target=self.work, name='worker %d' % i) for i in range(WORKERS)]
        for t in self.threads:
            t.start()

    def work(self):
        self.own.count = 0
        while (piece := self.pieces.get()) is not None:
            digest = hashlib.sha256(piece).digest()
            for _ in range(40):
                digest = hashlib.sha256(digest + piece).digest()
            self.own.count += 1
            with self.idle:
                self.done.append(digest)
                self.left -= 1
                self.idle.notify_all()
        self.barrier.wait()
        with self.lock:
            self.rounds_seen.append(self.own.count)

    def all_of(self, pieces):
        with self.idle:
            self.done, self.left = [], len(pieces)
        for p in pieces:
            self.pieces.put(p)
        with self.idle:
            while self.left:
                self.idle.wait(timeout=5)
            return b''.join(sorted(self.done))

    def end(self):
        for _ in self.threads:
            self.pieces.put(None)
        for t in self.threads:
            t.join()
        return sum(self.rounds_seen)


def main():
    bench, state, briefly = Bench(), bytes([RANK]), []
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for k in range(ROUNDS):
            state = hashlib.sha512(bench.all_of([bytes([i]) * 20000 + state for i in range(6)])).digest()
            packed = pool.map(lambda i, s=state: zlib.compress(s * 300 + bytes([i]) * 5000, 9), range(8))
            futures = [pool.submit(hashlib.sha256, p) for p in packed]
            state += b''.join(sorted(f.result().digest() for f in concurrent.futures.as_completed(futures)))
            brief = threading.Thread(target=lambda: briefly.append(time.sleep(0.003)))
            brief.start()
            brief.join()
            print('round', k, hashlib.sha256(state).hexdigest()[:16], flush=True)
        alive = threading.active_count()
    print('model', hashlib.sha256(state).hexdigest(), bench.end(), len(briefly), alive, flush=True)


main()
