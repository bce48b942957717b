# SPDX-License-Identifier: BSD-3-Clause
"""A directory a person can look at: index.html with the tables and the pictures, and the CSV files they are made of."""

import csv
import glob
import html
import json
import os
import statistics
import sys
import time

from . import cases, plots, results

STYLE = """<meta charset="utf-8"><title>ftmpi benchmarks</title><style>
body { font: 15px/1.45 sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em; color: #222 }
table { border-collapse: collapse; margin: .6em 0 1.4em } td, th { padding: .15em .7em; text-align: right; border-bottom: 1px solid #ddd }
td:first-child, th:first-child { text-align: left } .good { background: #e2f4e2 } .bad { background: #fbdcdc } .moved { color: #999 }
img { max-width: 48%; border: 1px solid #ddd } pre { background: #f4f4f4; padding: .6em; overflow-x: auto }
</style>"""


def cell(text, kind=''):
    return '<td class="%s">%s</td>' % (kind, html.escape(text)) if kind else '<td>%s</td>' % html.escape(text)


def table_of(head, rows):
    return '<table><tr>%s</tr>\n%s</table>\n' % (''.join('<th>%s</th>' % html.escape(h) for h in head),
                                                ''.join('<tr>%s</tr>\n' % ''.join(r) for r in rows))


def judged(value, bar):
    return '' if bar is None else 'good' if value >= bar else 'bad'


def summary(table):
    rows = [[cell('%s, %d ranks' % (s['benchmark'], s['ranks'])), cell(s['mode']), cell('%.2fx' % s['mean'], judged(s['mean'], s['bar'])),
             cell('-' if s['bar'] is None else '%.1fx' % s['bar']), cell('%.2fx' % s['most'] if s['most'] else ''), cell('%.2fx' % s['least'], judged(s['least'], cases.POINT_BAR)),
             cell(cases.size_name(s['least_size'])), cell(str(s['points'])), cell(str(s['moved'] or ''))] for s in table.summary()]
    head = ['case', 'ftmpi', 'geometric mean', 'wanted', results.BARE, 'least point', 'at', 'points', 'moved']
    return table_of(head, rows) if rows else ''


def case(table, benchmark, ranks):
    columns = table.columns()
    modes = [c[1] for c in columns if c[0] == results.OURS]
    rows = []
    for size in table.sizes(benchmark, ranks):
        row = [cell(cases.size_name(size))]
        for column in columns:
            c = table.cell(benchmark, ranks, size, column)
            row.append(cell('%.3f (%.0f%%)%s' % (c.us, c.spread * 100, ' ' + c.setting if c.setting not in ('', 'default') else '') if c else '-'))
        for mode in modes:
            ratio = table.ratio(benchmark, ranks, size, mode)
            row.append(cell('%.2fx' % ratio if ratio else '-', judged(ratio, cases.POINT_BAR) if ratio else ''))
        if (results.BARE, '') in columns:
            most = table.lead(benchmark, ranks, size, (results.BARE, ''))
            row.append(cell('%.2fx' % most if most else '-'))
        row.append(cell(table.block(benchmark, ranks, size).state(), 'moved'))
        rows.append(row)
    return table_of(['size'] + [plots.column_name(c) for c in columns] + ['ratio ' + m for m in modes] +
                    (['ratio ' + results.BARE] if (results.BARE, '') in columns else []) + ['machine'], rows)


def read_measurements(directory):
    rows = []
    for path in sorted(glob.glob(os.path.join(directory, '*.csv'))):
        with open(path, newline='', encoding='utf-8') as f:
            reader = csv.DictReader(f)
            if 'measure' in (reader.fieldnames or []):
                rows += list(reader)
    return rows


def measurement(rows, measure):
    """Medians: a line per variant and x, a column per part."""
    mine = [r for r in rows if r['measure'] == measure]
    parts = list(dict.fromkeys(r['part'] for r in mine))
    lines = []
    for variant, x in dict.fromkeys((r['variant'], r['x']) for r in mine):
        line = [cell(variant), cell(x)]
        for part in parts:
            values = [float(r['value']) for r in mine if (r['variant'], r['x'], r['part']) == (variant, x, part)]
            line.append(cell('%.4g (%.4g to %.4g)' % (statistics.median(values), min(values), max(values)) if values else '-'))
        lines.append(line)
    units = {r['part']: r['unit'] for r in mine}
    return table_of(['', mine[0]['x_name']] + ['%s, %s' % (p, units[p]) if units[p] else p for p in parts], lines)


