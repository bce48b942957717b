#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Threads of Python under locks.sh: locks, queues, pools; chains as test/locks.h has them. A forced switch of the interpreter falls on some
instruction, not on a call: so none is forced here (docs/outcomes.md)."""
import os
import queue
import sys
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed

sys.setswitchinterval(1000)


class Chain:
    """As struct chain."""

    def __init__(self, name):
        self.name, self.steps, self.hash, self.who = name, 0, 0, ''

    def step(self, thread):
        """One more, by that thread."""
        self.hash = ((self.hash ^ (thread + 1)) * 0x9e3779b97f4a7c15 + self.steps) % 2**64
        self.who += chr(ord('a') + thread)
        self.steps += 1
        if self.steps % 16 == 0:
            os.write(1, f'{self.name} {self.steps} {self.who} {self.hash:016x}\n'.encode())
            self.who = ''


def work(times, x):
    """Some computing."""
    for _ in range(times):
        x = (x * 1103515245 + 12345) & 0x7fffffff
    return x


lock, a, b, c = threading.Lock(), Chain('A'), Chain('B'), Chain('C')
few = queue.Queue(5)


def take(me):
    """Threads that take a lock, and print."""
    x = me
    for i in range(150):
        x = work(100 + x % 300, x)
        with lock:
            a.step(me)
        if i % 20 == 0:
            with lock:
                print(f'thread {me} {i // 20} {x}', flush=True)


def put(me):
    """Producers."""
    x = me
    for _ in range(150):
        x = work(100 + x % 200, x)
        few.put((me, x))
    few.put(None)


def get():
    """The consumer."""
    left, total = 2, 0
    while left:
        item = few.get()
        if item is None:
            left -= 1
            continue
        total = (total * 31 + item[1]) % 2**32
        b.step(item[0])
    print('got', total, flush=True)


def run(threads):
    """All of them, until they have ended."""
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


run([threading.Thread(target=take, args=(k,)) for k in range(3)])
run([threading.Thread(target=put, args=(k,)) for k in range(2)] + [threading.Thread(target=get)])
with ThreadPoolExecutor(3) as pool:
    futures = {pool.submit(work, 100 + k % 7 * 100, k): k for k in range(100)}
    for future in as_completed(futures):
        c.step(futures[future] % 8)
try:
    few.get(timeout=0.01)
except queue.Empty:
    print('nothing is left', flush=True)
print('end', a.steps + b.steps + c.steps, flush=True)
