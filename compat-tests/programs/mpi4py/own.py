#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py's own tests, module by module, with several numbers of ranks: how many passed, and were not skipped, of how many, as Markdown.

    own.py --tests DIRECTORY|fetch [--ftrun FTRUN | --mpirun MPIRUN] [--ranks 1,2,4] [--all-pass] [MODULE...]

DIRECTORY has test_*.py as in mpi4py's source archive; `fetch`: that of the release which Debian has, from the package index that pip uses. Two
commands: both, in columns side by side. With --all-pass anything but success is an error (exit code 1). 77: the archive cannot be had."""

import argparse
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import urllib.parse
import urllib.request

PYTHON = '/usr/bin/python3'
RELEASE = '3.1.4'


def fetch(where):
    index = subprocess.run([sys.executable, '-m', 'pip', 'config', 'get', 'global.index-url'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                           check=False).stdout.decode().strip()
    page = (os.environ.get('PIP_INDEX_URL') or index or 'https://pypi.org/simple').rstrip('/') + '/mpi4py/'
    name = 'mpi4py-%s.tar.gz' % RELEASE
    try:
        with urllib.request.urlopen(page, timeout=20) as f:
            link = re.search(r'href="([^"]*%s[^"]*)"' % re.escape(name), f.read().decode())
        urllib.request.urlretrieve(urllib.parse.urljoin(page, link.group(1)), os.path.join(where, name))
        with tarfile.open(os.path.join(where, name)) as t:
            t.extractall(where)
    except (OSError, AttributeError, tarfile.TarError) as e:
        print('mpi4py %s cannot be had here: %s' % (RELEASE, e))
        sys.exit(77)
    return os.path.join(where, 'mpi4py-' + RELEASE, 'test')


def one(launcher, tests, module, ranks):
    """Whether all is well, and '32 of 72', 'hangs', 'ends'."""
    process = subprocess.Popen([*launcher, '-n', str(ranks), PYTHON, '-m', 'unittest', '-q', module], cwd=tests, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        out = process.communicate(timeout=600)[0].decode(errors='replace')
    except subprocess.TimeoutExpired:
        process.terminate()  # it ends its ranks
        process.communicate()
        return False, 'hangs'
    ran = re.search(r'^Ran (\d+) test', out, re.M)
    if not ran:
        return False, 'ends'
    counts = re.search(r'^(?:FAILED|OK) \((.*)\)', out, re.M)
    less = sum(int(n) for n in re.findall(r'(?:failures|errors|skipped)=(\d+)', counts.group(1))) if counts else 0
    return process.returncode == 0, '%s of %s' % (max(0, int(ran.group(1)) - less), ran.group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--tests', required=True)
    parser.add_argument('--ftrun')
    parser.add_argument('--mpirun')
    parser.add_argument('--ranks', default='1,2,4')
    parser.add_argument('--all-pass', action='store_true')
    parser.add_argument('modules', nargs='*')
    args = parser.parse_args()
    launchers = ([[args.ftrun, '--snapshot', 'off']] if args.ftrun else []) + \
        ([[args.mpirun, '--allow-run-as-root', '--oversubscribe']] if args.mpirun else [])
    good = True

    with tempfile.TemporaryDirectory(prefix='mpi4py') as where:
        tests = fetch(where) if args.tests == 'fetch' else args.tests
        modules = args.modules or sorted(f[:-3] for f in os.listdir(tests) if re.match(r'test_\w+\.py$', f))
        ranks = args.ranks.split(',')
        columns = ['%s, %s' % ('ftmpi' if i == 0 and args.ftrun else 'Open MPI', n) for i in range(len(launchers)) for n in ranks]
        print('| module | %s |\n|---|%s' % (' | '.join(columns), '---|' * len(columns)), flush=True)
        for module in modules:
            cells = [one(launcher, tests, module, n) for launcher in launchers for n in ranks]
            good = good and all(ok for ok, _ in cells)
            print('| %s | %s |' % (module, ' | '.join(text for _, text in cells)), flush=True)
    sys.exit(1 if args.all_pass and not good else 0)


main()
