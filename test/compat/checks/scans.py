"""Table.scan in all its forms."""
from collections import OrderedDict

from .harness import IOError_, Raises, That


def run(h):
    t = h.make('s', {'cf': {}, 'f1': {}})
    with t.batch(timestamp=50) as b:
        for i in range(100):
            b.put(b'k%03d' % i, {b'cf:n': b'%d' % i, b'cf:p': b'%d' % (i % 2), b'f1:m': b'm%d' % i})
    for i in range(0, 100, 10):
        t.put(b'k%03d' % i, {b'cf:n': b'new'}, timestamp=60)
    t.put(b'wide', {b'cf:%02d' % i: b'%d' % i for i in range(10)}, timestamp=50)
    ranges(h, t)
    batches(h, t)
    reverse(h, t)
    columns(h, t)
    timestamps(h, t)
    partial(h, t)
    binary_prefixes(h)
    deleted_rows(h)
    refusals(h, t)


def keys(rows):
    return [k for k, _ in rows]


def k(*numbers):
    return [b'k%03d' % n for n in numbers]


def ranges(h, t):
    every = k(*range(100)) + [b'wide']
    h.check('scan', lambda: keys(t.scan()), every)
    h.check('scan: rows are whole', lambda: dict(t.scan())[b'k007'], {b'cf:n': b'7', b'cf:p': b'1', b'f1:m': b'm7'})
    h.check('scan: row_start is inclusive', lambda: keys(t.scan(row_start=b'k098')), k(98, 99) + [b'wide'])
    h.check('scan: row_start between rows', lambda: keys(t.scan(row_start=b'k0975')), k(98, 99) + [b'wide'])
    h.check('scan: row_start after all', lambda: keys(t.scan(row_start=b'zzz')), [])
    h.check('scan: row_stop is exclusive', lambda: keys(t.scan(row_stop=b'k003')), k(0, 1, 2))
    h.check('scan: row_start and row_stop', lambda: keys(t.scan(row_start=b'k010', row_stop=b'k013')), k(10, 11, 12))
    h.check('scan: a range of one row', lambda: keys(t.scan(row_start=b'k010', row_stop=b'k010\0')), k(10))
    h.check('scan: an empty range', lambda: keys(t.scan(row_start=b'k0101', row_stop=b'k0102')), [])
    h.check('scan: row_prefix', lambda: keys(t.scan(row_prefix=b'k09')), k(*range(90, 100)))
    h.check('scan: row_prefix that is a whole key', lambda: keys(t.scan(row_prefix=b'k042')), k(42))
    h.check('scan: row_prefix of none', lambda: keys(t.scan(row_prefix=b'x')), [])
    h.check('scan: limit', lambda: keys(t.scan(limit=3)), k(0, 1, 2))
    h.check('scan: limit above what there is', lambda: len(list(t.scan(row_prefix=b'k09', limit=1000))), 10)
    h.check('scan: limit and row_prefix', lambda: keys(t.scan(row_prefix=b'k05', limit=2)), k(50, 51))
    h.check('scan: limit 1', lambda: keys(t.scan(row_start=b'k077', limit=1)), k(77))


def batches(h, t):
    every = k(*range(100)) + [b'wide']
    for size in (1, 2, 7, 100, 101, 102, 10000):
        h.check('scan: batch_size %d' % size, lambda: keys(t.scan(batch_size=size)), every)
    h.check('scan: batch_size 4, limit 10', lambda: keys(t.scan(batch_size=4, limit=10)), k(*range(10)))
    h.check('scan: batch_size 5, limit 10', lambda: keys(t.scan(batch_size=5, limit=10)), k(*range(10)))
    h.check('scan: batch_size above limit', lambda: keys(t.scan(batch_size=50, limit=3)), k(0, 1, 2))


