# SPDX-License-Identifier: BSD-3-Clause
"""What is measured: operations, ranks, sizes, how many calls, and what is wanted of them."""

import math

# Messages in a call, of each pair of ranks (benchmarks/pairs.h). Their bars are the same for all numbers of ranks.
MESSAGES = {'latency': 2, 'bandwidth': 64, 'bibandwidth': 128, 'anysource': 64}
MESSAGE_BAR = 1.2
# Microbenchmarks of the report with their bars (docs/performance.md, the column "wanted"): the better of the others over ftmpi, geometric mean over SIZES, by ranks on two cores.
BARS = {
    2: {'allreduce': 2.0, 'bcast': 1.5, 'reduce': 1.8, 'allgather': 1.8, 'barrier': 1.2},
    4: {'allreduce': 2.0, 'bcast': 1.5, 'reduce': 1.5, 'allgather': 1.5, 'barrier': 1.8},
    8: {'allreduce': 2.5, 'bcast': 1.5, 'reduce': 1.5, 'allgather': 1.5, 'barrier': 2.5},
    16: {'allreduce': 3.0, 'bcast': 1.5, 'reduce': 1.5, 'allgather': 1.5, 'barrier': 3.0},
}
POINT_BAR = 1.0     # no single point below
OPERATIONS = ['allreduce', 'bcast', 'reduce', 'allgather', 'barrier']
UNSIZED = ['barrier', 'dup', 'split']
EVERY_OPERATION = OPERATIONS + ['allgatherv', 'dup', 'split'] + list(MESSAGES)
SIZES = '8:16m:4'
GROUP = 4           # sizes that one run goes through: a job's start, and `settled`'s first seconds, are paid once for them
# --quick: what fits two minutes, with what is built before and what benchmarks/faults adds behind.
QUICK_RANKS, QUICK_SIZES, QUICK_SECONDS = [2, 4], '8,4k,1m', 92
MINUTES = 75        # of all the rest, unless --minutes says other

# Calls per run, by size: long enough to measure, and a few hundred MiB of log at most.
COUNTS = [(64, 200000), (1 << 10, 100000), (4 << 10, 50000), (16 << 10, 16000), (64 << 10, 5000), (256 << 10, 1500),
          (1 << 20, 400), (4 << 20, 120), (1 << 62, 40)]
LOG_CAP = 512 << 20   # bytes of results in one run; at least three calls
RECORD = 192          # bytes of log a unit takes at most beyond its result: its head and rounding
SEGMENT = 16 << 10    # a large result is logged in pieces; each has a head


def parse_size(text):
    unit = {'k': 10, 'm': 20, 'g': 30}.get(text[-1:].lower(), 0)
    size = int(text[:-1] if unit else text) << unit
    if size < 1:
        raise ValueError(text)
    return size


def parse_sizes(text):
    """A list 8,1k,4m, or MIN:MAX:FACTOR, which always has MAX, too."""
    if ':' not in text:
        return [parse_size(s) for s in text.split(',')]
    low, high, factor = (text.split(':') + ['2'])[:3]
    low, high, factor = parse_size(low), parse_size(high), int(factor)
    if factor < 2 or high < low:
        raise ValueError(text)
    sizes = [low]
    while sizes[-1] * factor < high:
        sizes.append(sizes[-1] * factor)
    return sizes + [high] if high > low else sizes


