"""A happybase client that works until its standard input ends, and until it has
made as many rounds as that said: honest.py HOST PORT TABLE

Prints how many rounds it made; any answer that is not the right one ends it
with an error.
"""
import sys
import threading
import time

import happybase

host, port, name = sys.argv[1], int(sys.argv[2]), sys.argv[3]
ended = threading.Event()
at_least = 0


def wait():
    global at_least
    at_least = int(sys.stdin.read() or 0)
    ended.set()


threading.Thread(target=wait, daemon=True).start()

connection = happybase.Connection(host, port, timeout=90000)
table = connection.table(name)
rounds = 0
while not ended.is_set() or rounds < at_least:
    row = b'py%d' % (rounds % 10)
    value = {b'cf:n': b'%d' % rounds, b'cf:who': b'python'}
    table.put(row, value)
    if table.row(row) != value:
        sys.exit('row %r is %r, want %r' % (row, table.row(row), value))
    found = [k for k, _ in table.scan(row_prefix=b'py')]
    if found != [b'py%d' % i for i in range(min(rounds + 1, 10))]:
        sys.exit('the scan gives %r' % found)
    rounds += 1
    time.sleep(0.002)
print(rounds)