def reverse(h, t):
    h.check('scan: reverse', lambda: keys(t.scan(reverse=True)), [b'wide'] + k(*range(99, -1, -1)))
    h.check('scan: reverse, row_start is inclusive', lambda: keys(t.scan(row_start=b'k002', reverse=True)), k(2, 1, 0))
    h.check('scan: reverse, row_start between rows', lambda: keys(t.scan(row_start=b'k0025', reverse=True)), k(2, 1, 0))
    h.check('scan: reverse, row_stop is exclusive', lambda: keys(t.scan(row_stop=b'k097', reverse=True)), [b'wide'] + k(99, 98))
    h.check('scan: reverse, row_start and row_stop', lambda: keys(t.scan(row_start=b'k013', row_stop=b'k010', reverse=True)), k(13, 12, 11))
    h.check('scan: reverse, limit', lambda: keys(t.scan(row_start=b'k060', limit=3, reverse=True)), k(60, 59, 58))
    h.check('scan: reverse, batch_size 3', lambda: keys(t.scan(row_start=b'k060', row_stop=b'k050', batch_size=3, reverse=True)), k(*range(60, 50, -1)))
    h.check('scan: reverse, row_prefix', lambda: keys(t.scan(row_prefix=b'k01', reverse=True)), k(*range(19, 9, -1)))
    h.check('scan: reverse, columns', lambda: list(t.scan(row_start=b'k003', columns=[b'f1:m'], limit=2, reverse=True)),
            [(b'k003', {b'f1:m': b'm3'}), (b'k002', {b'f1:m': b'm2'})])
    h.check('scan: reverse, a wide row is in the order of its columns', lambda: list(next(iter(t.scan(reverse=True, sorted_columns=True)))[1]),
            [b'cf:%02d' % i for i in range(10)])


def columns(h, t):
    h.check('scan: a column', lambda: list(t.scan(row_stop=b'k002', columns=[b'cf:p'])), [(b'k000', {b'cf:p': b'0'}), (b'k001', {b'cf:p': b'1'})])
    h.check('scan: a family', lambda: list(t.scan(row_start=b'k001', row_stop=b'k002', columns=[b'cf'])), [(b'k001', {b'cf:n': b'1', b'cf:p': b'1'})])
    h.check('scan: columns of two families', lambda: list(t.scan(row_start=b'k001', row_stop=b'k002', columns=[b'cf:n', b'f1:m'])),
            [(b'k001', {b'cf:n': b'1', b'f1:m': b'm1'})])
    h.check('scan: a column and another family', lambda: list(t.scan(row_start=b'k001', row_stop=b'k002', columns=[b'cf:n', b'f1'])),
            [(b'k001', {b'cf:n': b'1', b'f1:m': b'm1'})])
    h.check('scan: rows without the column are left out', lambda: keys(t.scan(columns=[b'cf:03'])), [b'wide'])
    h.check('scan: a column that no row has', lambda: keys(t.scan(columns=[b'cf:zzz'])), [])
    h.check('scan: limit counts rows that have the column', lambda: keys(t.scan(columns=[b'cf:05'], limit=5)), [b'wide'])
    h.check('scan: sorted_columns', lambda: list(t.scan(row_start=b'wide', sorted_columns=True)),
            [(b'wide', OrderedDict((b'cf:%02d' % i, b'%d' % i) for i in range(10)))])
    h.check('scan: sorted_columns over two families', lambda: list(next(iter(t.scan(limit=1, sorted_columns=True)))[1].items()),
            [(b'cf:n', b'new'), (b'cf:p', b'0'), (b'f1:m', b'm0')])
    h.check('scan: sorted_columns, include_timestamp', lambda: list(t.scan(limit=1, sorted_columns=True, include_timestamp=True)),
            [(b'k000', OrderedDict([(b'cf:n', (b'new', 60)), (b'cf:p', (b'0', 50)), (b'f1:m', (b'm0', 50))]))])


def timestamps(h, t):
    h.check('scan: include_timestamp', lambda: list(t.scan(row_prefix=b'k010', include_timestamp=True)),
            [(b'k010', {b'cf:n': (b'new', 60), b'cf:p': (b'0', 50), b'f1:m': (b'm10', 50)})])
    h.check('scan: timestamp is exclusive', lambda: list(t.scan(row_prefix=b'k010', columns=[b'cf:n'], timestamp=60)), [(b'k010', {b'cf:n': b'10'})])
    h.check('scan: timestamp just after', lambda: list(t.scan(row_prefix=b'k010', columns=[b'cf:n'], timestamp=61)), [(b'k010', {b'cf:n': b'new'})])
    h.check('scan: timestamp before all', lambda: list(t.scan(timestamp=50)), [])
    h.check('scan: timestamp, include_timestamp, limit', lambda: list(t.scan(timestamp=51, columns=[b'cf:n'], include_timestamp=True, limit=2)),
            [(b'k000', {b'cf:n': (b'0', 50)}), (b'k001', {b'cf:n': (b'1', 50)})])


