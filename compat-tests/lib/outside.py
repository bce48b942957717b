# SPDX-License-Identifier: BSD-3-Clause
"""System calls that are not recorded (docs/outcomes.md): outside.h in Python. What a test program remembers from one incarnation to the
next, and tells of itself to the test. Calls that the kernel counts as writes would be noticed, so bytes are put into files by splice."""

import ctypes
import os
import platform

_libc = ctypes.CDLL('libc.so.6', use_errno=True) # its own syscall, not the recorder's
_NUMBERS = {'x86_64': {'openat': 257, 'close': 3, 'read': 0, 'getpid': 39, 'renameat': 264, 'pipe2': 293, 'vmsplice': 278, 'splice': 275},
            'aarch64': {'openat': 56, 'close': 57, 'read': 63, 'getpid': 172, 'renameat': 38, 'pipe2': 59, 'vmsplice': 75, 'splice': 76}}[platform.machine()]
_AT_FDCWD = -100
_pipe = (ctypes.c_int * 2)(-1, -1)


class _Piece(ctypes.Structure):
    _fields_ = [('base', ctypes.c_void_p), ('bytes', ctypes.c_size_t)]


def _call(name, *arguments):
    result = _libc.syscall(ctypes.c_long(_NUMBERS[name]), *arguments)
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


def pid():
    return _call('getpid')


def put(fd, data, at):
    """data, bytes, a page of them at most."""
    if _pipe[0] < 0:
        _call('pipe2', _pipe, os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        while _call('read', _pipe[0], ctypes.create_string_buffer(256), ctypes.c_size_t(256)) > 0:
            pass # of a predecessor
    except BlockingIOError:
        pass
    held = ctypes.create_string_buffer(data, len(data))
    piece = _Piece(ctypes.addressof(held), len(data))
    _call('vmsplice', _pipe[1], ctypes.byref(piece), ctypes.c_ulong(1), 0)
    if _call('splice', _pipe[0], None, fd, ctypes.byref(ctypes.c_int64(at)), ctypes.c_size_t(len(data)), 0) != len(data):
        raise OSError('written in part')


def write_file(path, data, flags=os.O_TRUNC):
    """data, bytes, to a file that is made if it is not there; os.O_EXCL: FileExistsError if it is."""
    fd = _call('openat', _AT_FDCWD, ctypes.c_char_p(os.fsencode(path)), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | flags, 0o600)
    try:
        if data:
            put(fd, data, 0)
    finally:
        _call('close', fd)


def replace_file(path, data):
    """So that whoever reads it finds either what was there or all of data."""
    fresh = f'{path}.{pid()}'
    write_file(fresh, data)
    _call('renameat', _AT_FDCWD, ctypes.c_char_p(os.fsencode(fresh)), _AT_FDCWD, ctypes.c_char_p(os.fsencode(path)))