def draw(table, rows, directory):
    """{heading: [file]}; empty without gnuplot."""
    if not plots.gnuplot():
        return None
    pictures = {}
    for benchmark, ranks in table.kinds():
        pictures[benchmark, ranks] = [plots.latency(table, benchmark, ranks, directory), plots.bandwidth(table, benchmark, ranks, directory)]
    for benchmark in dict.fromkeys(b for b, _ in table.kinds()):
        sizes = list(dict.fromkeys(s for b, r in table.kinds() if b == benchmark for s in table.sizes(b, r)))
        some = dict.fromkeys([sizes[0], sizes[len(sizes) // 2], sizes[-1]])
        pictures['ranks'] = pictures.get('ranks', []) + [plots.against_ranks(table, benchmark, s, directory) for s in some]
    for measure in dict.fromkeys(r['measure'] for r in rows):
        mine = [r for r in rows if r['measure'] == measure]
        log = '' if mine[0]['x_name'] in ('ranks', 'kills a second') else 'xy'
        pictures[measure] = [plots.measurements(rows, measure, mine[0]['x_name'], mine[0]['unit'], directory, log),
                             plots.stacked(rows, measure, mine[0]['unit'], directory)]
    return pictures


def images(pictures, key):
    return '<p>%s</p>\n' % '\n'.join('<img src="%s" alt="%s">' % (name, name) for name in (pictures or {}).get(key, []) if name)


def remember(directory, facts):
    """Those of earlier programs that wrote into this directory, and these."""
    path = os.path.join(directory, 'about.json')
    known = {}
    if os.path.exists(path):
        with open(path, encoding='utf-8') as f:
            known = json.load(f)
    known.update(facts)
    with open(path, 'w', encoding='utf-8') as f:
        json.dump(known, f, indent=1)
    return known


def prepare(directory):
    """Makes the report's directory, or says in one line why that can't be, and ends with code 2."""
    try:
        os.makedirs(directory, exist_ok=True)
    except OSError as e:
        print('%s: error: --report %s: %s' % (os.path.basename(sys.argv[0]), directory, e.strerror), file=sys.stderr)
        sys.exit(2)


def write(table, directory, facts, failures):
    """directory: prepared. facts: {name: text} for the top. Returns index.html's path, and what is to be said ('' or that there are no pictures)."""
    facts = remember(directory, dict(facts, written=time.strftime('%Y-%m-%d %H:%M UTC', time.gmtime())))
    rows = read_measurements(directory)
    pictures = draw(table, rows, directory)
    told = '' if pictures is not None else 'no gnuplot, so no pictures (package gnuplot-nox)'
    page = '<!DOCTYPE html><html lang="en">' + STYLE + '<h1>ftmpi benchmarks</h1>\n<pre>%s</pre>\n' % html.escape(
        '\n'.join('%-9s %s' % f for f in facts.items()))
    if told:
        page += '<p>%s</p>\n' % told
    if failures:
        page += '<h2>Failures</h2><pre class="bad">%s</pre>\n' % html.escape('\n\n'.join(failures))
    if table.rows:
        modes = [c[1] for c in table.columns() if c[0] == results.OURS]
        page += '<h2>Latency</h2><p>Microseconds: median of each library at its better setting, (spread), setting. Ratio: the better of the others ' \
                'over ftmpi; above 1, ftmpi is faster. Machine: ns for a cache line between the cores, runs of that state of all there are (only these count), ' \
                'the most that was stolen and went to others in a run. * : too few runs are of one state, so all count.</p><ul>%s</ul>' % \
                ''.join('<li>%s: %s</li>' % (m, html.escape(cases.MODES[m])) for m in modes)
        page += summary(table) + images(pictures, 'ranks')
        for benchmark, ranks in table.kinds():
            page += '<h3>%s, %d ranks</h3>\n' % (benchmark, ranks) + case(table, benchmark, ranks) + images(pictures, (benchmark, ranks))
    for measure in dict.fromkeys(r['measure'] for r in rows):
        page += '<h2>%s</h2>\n<p>Medians (smallest to largest).</p>\n' % html.escape(measure.capitalize()) + measurement(rows, measure)
        page += images(pictures, measure)
    path = os.path.join(directory, 'index.html')
    with open(path, 'w', encoding='utf-8') as f:
        f.write(page + '</html>\n')
    return path, told
