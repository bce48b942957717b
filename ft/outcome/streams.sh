#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# streams.sh: ranks that use streams and pipes are killed at system calls and at any time, and put back from copies. What they print and the files
# they leave are those of the undisturbed program, byte for byte; what a rank was told of time and chance stays what it was told.
# FT_SEEDS=N: N seeds of each instead of 2; the quick tier takes one of two for each kind of kill. FT_SEED=N: the first one.
set -u
build=${top_builddir:-.} source=${top_srcdir:-.}
agent=$build/outcome_agent
export FT_TEST_PRELOAD="$build/.libs/liboutcome_test.so"
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT && trap 'exit 1' INT TERM
first=${FT_SEED:-1} last=$((${FT_SEED:-1} + ${FT_SEEDS:-2} - 1))
quick() { [ "${FT_TIER-}" = quick ] && [ -z "${FT_SEEDS-}" ]; }
runs=0 bad=0 kills=0 named=0 zero=0 had_kills=0 had_named=0 had_zero=0

word() { sed -n "\$s/.*\\<$2 \\([0-9]*\\).*/\\1/p" "$1" | grep . || echo 0; }

# Of the agent's last line.
count() {
  runs=$((runs + 1))
  kills=$((kills + $(word "$1" kills))) named=$((named + $(word "$1" named))) zero=$((zero + $(word "$1" zero)))
}

failed() {
  bad=$((bad + 1))
  echo "streams.sh: $1: seed $seed: outcome_agent -s $seed $way -i INPUT $(command_in DIRECTORY)"
  tail -n 1 "$work/err"
  [ "$bad" -lt 5 ] || exit 1
}

# $program with the directory in place of %.
command_in() { echo "$program" | sed "s|%|$1|g"; }

ends_well() { tail -n 1 "$work/err" | grep -q '^code 0 .* lost 0'; }

# Its files and output lie in $work/$1.
disturbed() {
  rm -rf "$work/files" && mkdir "$work/files"
  # shellcheck disable=SC2086,SC2046
  if [ "$1" = pipe ]; then
    "$agent" -s "$seed" $way -i "$work/input" $(command_in "$work/files") 2>"$work/err" | cat >"$work/out"
  else
    "$agent" -s "$seed" $way -i "$work/input" $(command_in "$work/files") >"$work/out" 2>"$work/err"
  fi
  count "$work/err"
  ends_well || failed "$name did not end well, output to a $1"
}

is_the_same() {
  cmp "$work/out" "$work/expected.out" && diff -r "$work/files" "$work/expected"
}

says_it_twice() {
  awk '{ line[NR] = $0 } END { if (NR == 0 || NR % 2) exit 1
    for (i = 1; i <= NR / 2; i++) if (line[i] != line[i + NR / 2]) exit 1 }' "$work/out"
}

# As many ticks were written by the handler as it has counted.
counts_ticks() {
  says_it_twice || return 1
  counted=$(sed -n '$s/.* alarms \([0-9]*\) .*/\1/p' "$work/out") ticks=$(grep -c '^tick$' "$work/err")
  [ "$counted" = "$ticks" ] || { echo "$counted alarms, $ticks ticks" && return 1; }
}

# Children of one time add their lines in any order.
is_the_same_sorted() {
  sort -o "$work/files/log" "$work/files/log" && sort -o "$work/expected/log" "$work/expected/log" && is_the_same
}

# seeds_of N: those of the Nth kind of kill.
seeds_of() { if quick; then echo $((first + $1 % 2)); else seq "$first" "$last"; fi; }

# came_back: from both kinds of copies, since had_named and had_zero.
came_back() { [ $((named - had_named)) -gt 0 ] && [ $((zero - had_zero)) -gt 0 ]; }

# name, what is to hold, program, ways
under_kills() {
  name=$1 holds=$2 program=$3
  shift 3
  rm -rf "$work/files" "$work/expected" && mkdir "$work/files"
  # shellcheck disable=SC2046
  # shellcheck disable=SC2091 # it is the words of a command
  $(command_in "$work/files") <"$work/input" 2>/dev/null | cat >"$work/expected.out"
  mv "$work/files" "$work/expected"
  nth=0
  for way; do
    if quick && [ "$way" = "-k 0" ]; then continue; fi
    nth=$((nth + 1))
    for seed in $(seeds_of $nth); do
      if [ $((seed % 2)) = 0 ]; then to=file; else to=pipe; fi
      disturbed $to
      "$holds" >"$work/why" 2>&1 || { failed "$name is another one than undisturbed, output to a $to" && head -n 5 "$work/why"; }
    done
  done
  [ $((kills - had_kills)) -gt 0 ] || { bad=$((bad + 1)) && echo "streams.sh: $name was never killed"; }
  if ! quick && ! came_back; then
    bad=$((bad + 1)) && echo "streams.sh: $name was not put back from both kinds of copies"
  fi
  echo "$name: $((kills - had_kills)) kills, put back from a newer copy $((named - had_named)) times, from snapshot zero $((zero - had_zero)) times"
  had_kills=$kills had_named=$named had_zero=$zero
}

