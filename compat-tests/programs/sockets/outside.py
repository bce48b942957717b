# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that talk to servers outside of them, killed: each request arrives once, over one connection a rank.

    outside.py FTRUN [NAME...]

Each job runs once undisturbed, then under SIGKILLs by seed. What it prints, what the server has then, and how many connections that saw are
compared. FT_SEED, FT_RUNS: the first seed, and how many."""

import hashlib
import http.server
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PATIENCE = 90
PYTHON = '/usr/bin/python3'  # Debian's, which has its modules


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def output_of(*command, **rest):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE, **rest).stdout


class Nothing:
    """No server: the job has its own."""

    ranks, command = 3, ['meets.py']

    def __init__(self, scratch):
        pass

    def clear(self):
        pass

    def state(self):
        return ''

    def end(self):
        pass


class Redis:
    ranks, program = 2, 'counts.py'

    def __init__(self, scratch):
        self.port = str(free_port())
        self.command = [self.program, self.port]
        self.seen = 0
        self.process = subprocess.Popen(['redis-server', '--port', self.port, '--dir', scratch, '--save', '', '--appendonly', 'no'],
                                        stdout=subprocess.DEVNULL)
        while subprocess.run(['redis-cli', '-p', self.port, 'ping'], capture_output=True, check=False).returncode:
            time.sleep(0.02)

    def ask(self, *words):
        return output_of('redis-cli', '-p', self.port, *words)

    def connections(self):
        """Those that were made since the last time, without that of this question."""
        line = [line for line in self.ask('info', 'stats').split() if line.startswith('total_connections_received:')][0]
        number = int(line.split(':')[1])
        number, self.seen = number - self.seen, number
        return number

    def clear(self):
        self.ask('flushall')
        self.connections()

    def state(self):
        made = self.connections() - 1
        keys = sorted(self.ask('keys', '*').split())
        return str([(k, self.ask(*(['lrange', k, '0', '-1'] if k.startswith('list') else ['get', k]))) for k in keys] + [made])

    def end(self):
        self.process.terminate()
        self.process.wait()


class Postgres:
    ranks, program = 2, 'rows.py'

    def __init__(self, scratch):
        self.port = str(free_port())
        self.command = [self.program, self.port]
        self.data = os.path.join(scratch, 'data')
        self.seen = 0
        programs = sorted(os.listdir('/usr/lib/postgresql'))[-1]
        who = {'user': 'postgres', 'cwd': '/'} if os.geteuid() == 0 else {}
        if who:
            os.chmod(scratch, 0o755)
            os.mkdir(self.data)
            shutil.chown(self.data, 'postgres')
        output_of('/usr/lib/postgresql/%s/bin/initdb' % programs, '-D', self.data, '-A', 'trust', '-U', 'postgres', '-N', **who)
        self.process = subprocess.Popen(['/usr/lib/postgresql/%s/bin/postgres' % programs, '-D', self.data, '-p', self.port, '-k', self.data,
                                         '-c', 'listen_addresses=127.0.0.1', '-c', 'log_connections=on', '-c', 'fsync=off'],
                                        stderr=open(os.path.join(scratch, 'log'), 'w'), **who)
        self.log = os.path.join(scratch, 'log')
        while subprocess.run(['pg_isready', '-q', '-h', '127.0.0.1', '-p', self.port], check=False).returncode:
            time.sleep(0.02)
        self.ask('CREATE TABLE rows (id serial, who int, what text)')

    def ask(self, what):
        return output_of('psql', '-h', '127.0.0.1', '-p', self.port, '-U', 'postgres', '-Atc', what, cwd='/')

    def connections(self):
        with open(self.log) as f:
            number = f.read().count('connection authorized')
        number, self.seen = number - self.seen, number
        return number

    def clear(self):
        self.ask('TRUNCATE rows')
        self.connections()

    def state(self):
        made = self.connections()
        return self.ask("SELECT who, count(*), md5(string_agg(what, ',' ORDER BY id)) FROM rows GROUP BY who ORDER BY who") + str(made)

    def end(self):
        self.process.terminate()
        self.process.wait()


class Web:
    ranks, program = 2, 'posts.py'

    def __init__(self, scratch):
        outer = self
        self.got, self.made = {}, 0

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def setup(self):
                outer.made += 1
                super().setup()

            def do_POST(self):  # pylint: disable=invalid-name
                body = self.rfile.read(int(self.headers['Content-Length']))
                outer.got.setdefault(self.path, hashlib.md5()).update(body)
                answer = b'%d' % len(body)
                self.send_response(200)
                self.send_header('Content-Length', str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *args):  # pylint: disable=arguments-differ
                pass

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.command = [self.program, str(self.server.server_address[1])]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def clear(self):
        self.got, self.made = {}, 0

    def state(self):
        return str([(path, self.got[path].hexdigest()) for path in sorted(self.got)] + [self.made])

    def end(self):
        self.server.shutdown()


JOBS = {'meets': Nothing, 'counts': Redis, 'rows': Postgres, 'posts': Web}


def kill_one(ftrun, job, chance):
    """True: a rank was there to be killed."""
    got = subprocess.run([ftrun, 'status', '--json', str(job.pid)], capture_output=True, text=True, timeout=PATIENCE, check=False)
    try:
        ranks = [rank['pid'] for rank in json.loads(got.stdout)['per_rank'] if rank.get('pid')]
        os.kill(chance.choice(ranks), 9)
    except (ValueError, KeyError, IndexError, ProcessLookupError):  # it has ended, or the rank has
        return False
    return True


def run(ftrun, server, kills, seed, seconds):
    """What it prints and what the server has then; how often it was killed; how long it took."""
    chance = random.Random(seed)
    server.clear()
    begin = time.monotonic()
    killed = 0
    with subprocess.Popen([ftrun, '--max-restarts', '1000', '-n', str(server.ranks), PYTHON, *server.command], cwd=HERE, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as job:
        for _ in range(kills):
            time.sleep(chance.uniform(0, seconds / kills))
            killed += kill_one(ftrun, job, chance)
        try:
            out, err = job.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            job.send_signal(2)
            job.communicate()
            raise SystemExit('FAIL: seed %d: it hangs' % seed) from None
    if job.returncode:
        raise SystemExit('FAIL: seed %d: exit code %d: %s' % (seed, job.returncode, err))
    return ''.join(sorted(out.splitlines(True))) + server.state(), killed, time.monotonic() - begin


def main():
    ftrun, names = sys.argv[1], sys.argv[2:] or JOBS
    first, runs = int(os.environ.get('FT_SEED', '1')), int(os.environ.get('FT_RUNS', '4'))
    for name in names:
        scratch = tempfile.mkdtemp(prefix='outside-')
        server = JOBS[name](scratch)
        total = 0
        try:
            calm, _, seconds = run(ftrun, server, 0, 0, 0)
            for seed in range(first, first + runs):
                wild, killed, _ = run(ftrun, server, 1 + seed % 5, seed, seconds)
                total += killed
                if wild != calm:
                    raise SystemExit('FAIL: %s, seed %d: another result than undisturbed:\n%s\n%s' % (name, seed, calm[:600], wild[:600]))
            if not total:
                raise SystemExit('FAIL: %s: nothing was killed' % name)
            print('%s: %d runs, %d kills, none wrong' % (name, runs, total))
        finally:
            server.end()
            shutil.rmtree(scratch, ignore_errors=True)


main()
