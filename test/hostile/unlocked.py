"""Threads that share one happybase connection without a lock: unlocked.py HOST PORT TABLE

Any of them may fail, and the connection may end. A new connection must work
each time, which is checked; that no thread waits for ever, too.
"""
import sys
import threading

import happybase

host, port, name = sys.argv[1], int(sys.argv[2]), sys.argv[3]
ROUNDS, THREADS, CALLS = 20, 8, 30


def work(table, failures):
    try:
        for i in range(CALLS):
            table.put(b'un%d' % i, {b'cf:a': b'x' * 500, b'cf:b': b'y'})
            table.row(b'un%d' % i)
    except Exception as error:  # whatever comes of it
        failures.append(type(error).__name__)


seen = {}
for _ in range(ROUNDS):
    shared = happybase.Connection(host, port, timeout=5000)
    failures = []
    threads = [threading.Thread(target=work, args=(shared.table(name), failures)) for _ in range(THREADS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(120)
        if t.is_alive():
            sys.exit('a thread waits for ever')
    for f in failures:
        seen[f] = seen.get(f, 0) + 1
    shared.close()
    other = happybase.Connection(host, port, timeout=30000)
    other.table(name).put(b'other', {b'cf:a': b'1'})
    if other.table(name).row(b'other') != {b'cf:a': b'1'}:
        sys.exit('a new connection reads something else')
    other.close()
print('rounds: %d, what the threads saw: %r' % (ROUNDS, seen))