seq 1 200 >"$work/input"
# Read by reference, and then changed: only files that are older than two seconds are, so each is used once.
mkdir "$work/old"
for i in $(seq 0 $((2 * (last - first + 1)))); do head -c 200000 /dev/zero | tr '\0' o >"$work/old/$i"; done
at_calls="-k 6 -p 150 -c 12000" at_calls_zero="-k 6 -p 150 -c 0" at_times="-k 4 -t 2500 -c 800"

under_kills "C streams" is_the_same "$build/outcome_lines % 12" "-k 0" "$at_calls" "$at_calls_zero" "$at_times"
under_kills "pipes" is_the_same "$build/outcome_fifo % 3" "-k 0" "$at_calls" "$at_calls_zero" "$at_times"
under_kills "C++ streams" is_the_same "$build/outcome_streams %" "-k 0" "$at_calls" "$at_calls_zero" "$at_times"
under_kills "time and chance" says_it_twice "$build/outcome_told 12" "-k 0" "-k 6 -p 40 -c 12000" "-k 6 -p 40 -c 0" "$at_times"
under_kills "signals" counts_ticks "$build/outcome_signals 12" "-k 0" "-k 6 -p 60 -c 12000" "-k 6 -p 60 -c 0" "$at_times"
under_kills "children" is_the_same_sorted "$build/outcome_children % 3" "-k 0" "-k 4 -p 150 -c 12000" "-k 4 -p 150 -c 0" "-k 4 -t 20000 -c 3000"
under_kills "stores" is_the_same "$build/outcome_stores % 6" "-k 0" "-k 4 -p 60 -c 12000" "-k 4 -p 60 -c 0" "-k 4 -t 6000 -c 2000" "-k 6 -t 2500 -c 5000"
under_kills "descriptors in two epolls" is_the_same "$build/outcome_events many" "-k 2 -p 3000 -c 12000" "-k 1 -p 3000 -c 0"
under_kills "sockets and events" is_the_same "$build/outcome_events 4" "-k 0" "-k 4 -p 120 -c 12000" "-k 4 -p 120 -c 0" "-k 4 -t 6000 -c 2000"
if command -v gfortran >/dev/null && gfortran -O1 -o "$work/fortran" "$source/ft/outcome/test/units.f90"; then
  under_kills "Fortran units" is_the_same "$work/fortran %" "-k 0" "-k 6 -p 40 -c 12000" "-k 6 -p 40 -c 0"
fi
# Programs as people have them.
if command -v perl >/dev/null; then
  cat >"$work/script.pl" <<'EOF'
my $d = shift;
for my $r (0..9) {
  open(my $f, ">>", "$d/log") or die; print $f "round $r\n"; close $f;
  open($f, "+>", "$d/f") or die; print $f "x" x 10000, $r; seek($f, 5000, 0); read($f, my $b, 6000); print length($b), " $r\n"; close $f;
  my $l = <STDIN>; print "in $l"; rename("$d/f", "$d/g$r");
}
EOF
  under_kills "perl" is_the_same "perl $work/script.pl %" "-k 6 -p 60 -c 12000" "-k 6 -p 60 -c 0"
fi
if command -v perl >/dev/null; then
  cat >"$work/change.pl" <<'EOF'
my $name = shift;
sub all { open(my $f, "<", $name) or die; my ($n, $b) = 0; $n += unpack("%32C*", $b) while sysread($f, $b, 65536); syswrite(STDOUT, "$_[0] $n\n"); }
all("before $_") for 1..3;
open(my $f, "+<", $name) or die; syswrite($f, "x" x 5000); close $f;
all("after $_") for 1..20;
EOF
  perl "$work/change.pl" "$work/old/0" >"$work/expected.out"
  i=0 name="an input that is changed"
  for way in "-k 6 -p 25 -c 0" "-k 6 -t 3000 -c 1500"; do
    for seed in $(seq "$first" "$last"); do
      i=$((i + 1)) program="perl $work/change.pl OLD-FILE"
      # shellcheck disable=SC2086
      "$agent" -s "$seed" $way perl "$work/change.pl" "$work/old/$i" >"$work/out" 2>"$work/err"
      count "$work/err"
      if ! ends_well || ! cmp "$work/out" "$work/expected.out"; then failed "$name is not what it is undisturbed"; fi
    done
  done
  [ $((kills - had_kills)) -gt 0 ] || { bad=$((bad + 1)) && echo "streams.sh: $name was never killed"; }
  echo "$name: $((kills - had_kills)) kills"
  had_kills=$kills had_named=$named had_zero=$zero
fi
if command -v sqlite3 >/dev/null; then
  cat >"$work/script.sql" <<'EOF'
