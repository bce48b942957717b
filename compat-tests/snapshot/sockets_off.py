# SPDX-License-Identifier: BSD-3-Clause
"""A rank that opens a socket, says so, and waits until it may end."""

import os
import socket
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import outside  # noqa: E402

pair = socket.socketpair()
pair[0].send(b'own')
listener = socket.create_server(('127.0.0.1', 0))
client = socket.create_connection(listener.getsockname())
other, _ = listener.accept()
client.sendall(b'hello')
print(other.recv(5).decode(), pair[1].recv(3).decode(), flush=True)
for s in (client, other, listener):
    s.close()
outside.replace_file(os.environ['tmp'] + '/opened', b'%d' % outside.pid())
while not os.path.exists(os.environ['tmp'] + '/go'):
    time.sleep(0.01)
