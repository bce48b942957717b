# SPDX-License-Identifier: BSD-3-Clause
"""A rank that speaks to --xgboost-tracker as a worker of XGBoost does, or otherwise. tracker.py CASE"""

import json
import os
import signal
import socket
import struct
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import outside  # noqa: E402

RANK, SIZE = int(os.environ['RANK']), int(os.environ['WORLD_SIZE'])
WHERE = os.environ['DMLC_TRACKER_URI'], int(os.environ['DMLC_TRACKER_PORT'])
MARKS = os.environ['tmp']
MAGIC = struct.pack('=i', 0xff99)
START, SHUTDOWN, ERROR, PRINT = 1, 2, 3, 4


def text(value):
    data = json.dumps(value).encode()
    return struct.pack('=i', len(data)) + data


def get(connection, n):
    data = b''
    while len(data) < n:
        more = connection.recv(n - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def get_text(connection):
    return json.loads(get(connection, struct.unpack('=i', get(connection, 4))[0]))


def reach():
    """As XGBoost does: another host's ftrun may not be there yet."""
    for _ in range(50):
        try:
            return socket.create_connection(WHERE)
        except ConnectionRefusedError:
            time.sleep(0.1)
    return socket.create_connection(WHERE)


def connect(world=-1, rank=-1, task=None):
    connection = reach()
    connection.sendall(MAGIC)
    assert get(connection, 4) == MAGIC
    connection.sendall(text({'world_size': world, 'rank': rank, 'task_id': str(RANK) if task is None else task}))
    return connection


def command(number, rank=-1, **more):
    with connect(SIZE, rank) as connection:
        connection.sendall(text({'cmd': number, **more}))


def begin(port=7000 + RANK, **who):
    """A start, up to where it waits for the others."""
    connection = connect(**who)
    for byte in text({'cmd': START, 'port': port, 'error_port': 9}):
        connection.sendall(bytes([byte])) # torn
    assert get_text(connection) == {'world_size': SIZE}
    return connection


def end(connection):
    """Rank of the worker, and its next one."""
    following = get_text(connection)
    assert connection.recv(1) == b''
    connection.close()
    return (following['rank'] - 1) % SIZE, following


def is_refused(connection):
    try:
        return connection.recv(1) == b''
    except ConnectionResetError:
        return True


def start(**who):
    rank, following = end(begin(**who))
    host = following.pop('host')
    assert following == {'rank': (RANK + 1) % SIZE, 'port': 7000 + (RANK + 1) % SIZE}, following
    assert (host == '127.0.0.1') == (WHERE[0] == '127.0.0.1'), host
    print(RANK, 'next is on', host, flush=True)
    assert rank == RANK
    return rank


def await_mark(name):
    while not os.path.exists(os.path.join(MARKS, name)):
        time.sleep(0.01)


def mark(name):
    outside.write_file(os.path.join(MARKS, name), b'')


def ranks():
    """The ranks are those of the job, also from 10 on, again and again."""
    for again in range(3):
        start()
        command(SHUTDOWN, RANK)
        print(RANK, 'round', again, flush=True)


def wrong():
    """Who is no worker, or not one of these, is told, and disturbs nobody."""
    if RANK == 0:
        def send(data):
            connection = socket.create_connection(WHERE)
            connection.sendall(data)
            assert is_refused(connection)

        silent = [socket.create_connection(WHERE) for _ in range(3)]
        silent[0].sendall(MAGIC[:2])
        silent[1].sendall(MAGIC + text({'world_size': -1, 'rank': -1, 'task_id': 'half'})[:20])
        send(b'GET / HTTP/1.1\r\n\r\n')
        send(MAGIC + struct.pack('=i', -5))
        send(MAGIC + struct.pack('=i', 1 << 30))
        send(MAGIC + struct.pack('=i', 8) + b'not JSON')
        send(MAGIC + text([1, 2]))
        send(MAGIC + text({'world_size': 'four', 'rank': -1, 'task_id': ''}))
        send(MAGIC + text({'world_size': -1, 'rank': -1, 'task_id': 'w'}) + text({'cmd': 17}))
        send(MAGIC + text({'world_size': -1, 'rank': -1, 'task_id': 'w'}) + text({'cmd': START, 'port': 0}))
        connection = connect(world=SIZE + 1)
        connection.sendall(text({'cmd': START, 'port': 7000, 'error_port': 9}))
        assert is_refused(connection)
        gone = begin(task='gone') # one that waits, and leaves
        gone.close()
        mark('told')
    await_mark('told')
    start()
    if RANK == 1: # the others are at work
        connection = connect()
        connection.sendall(text({'cmd': START, 'port': 7000, 'error_port': 9}))
        assert is_refused(connection)
        mark('refused')
    await_mark('refused')
    command(PRINT, RANK, msg='a long one: ' + 'x' * 100000 if RANK == 2 else 'from %d' % RANK)
    command(SHUTDOWN, RANK)
    start()
    print(RANK, 'again', flush=True)


def error():
    start()
    if RANK == 1:
        command(ERROR, RANK, msg='it\nis wrong', code=7)
    time.sleep(100)


def killed():
    """A rank that is killed while it waits, and comes back, goes on with its connection; so do those whose ftrun was killed."""
    connection = None if RANK == 0 else begin()
    if RANK == 1:
        try:
            outside.write_file(os.path.join(MARKS, 'rank'), b'', os.O_EXCL)
            os.kill(os.getpid(), signal.SIGKILL)
        except FileExistsError:
            mark('back')
    if RANK == 0:
        await_mark('back')
        mark('ftrun')
        await_mark('go')
        connection = begin() # the last of all: the others wait since before ftrun was killed
    assert end(connection)[0] == RANK
    command(PRINT, RANK, msg='from %d' % RANK)
    command(SHUTDOWN, RANK)
    print(RANK, 'done', flush=True)


{'ranks': ranks, 'wrong': wrong, 'error': error, 'killed': killed}[sys.argv[1]]()