create table t(a, b);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 300) insert into t select x, x * x from c;
update t set b = b + 1 where a % 7 = 0; select sum(b), count(*) from t;
begin; delete from t where a < 20; rollback; vacuum; select max(b) from t; pragma integrity_check;
EOF
  under_kills "sqlite3" is_the_same "sqlite3 %/db -init $work/script.sql .quit" "-k 6 -p 60 -c 12000" "-k 6 -p 60 -c 0"
fi
if /usr/bin/python3 -c 'import numpy, sqlite3' 2>/dev/null; then
  cat >"$work/maps.py" <<'EOF'
import mmap, sqlite3, sys
import numpy as np
d = sys.argv[1]
m = np.memmap(d + '/m', dtype='i8', mode='w+', shape=(50, 1000))
f = open(d + '/raw', 'w+b')
f.truncate(20000)
raw = mmap.mmap(f.fileno(), 20000)
for r in range(8):
    m[r % 50] += r
    m[:, r] += m[:, r + 1].sum() + 1
    print(r, int(m.sum()), flush=True)
    raw[r * 100:r * 100 + 5] = b'%05d' % (int(raw[:5] or 0 if r else 0) + r)
    if r % 3 == 0:
        m.flush()
        raw.flush()
    c = np.load(d + '/saved.npy', mmap_mode='r+') if r else np.zeros(10)
    c[r % 10] += int(c.sum()) + 1
    if r == 0:
        np.save(d + '/saved.npy', c)
    print(c[:4], flush=True)
    del c
m.flush()
del m
EOF
  under_kills "NumPy's memmap" is_the_same "/usr/bin/python3 $work/maps.py %" "-k 3 -p 400 -c 50000" "-k 3 -p 300 -c 0" "-k 4 -t 80000 -c 10000"
  cat >"$work/wal.py" <<'EOF'
import os, sqlite3, sys
d = sys.argv[1]
db = sqlite3.connect(d + '/db')
print(db.execute('pragma journal_mode=wal').fetchone())
db.execute('create table t(a integer primary key, b)')
for r in range(6):
    with db:
        db.executemany('insert into t(b) values (?)', ((i * r,) for i in range(40)))
        db.execute('update t set b = b + 1 where a % 5 = 0')
    print(db.execute('select sum(b), count(*) from t').fetchone(), flush=True)
print(db.execute('pragma integrity_check').fetchone())
db.close()
print(sorted(os.listdir(d)))
EOF
  under_kills "sqlite with a write-ahead log" is_the_same "/usr/bin/python3 $work/wal.py %" "-k 3 -p 300 -c 50000" "-k 3 -p 200 -c 0" "-k 4 -t 60000 -c 10000"
fi
cat >"$work/script.sh" <<'EOF'
cd "$1" || exit 1
for r in 1 2 3; do
  seq $((r * 100)) >a; cp a b; echo "round $r" >>b; sed -i "s/7/seven $r/" b; mv b "c$r"; wc -l "c$r"
  n=$(grep -c seven "c$r"); echo "$n of $(wc -l <"c$r")"
  (exit $r); echo "exit $?"
  (sleep 0.00$r; echo "later $r" >>log) & wait $!
  cat <<HERE | tr a-z A-Z
here $r
HERE
done
EOF
under_kills "shell" is_the_same "sh $work/script.sh %" "-k 4 -p 100 -c 12000" "-k 4 -p 60 -c 0" "-k 4 -t 20000 -c 3000"
if [ -x /usr/bin/python3 ]; then
  cat >"$work/script.py" <<'EOF'
import os, subprocess, sys
d = sys.argv[1]
for r in range(3):
    p = subprocess.run(['tr', 'a-z', 'A-Z'], input=f'round {r}\n' * 50, capture_output=True, text=True)
    print(len(p.stdout), p.returncode, p.stdout[:7])
    print(os.system(f'echo {r} >>{d}/log; exit {r}'), os.popen('echo $PPID | wc -l').read().strip())
    p = subprocess.Popen(['sh', '-c', f'sleep 0.002; echo late {r} >>{d}/late; kill $$'])
    print('poll', p.poll() in (None, -15), 'wait', p.wait())
    try:
        subprocess.run(['sleep', '60'], timeout=0.02)
    except subprocess.TimeoutExpired as e:
        print(type(e).__name__)
    try:
        subprocess.run([d + '/nothing'])
    except FileNotFoundError as e:
        print(e.strerror)
    pid = os.fork()
    if pid == 0:
        os._exit(r + 3)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
EOF
  under_kills "Python and its children" is_the_same "/usr/bin/python3 $work/script.py %" "-k 4 -p 400 -c 50000" "-k 4 -p 300 -c 0" "-k 4 -t 60000 -c 10000"
fi
echo "$runs runs, $kills kills, put back from a newer copy $named times, from snapshot zero $zero times; $bad wrong"
[ "$bad" -eq 0 ] && [ "$named" -gt 0 ] && [ "$zero" -gt 0 ]
