# SPDX-License-Identifier: BSD-3-Clause
"""Wheels from PyPI, unpacked into one directory, which is printed, for PYTHONPATH: wheel.py DIRECTORY NAME==VERSION... What is there already is not
fetched again. Unpacked, not installed: so a wheel for a newer Python than Debian's can be had if all of it is Python and ctypes. What they import
(NumPy, SciPy) is Debian's. Exit code 77: PyPI cannot be reached."""

import glob
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile

PLATFORMS = ['manylinux_2_28_%s', 'manylinux2014_%s', 'manylinux1_%s']


def download(to, names):
    machine = os.uname().machine
    get = subprocess.run([sys.executable, '-m', 'pip', 'download', '--quiet', '--no-deps', '--only-binary=:all:', '--python-version', '3.13', '-d', to,
                          *(a for p in PLATFORMS for a in ('--platform', p % machine)), '--platform', 'any', *names],
                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=600, check=False)
    wheels = glob.glob(os.path.join(to, '*.whl'))
    if get.returncode or len(wheels) != len(names):
        print('no %s from PyPI: %s' % (' '.join(names), get.stderr.strip().rpartition('\n')[2]), file=sys.stderr)
        sys.exit(77)
    return wheels


def fetch(directory, *names):
    there = os.path.join(directory, '-'.join(names).replace('==', '-'))
    if os.path.isdir(there):
        return there
    os.makedirs(directory, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=directory) as fresh:
        whole = os.path.join(fresh, 'whole')
        for name in download(fresh, names):
            with zipfile.ZipFile(name) as wheel:
                wheel.extractall(whole)
        try:
            os.rename(whole, there)
        except OSError:  # somebody else was faster
            shutil.rmtree(whole)
    return there


if __name__ == '__main__':
    print(fetch(*sys.argv[1:]))
