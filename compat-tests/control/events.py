# SPDX-License-Identifier: BSD-3-Clause
"""events.py SCHEMA FILE [REPORT]: are these the events of a job, each once and in an order that can be? What is wrong, one line each; code 1.

Each line keeps to the schema; "seq" counts; a rank starts, dies and comes back in turn, and ends. With a report: the deaths are those it has.
"""
import collections
import json
import sys

from schema import Checker

AFTER = {  # of one rank, or node
    'rank_started': {None}, 'rank_died': {'rank_started', 'rank_restarted', 'rank_back', 'rank_ended'}, 'rank_restarted': {'rank_died'},
    'rank_back': {'rank_restarted'}, 'rank_ended': {'rank_started', 'rank_restarted', 'rank_back'},
}


def in_turn(events, wrong):
    """What happens to each rank."""
    last = collections.defaultdict(lambda: None)
    for e in events:
        before = last[e.get('rank')]
        if e['event'] in AFTER:
            if before not in AFTER[e['event']]:
                wrong.append(f'rank {e["rank"]}: {e["event"]} after {before}')
            last[e['rank']] = e['event']


def counted(events, wrong):
    """None is missing, but for those that are said to have been dropped; none is there twice."""
    seq = 0
    for e in events:
        seq += 1 + e.get('dropped', 0)
        if e['seq'] != seq:
            wrong.append(f'seq {e["seq"]}, not {seq}')
            seq = e['seq']
    names = [e['event'] for e in events]
    if [names.count('job_began'), names.count('job_ended')] != [1, 1] or names[0] != 'job_began' or names[-1] != 'job_ended':
        wrong.append(f'not from the beginning to the end: {names}')
    if len({e['job'] for e in events}) != 1:
        wrong.append('of several jobs')


def compared(events, report, wrong):
    """What the report says that has happened."""
    deaths = sorted((e['rank'], e['pid'] or 0, e['signal'] or 0, e['host']) for e in events if e['event'] == 'rank_died')
    wanted = sorted((r['rank'], r['pid'] or 0, r['signal'] or 0, r['host']) for r in report['restarts'])
    if deaths != wanted:
        wrong.append(f'deaths: {deaths}, and in the report {wanted}')
    back = sorted((e['rank'], e['way_back']) for e in events if e['event'] == 'rank_back')
    wanted = sorted((r['rank'], r['way_back']) for r in report['restarts'] if r['recover_seconds'] is not None)
    if back != wanted:
        wrong.append(f'back: {back}, and in the report {wanted}')
    lost = sorted((e['node'], e['host']) for e in events if e['event'] == 'node_lost')
    if lost != sorted((n['node'], n['host']) for n in report['hosts_lost']):
        wrong.append(f'nodes lost: {lost}, and in the report {report["hosts_lost"]}')
    ended = {e['rank'] for e in events if e['event'] == 'rank_ended'}
    if report['exit_code'] == 0 and ended != set(range(report['ranks'])):
        wrong.append(f'ranks that have ended: {ended}')
    if events[-1].get('exit_code') != report['exit_code']:
        wrong.append(f'exit code: {events[-1]}')


def main():
    """See above."""
    with open(sys.argv[1], encoding='utf-8') as f:
        checker = Checker(json.load(f))
    with open(sys.argv[2], encoding='utf-8') as f:
        events = [json.loads(line) for line in f]
    for e in events:
        checker.check(checker.schema['$defs'][e['event']], e, e['event'])
    wrong = checker.wrong
    counted(events, wrong)
    in_turn(events, wrong)
    if len(sys.argv) > 3:
        with open(sys.argv[3], encoding='utf-8') as f:
            compared(events, json.load(f), wrong)
    print('\n'.join(wrong), end='\n' if wrong else '')
    return bool(wrong)


if __name__ == '__main__':
    sys.exit(main())