def size_name(size):
    if size is None:
        return '-'
    for unit, name in ((1 << 20, 'MiB'), (1 << 10, 'KiB')):
        if size >= unit and size % unit == 0:
            return '%d %s' % (size // unit, name)
    return '%d B' % size


def parts(benchmark, ranks):
    """How many contributions a result holds; how many messages a call sends."""
    return ranks if benchmark.startswith('allgather') else MESSAGES[benchmark] * ranks // 2 if benchmark in MESSAGES else 1


def count_for(benchmark, ranks, size, quick):
    """Calls of a run, were they fast enough (see affordable)."""
    n = next(n for limit, n in COUNTS if (size or 8) <= limit)
    n //= max(1, MESSAGES[benchmark] // 4 if benchmark in MESSAGES else ranks * ranks // 8)
    if quick:
        n //= 2
    return max(min(max(n, 10), LOG_CAP // ((size or 1) * parts(benchmark, ranks))), 3)


def affordable(count, us, seconds):
    """With more ranks than cores some calls take milliseconds: no more of them than fit the time."""
    return max(3, min(count, int(seconds * 1e6 / us))) if us else count


def warmup(count):
    return max(2, count // 10)


def result_bytes(benchmark, ranks, size):
    return (size or 0) * parts(benchmark, ranks)


def log_bytes(benchmark, ranks, size, count):
    """Of count calls and their warm-up, and of the program's few others."""
    result = result_bytes(benchmark, ranks, size)
    calls = count + warmup(count) + 8
    need = calls * (result + RECORD * ((parts(benchmark, ranks) if benchmark in MESSAGES else 1) + result // SEGMENT))
    if benchmark in ('bcast', 'reduce'):
        need += 2 * calls * (16 + RECORD)     # a barrier before each, the times afterwards
    return need


# ftmpi's modes.
MODES = {
    'within': 'fault tolerance on, within budget: the log is prepared before timing and large enough',
    'sustained': 'fault tolerance on, four times as many calls as the prepared log holds, no snapshots',
    'settled': 'fault tolerance on, sustained, as users run it: nothing prepared, snapshots by default, the log released behind them and its memory '
               'used again, which it is when timing begins',
    'released': 'the same in the first second of a job: the log is new memory all the time, until there are snapshots behind it',
    'unlogged': 'fault tolerance off (--max-restarts 0)',
}
START_MS = 100                                 # of barriers before all, where ranks share processors: whoever finds his own does so by then
SECONDS, QUICK_RUN_SECONDS = 0.4, 0.1          # of a run, at most and roughly
REPEAT, QUICK_REPEAT = 7, 3                    # runs of each in a block, at most: fewer when its time is over, or ...
ENOUGH, STEADY = 3, 0.05                       # ... after so many, if no MPI's runs are further apart than this share of their median
RUN_LIMIT, QUICK_RUN_LIMIT = 60, 10            # no run may take longer, in seconds
TRIALS = 3                                     # of each setting, by turns: one alone may meet another state of the machine than the next one
TRIAL_LIMIT = 20                               # nor one of a trial longer than so many times what the default setting takes
PROBE_CALLS, PROBE_LARGE = (5, 2000), 2        # a first and a second probe; the first one's calls above 1 MiB
PROBE_SECONDS = 0.2                            # the second one's time for all sizes, roughly
TRIAL_SHARE = 0.25                             # of a case's time is for trying settings, at most
HOPELESS = 5                                   # so many times slower than another: not measured at that size
RELEASED_TIMES, RELEASED_WARMUP = 3, 0.5       # so much longer is one of `released`; so many more calls are not timed
# launcher/snap/cadence.c: the first snapshots are taken after a second, or after 100 times what one is thought to cost, one processor's ranks one after
# the other; or earlier, if more than 64 MiB were logged. Then the log still grows, to what is written from one to the next.
FIRST_S, FIRST_COST_S, FIRST_LOG, GROWS_S = 1, 0.125, 64 << 20, 1
SETTLED_TRIES = 4                              # each twice as long as the one before


def settled_seconds(ranks, cores):
    return max(FIRST_S, math.ceil(FIRST_COST_S * math.ceil(ranks / cores))) + GROWS_S


def is_settled(report, benchmark, ranks, calls):
    """Whether the timed calls {size: number} of that job wrote to used memory: each rank had a snapshot, and before them more was logged than is
    ever held."""
    before = report['log_bytes'] - sum(n * result_bytes(benchmark, ranks, size) for size, n in calls.items())
    return report['snapshots']['taken'] >= ranks and (report['peak_log_bytes'] < FIRST_LOG or before >= report['peak_log_bytes'])


def budget(mode, benchmark, ranks, counts, wall=None, seconds=0):
    """(options of ftrun, {size: calls}, {size: warm-up calls}) of a mode. {size: us} of one call and seconds a size: for what has no end."""
    warm = {size: warmup(n) for size, n in counts.items()}
    if mode == 'settled':
        counts = {size: max(5, int(seconds * 1e6 / us)) for size, us in wall.items()}
        return [], counts, {size: warmup(n) for size, n in counts.items()}
    if mode == 'released':
        counts = {size: max(20, int(RELEASED_TIMES * seconds * 1e6 / us / (1 + RELEASED_WARMUP))) for size, us in wall.items()}
        return [], counts, {size: int(n * RELEASED_WARMUP) for size, n in counts.items()}
    if mode == 'unlogged':
        return ['--max-restarts', '0'], counts, warm
    need = sum(log_bytes(benchmark, ranks, size, n) for size, n in counts.items()) + (64 << 20)
    if mode == 'within':
        return ['--snapshot', 'off', '--log-prepare', str(need), '--log-limit', str(need + (256 << 20))], counts, warm
    return ['--snapshot', 'off', '--log-prepare', str(need // 4 + (16 << 20)), '--log-limit', str(need * 2 + (256 << 20))], counts, warm
