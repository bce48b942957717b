# SPDX-License-Identifier: BSD-3-Clause
"""LightGBM's wheel from PyPI and what it imports, unpacked: wheel.py DIRECTORY prints the directory for PYTHONPATH. NumPy and SciPy are
Debian's. Wheels that are there are not fetched again. Exit code 77: PyPI cannot be reached."""

import glob
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile

WHEELS = ['lightgbm==4.7.0', 'narwhals==2.29.0']


def fetch(directory):
    there = os.path.join(directory, '-'.join(WHEELS).replace('==', '-'))
    if os.path.isdir(there):
        return there
    os.makedirs(directory, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=directory) as fresh:
        get = subprocess.run([sys.executable, '-m', 'pip', 'download', '--quiet', '--no-deps', '--only-binary=:all:', '-d', fresh, *WHEELS],
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=300, check=False)
        wheels = glob.glob(os.path.join(fresh, '*.whl'))
        if get.returncode or len(wheels) != len(WHEELS):
            print('no %s from PyPI: %s' % (' '.join(WHEELS), get.stderr.strip().rpartition('\n')[2]), file=sys.stderr)
            sys.exit(77)
        for name in wheels:
            with zipfile.ZipFile(name) as wheel:
                wheel.extractall(os.path.join(fresh, 'whole'))
        try:
            os.rename(os.path.join(fresh, 'whole'), there)
        except OSError:  # somebody else was faster
            shutil.rmtree(os.path.join(fresh, 'whole'))
    return there


if __name__ == '__main__':
    print(fetch(sys.argv[1]))
