"""Threads that share one happybase connection without a lock: unlocked.py HOST PORT TABLE

Whatever comes of it for them: errors, an ended connection; the client's own
buffers are not made for it either, and may take the whole process with them.
Prints the errors that the threads saw.
"""
import sys
import threading

import happybase

host, port, name = sys.argv[1], int(sys.argv[2]), sys.argv[3]
THREADS, CALLS = 8, 30
seen = {}


def work(table):
    try:
        for i in range(CALLS):
            table.put(b'un%d' % i, {b'cf:a': b'x' * 500, b'cf:b': b'y'})
            table.row(b'un%d' % i)
    except Exception as error:
        kind = type(error).__name__
        seen[kind] = seen.get(kind, 0) + 1


shared = happybase.Connection(host, port, timeout=2000)
threads = [threading.Thread(target=work, args=(shared.table(name),)) for _ in range(THREADS)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(seen)
