# SPDX-License-Identifier: BSD-3-Clause
"""A wheel of XGBoost's from PyPI, unpacked: wheel.py VERSION DIRECTORY prints the directory for PYTHONPATH. One that is there is not fetched
again. A wheel is unpacked, not installed, so that one for a newer Python can be had, too: all of it is Python and ctypes. Exit code 77: PyPI
cannot be reached."""

import glob
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile

PLATFORMS = ['manylinux_2_28_%s', 'manylinux2014_%s']


def fetch(version, directory):
    there = os.path.join(directory, 'xgboost-' + version)
    if os.path.isdir(there):
        return there
    os.makedirs(directory, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=directory) as fresh:
        machine = os.uname().machine
        get = subprocess.run([sys.executable, '-m', 'pip', 'download', '--quiet', '--no-deps', '--only-binary=:all:', '--python-version', '3.13', '-d', fresh,
                              *(a for p in PLATFORMS for a in ('--platform', p % machine)), 'xgboost==' + version],
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=600, check=False)
        wheels = glob.glob(os.path.join(fresh, '*.whl'))
        if get.returncode or not wheels:
            print('no xgboost %s from PyPI: %s' % (version, get.stderr.strip().rpartition('\n')[2]), file=sys.stderr)
            sys.exit(77)
        with zipfile.ZipFile(wheels[0]) as wheel:
            wheel.extractall(os.path.join(fresh, 'whole'))
        try:
            os.rename(os.path.join(fresh, 'whole'), there)
        except OSError:  # somebody else was faster
            shutil.rmtree(os.path.join(fresh, 'whole'))
    return there


if __name__ == '__main__':
    print(fetch(*sys.argv[1:]))
