"""Ways to use a connection: compatibility levels, prefixes, pools, threads, closing."""
import threading

import happybase


def run(h):
    t = h.make('x', {'cf': {}})
    with t.batch(timestamp=50) as b:
        for i in range(20):
            b.put(b'k%02d' % i, {b'cf:n': b'%d' % i, b'cf:o': b'o'})
    levels(h)
    prefixes(h)
    pool(h)
    connections(h)


def levels(h):
    for level in ('0.90', '0.92', '0.94', '0.96', '0.98'):
        c = h.connect(compat=level)
        t = c.table(h.name('x'))
        forms(h, 'compat %s: ' % level, t)
        c.close()


def forms(h, label, t):
    keys = lambda **more: [k for k, _ in t.scan(**more)]
    every = [b'k%02d' % i for i in range(20)]
    h.check(label + 'row', lambda: t.row(b'k07'), {b'cf:n': b'7', b'cf:o': b'o'})
    h.check(label + 'scan', lambda: keys(batch_size=7), every)
    h.check(label + 'scan row_start', lambda: keys(row_start=b'k15'), every[15:])
    h.check(label + 'scan row_start, row_stop', lambda: keys(row_start=b'k05', row_stop=b'k10'), every[5:10])
    h.check(label + 'scan row_prefix, limit', lambda: keys(row_prefix=b'k1', limit=4), every[10:14])
    h.check(label + 'scan columns', lambda: list(t.scan(row_prefix=b'k03', columns=[b'cf:n'])), [(b'k03', {b'cf:n': b'3'})])
    h.check(label + 'scan timestamp', lambda: (keys(timestamp=50), keys(timestamp=51, limit=1)), ([], every[:1]))
    h.check(label + 'scan row_stop, timestamp', lambda: (keys(row_stop=b'k02', timestamp=50), keys(row_stop=b'k02', timestamp=51)), ([], every[:2]))


def prefixes(h):
    c = h.connect(table_prefix=h.options.prefix)
    h.check('table_prefix: tables', lambda: b'x' in c.tables(), True)
    h.check('table_prefix: create', lambda: (c.create_table('px', {'cf': {}}), h.raw('px') in h.conn.tables()), (None, True))
    h.check('table_prefix: write and read', lambda: (c.table('px').put(b'r', {b'cf:a': b'1'}), h.table('px').row(b'r')), (None, {b'cf:a': b'1'}))
    h.check('table_prefix: delete', lambda: (c.delete_table('px', disable=True), h.raw('px') in h.conn.tables()), (None, False))
    c.close()


def pool(h):
    pool = happybase.ConnectionPool(size=3, host=h.options.host, port=h.options.port, timeout=30000,
                                    transport=h.options.transport, protocol=h.options.protocol)
    faults = []

    def work(number):
        try:
            for i in range(20):
                with pool.connection() as c:
                    t = c.table(h.name('x'))
                    row = b'p%d-%d' % (number, i)
                    t.put(row, {b'cf:n': row})
                    if t.row(row) != {b'cf:n': row}:
                        faults.append(row)
        except Exception as error:
            faults.append(repr(error))

    def threads():
        workers = [threading.Thread(target=work, args=(i,)) for i in range(6)]
        for w in workers:
            w.start()
        for w in workers:
            w.join()
        return faults, sum(1 for _ in h.table('x').scan(row_prefix=b'p'))

    h.check('ConnectionPool: six threads over three connections', threads, ([], 120))


def connections(h):
    def again():
        c = h.connect()
        c.close()
        c._refresh_thrift_client()
        c.open()
        got = c.table(h.name('x')).row(b'k01', columns=[b'cf:n'])
        c.close()
        return got

    h.check('a connection opened again', again, {b'cf:n': b'1'})
    h.check('twelve connections at once', lambda: at_once(h), [{b'cf:n': b'%d' % i} for i in range(12)])


def at_once(h):
    """Twelve, since a real gateway has sixteen workers and hands none to a seventeenth."""
    connections = [h.connect() for _ in range(12)]
    got = [c.table(h.name('x')).row(b'k%02d' % i, columns=[b'cf:n']) for i, c in enumerate(connections)]
    for c in connections:
        c.close()
    return got
