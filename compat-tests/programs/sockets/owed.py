# SPDX-License-Identifier: BSD-3-Clause
"""A rank is killed in a call that has received, or sent, a part; its successor does the rest, meanwhile the peer resets the connection, and the
rank is killed once more: it is told ECONNRESET then. (It was told an end: the error had been taken, and only the killed process knew of it.)

    owed.py FTRUN"""

import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'lib'))
import ftmpitest  # noqa: E402

PATIENCE = 60
PROGRAM = '''
import errno, socket, sys
data, go = (socket.create_connection(('127.0.0.1', int(port))) for port in sys.argv[2:])
if sys.argv[1] == 'receive':
    print(len(data.recv(10, socket.MSG_WAITALL)), flush=True)
else:
    print(0 < data.send(bytes(64 << 20)) < 64 << 20, flush=True)
go.recv(1)
try:
    print(data.recv(10), flush=True)
except OSError as e:
    print(errno.errorcode[e.errno], flush=True)
'''


def until(what, is_so):
    limit = time.monotonic() + PATIENCE
    while time.monotonic() < limit:
        value = is_so()
        if value:
            return value
        time.sleep(0.005)
    sys.exit('waited in vain for: ' + what)


def pid_of_rank(where):
    ranks = ftmpitest.status_in(where).get('per_rank')
    return ranks[0]['pid'] or 0 if ranks else 0


def waits(where, calls, but=0):
    """The rank's process, if it is another one and sleeps in one of these system calls."""
    pid = pid_of_rank(where)
    if not pid or pid == but:
        return 0
    try:
        with open('/proc/%d/syscall' % pid, encoding='ascii') as f:
            return pid if f.read().split()[0] in calls else 0
    except OSError:
        return 0


def main():
    for how, calls, told in (('receive', ('45', '47', '7'), '4'), ('send', ('44', '46'), 'True')):
        listeners = [socket.create_server(('127.0.0.1', 0)) for _ in range(2)]
        with tempfile.TemporaryDirectory() as where:
            job = subprocess.Popen([sys.argv[1], '-n', '1', '/usr/bin/python3', '-c', PROGRAM, how] + [str(s.getsockname()[1]) for s in listeners],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, env=dict(os.environ, FTMPI_RUN_DIR=where))
            data, go = (s.accept()[0] for s in listeners)
            if how == 'receive':
                data.sendall(b'part')
            first = until('the rank in its call', lambda: waits(where, calls))
            os.kill(first, signal.SIGKILL)
            second = until('its successor in the rest of it', lambda: waits(where, calls, first))
            data.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
            data.close()
            line = job.stdout.readline().strip()
            until('it to wait for its go', lambda: waits(where, ('45', '0'), first) == second)
            os.kill(second, signal.SIGKILL)
            until('the one after that', lambda: waits(where, ('45', '0'), second) not in (0, first))
            go.sendall(b'!')
            out = [line] + job.communicate(timeout=PATIENCE)[0].split()
        if job.returncode != 0 or out != [told, 'ECONNRESET']:
            sys.exit('%s: exit code %d, told %s' % (how, job.returncode, out))


main()