def partial(h, t):
    """scan_batching cuts rows into results of so many cells."""
    def sizes(**more):
        return [(key, len(data)) for key, data in t.scan(row_start=b'k099', scan_batching=4, **more)]

    want = [(b'k099', 3), (b'wide', 4), (b'wide', 4), (b'wide', 2)]
    h.check('scan: scan_batching', lambda: sizes(), want)
    h.check('scan: scan_batching, batch_size 1', lambda: sizes(batch_size=1), want)
    h.check('scan: scan_batching, limit counts parts', lambda: sizes(limit=3), want[:3])
    h.check('scan: scan_batching, sorted_columns', lambda: [list(d) for _, d in t.scan(row_start=b'wide', scan_batching=6, sorted_columns=True)],
            [[b'cf:%02d' % i for i in range(6)], [b'cf:%02d' % i for i in range(6, 10)]])
    h.check('scan: scan_batching above the row', lambda: [len(d) for _, d in t.scan(row_start=b'wide', scan_batching=100)], [10])
    h.check('scan: scan_batching 1', lambda: [d for _, d in t.scan(row_start=b'wide', scan_batching=1)], [{b'cf:%02d' % i: b'%d' % i} for i in range(10)])


def binary_prefixes(h):
    t = h.make('c02', {'cf': {}})
    for row in ('7f01', '8000', '80ff', '81', 'ff', 'ff00', 'ffff'):
        t.put(bytes.fromhex(row), {b'cf:a': b'1'})

    def found(**more):
        return ' '.join(key.hex() for key, _ in t.scan(**more))

    one = bytes.fromhex
    h.check('C02 scan: all keys sort as unsigned bytes', lambda: found(), '7f01 8000 80ff 81 ff ff00 ffff')
    h.check('C02 scan: prefix 80', lambda: found(row_prefix=one('80')), '8000 80ff')
    h.check('C02 scan: prefix ff', lambda: found(row_prefix=one('ff')), 'ff ff00 ffff')
    h.check('C02 scan: prefix 7f', lambda: found(row_prefix=one('7f')), '7f01')
    h.check('C02 scan: prefix ffff', lambda: found(row_prefix=one('ffff')), 'ffff')
    h.check('C02 scan: prefix 80 reversed', lambda: found(row_prefix=one('80'), reverse=True), '81 80ff 8000')
    h.check('C02 scan: prefix ff reversed', lambda: found(row_prefix=one('ff'), reverse=True), 'ffff ff00')
    h.check('C02 scan: prefix 7f reversed', lambda: found(row_prefix=one('7f'), reverse=True), '7f01')
    h.check('C02 scan: start and stop reversed', lambda: found(row_start=one('ff00'), row_stop=one('80ff'), reverse=True), 'ff00 ff 81')
    h.check('C02 scan: all reversed', lambda: found(reverse=True), 'ffff ff00 ff 81 80ff 8000 7f01')


def deleted_rows(h):
    """A limit counts rows that are there, not those that were."""
    t = h.make('c29', {'cf': {}})
    for row in (b'r1', b'r2', b'r3'):
        t.put(row, {b'cf:a': b'1'})
    first_two = lambda: keys(t.scan(limit=2))
    h.check('C29 scan: limit 2 of three rows', first_two, [b'r1', b'r2'])
    h.check('C29 scan: limit 2 after a delete', lambda: (t.delete(b'r1'), first_two()), (None, [b'r2', b'r3']))
    h.check('C29 scan: limit 2 after two deletes', lambda: (t.delete(b'r2'), first_two()), (None, [b'r3']))


def refusals(h, t):
    missing = h.table('missing')
    h.check('scan: missing table', lambda: list(missing.scan()),
            Raises(IOError_, b'org.apache.hadoop.hbase.TableNotFoundException: Table \'' + missing.name + b"' was not found"))
    h.check('scan: missing family', lambda: list(t.scan(columns=[b'nofam:x'])), Raises(IOError_, b'NoSuchColumnFamilyException', b'nofam'))
    h.check('scan: left early', lambda: keys(next(t.scan(batch_size=3)) for _ in range(2)), k(0, 0))
    h.check('scan: while rows are written', lambda: writing(t), That('every old row, once, in order', lambda seen: seen == k(*range(100))))


def writing(t):
    """Puts and overwrites between the batches of an open scan must not lose or double a row."""
    seen = []
    for key, _ in t.scan(row_prefix=b'k', batch_size=10):
        if len(key) == 4:
            seen.append(key)
            t.put(key + b'x', {b'cf:n': b'added'})
            t.put(key, {b'cf:n': b'again'})
    return seen
