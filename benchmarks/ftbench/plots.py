# SPDX-License-Identifier: BSD-3-Clause
"""Pictures by gnuplot, one SVG each. Without gnuplot there are none, and that is said."""

import os
import shutil
import statistics
import subprocess

from . import cases

HEAD = """set terminal svg noenhanced size 720,460 dynamic background rgb 'white'
set output '%s'
set title "%s"
set xlabel "%s"
set ylabel "%s"
set grid
set key %s
"""


def gnuplot():
    """The program's path, None without it. GNUPLOT in the environment names another one."""
    return shutil.which(os.environ.get('GNUPLOT', 'gnuplot'))


def draw(path, title, x, y, setup, lines, key='top left'):
    """lines: [(name, [(x, y)])]. Returns the file's name, None if there was nothing to draw."""
    lines = [(name, points) for name, points in lines if points]
    if not lines:
        return None
    text = HEAD % (path, title, x, y, key) + setup
    for i, (_, points) in enumerate(lines):
        text += '$d%d << EOD\n%s\nEOD\n' % (i, '\n'.join('%s %s' % p for p in points))
    text += 'plot ' + ', '.join('$d%d using 1:2 with linespoints lw 2 title "%s"' % (i, name) for i, (name, _) in enumerate(lines)) + '\n'
    return execute(path, text)


def execute(path, text):
    done = subprocess.run([gnuplot()], input=text.encode(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0 or not os.path.getsize(path):
        raise RuntimeError('gnuplot: %s' % done.stderr.decode(errors='replace').strip()[-500:])
    return os.path.basename(path)


def column_name(column):
    return ' '.join(c for c in column if c)


def lines_by_size(table, benchmark, ranks, value):
    """For draw: one line per MPI, value(size, us) against the size."""
    return [(column_name(c), [(s, value(s, cell.us)) for s in table.sizes(benchmark, ranks) if s
                              for cell in [table.cell(benchmark, ranks, s, c)] if cell]) for c in table.columns()]


def axes(values, names):
    """Both logarithmic; at most eight of the values have their names below."""
    every = -(-len(values) // 8) or 1
    tics = ', '.join('"%s" %s' % (names(v), v) for v in values[::every])
    return 'set logscale x 2\nset logscale y 10\nset xtics (%s)\nset xrange [%g:%g]\n' % (tics, min(values) * 0.9, max(values) * 1.1)


def size_axes(table, benchmark, ranks):
    return axes([s for s in table.sizes(benchmark, ranks) if s] or [1], cases.size_name)


def latency(table, benchmark, ranks, directory):
    return draw(os.path.join(directory, 'latency-%s-%d.svg' % (benchmark, ranks)), '%s, %d ranks' % (benchmark, ranks), 'size',
                'microseconds', size_axes(table, benchmark, ranks), lines_by_size(table, benchmark, ranks, lambda s, us: us))


def bandwidth(table, benchmark, ranks, directory):
    return draw(os.path.join(directory, 'bandwidth-%s-%d.svg' % (benchmark, ranks)), '%s, %d ranks' % (benchmark, ranks), 'size',
                'GB/s (size / time)', size_axes(table, benchmark, ranks), lines_by_size(table, benchmark, ranks, lambda s, us: s / us / 1e3))


def against_ranks(table, benchmark, size, directory):
    """Time against the number of ranks, for one size. None with one number only."""
    every = sorted({r for b, r in table.kinds() if b == benchmark and size in table.sizes(b, r)})
    if len(every) < 2:
        return None
    lines = [(column_name(c), [(r, cell.us) for r in every for cell in [table.cell(benchmark, r, size, c)] if cell]) for c in table.columns()]
    return draw(os.path.join(directory, 'ranks-%s-%s.svg' % (benchmark, size or 0)), '%s, %s' % (benchmark, cases.size_name(size)), 'ranks',
                'microseconds', axes(every, str), lines)


def measurements(rows, measure, x, y, directory, log='xy'):
    """Of faults' or xgboost's rows: one line per variant, medians against x."""
    values = {}
    for r in rows:
        if r['measure'] == measure and r['part'] == 'total':
            values.setdefault(r['variant'], {}).setdefault(float(r['x']), []).append(float(r['value']))
    lines = [(variant, [(at, statistics.median(v)) for at, v in sorted(by_x.items()) if at > 0 or 'x' not in log])
             for variant, by_x in values.items()]
    return draw(os.path.join(directory, measure.replace(' ', '-') + '.svg'), measure, x, y, ''.join('set logscale %s\n' % a for a in log), lines)


def stacked(rows, measure, y, directory):
    """A bar per variant and x, the medians of its parts on top of each other."""
    parts, bars = [], {}
    for r in rows:
        if r['measure'] == measure and r['part'] != 'total':
            if r['part'] not in parts:
                parts.append(r['part'])
            bars.setdefault('%s, %s' % (r['variant'], r['x']), {}).setdefault(r['part'], []).append(float(r['value']))
    if len(parts) < 2 or 'rejoin' not in parts[-1]:     # nothing that adds up
        return None
    path = os.path.join(directory, measure.replace(' ', '-') + '-parts.svg')
    text = HEAD % (path, measure, '', y, 'outside right')
    text += "set style data histograms\nset style histogram rowstacked\nset style fill solid\nset boxwidth 0.7\nset xtics rotate by -30\nset yrange [0:*]\n"
    text += '$d << EOD\n' + '\n'.join('"%s" %s' % (name, ' '.join(str(statistics.median(by.get(p, [0]))) for p in parts))
                                      for name, by in bars.items()) + '\nEOD\n'
    text += 'plot ' + ', '.join('$d using %d%s title "%s"' % (i + 2, ':xtic(1)' if i == 0 else '', p) for i, p in enumerate(parts)) + '\n'
    return execute(path, text)
