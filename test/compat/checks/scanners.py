"""Scanners by their ids: every scannerOpen, scannerGet, scannerGetList, scannerClose."""
from .harness import Closed, IllegalArgument, IOError_, Raises, That, thrift

INVALID = Raises(IllegalArgument, b'scanner ID is invalid')


def run(h):
    t = h.make('sc', {'cf': {}, 'f1': {}})
    for i in range(10):
        t.put(b'r%d' % i, {b'cf:a': b'%d' % i, b'f1:b': b'%d' % i}, timestamp=100 + i)
    batches(h, t)
    opens(h, t)
    ids(h, t)
    faults(h, t)


def take(h, scanner, size=1000):
    """All rows of a scanner, which is closed."""
    rows = []
    while True:
        some = h.client.scannerGetList(scanner, size)
        if not some:
            h.client.scannerClose(scanner)
            return [r.row for r in rows]
        rows.extend(some)


def r(*numbers):
    return [b'r%d' % n for n in numbers]


def batches(h, t):
    def sizes():
        scanner = h.client.scannerOpen(t.name, b'', [], {})
        got = [len(h.client.scannerGetList(scanner, 4)) for _ in range(5)]
        h.client.scannerClose(scanner)
        return got

    h.check('C01 scannerGetList: short only at the end', sizes, [4, 4, 2, 0, 0])


def opens(h, t):
    c = lambda: h.client  # the connection may be another after a failed check
    h.check('scannerOpen', lambda: take(h, c().scannerOpen(t.name, b'r7', [], {})), r(7, 8, 9))
    h.check('scannerOpen: columns', lambda: take(h, c().scannerOpen(t.name, b'r7', [b'cf:a', b'f1'], {})), r(7, 8, 9))
    h.check('scannerOpenWithStop', lambda: take(h, c().scannerOpenWithStop(t.name, b'r2', b'r5', [], {})), r(2, 3, 4))
    h.check('scannerOpenWithPrefix', lambda: take(h, c().scannerOpenWithPrefix(t.name, b'r', [], {})), r(*range(10)))
    h.check('scannerOpenWithPrefix: one row', lambda: take(h, c().scannerOpenWithPrefix(t.name, b'r3', [b'cf'], {})), r(3))
    h.check('scannerOpenWithPrefix: none', lambda: take(h, c().scannerOpenWithPrefix(t.name, b'q', [], {})), [])
    h.check('scannerOpenTs: exclusive', lambda: take(h, c().scannerOpenTs(t.name, b'', [], 103, {})), r(0, 1, 2))
    h.check('scannerOpenWithStopTs', lambda: take(h, c().scannerOpenWithStopTs(t.name, b'r1', b'r9', [], 104, {})), r(1, 2, 3))
    h.check('scannerOpenWithScan: nothing set', lambda: take(h, c().scannerOpenWithScan(t.name, thrift.TScan(), {})), r(*range(10)))
    h.check('scannerOpenWithScan: caching is no limit', lambda: take(h, c().scannerOpenWithScan(t.name, thrift.TScan(caching=2), {}), 3), r(*range(10)))
    h.check('scannerOpenWithScan: reversed', lambda: take(h, c().scannerOpenWithScan(
        t.name, thrift.TScan(startRow=b'r5', stopRow=b'r2', reversed=True), {}), 2), r(5, 4, 3))


def ids(h, t):
    c = lambda: h.client

    def one_by_one():
        scanner = c().scannerOpen(t.name, b'r8', [], {})
        got = [[x.row for x in c().scannerGet(scanner)] for _ in range(4)]
        c().scannerClose(scanner)
        return got

    def interleaved():
        first, second = c().scannerOpen(t.name, b'', [], {}), c().scannerOpen(t.name, b'r5', [], {})
        got = []
        for _ in range(2):
            got += [x.row for x in c().scannerGetList(first, 2)] + [x.row for x in c().scannerGetList(second, 1)]
        c().scannerClose(second)
        got += [x.row for x in c().scannerGetList(first, 1)]
        c().scannerClose(first)
        return got

    def from_another_connection():
        scanner = c().scannerOpen(t.name, b'', [], {})
        other = h.connect()
        got = [x.row for x in other.client.scannerGetList(scanner, 2)]
        other.close()
        got += [x.row for x in c().scannerGetList(scanner, 2)]
        c().scannerClose(scanner)
        return got

    h.check('scannerGet', one_by_one, [[b'r8'], [b'r9'], [], []])
    h.check('two scanners at once', interleaved, r(0, 1, 5, 2, 3, 6, 4))
    h.check('a scanner belongs to no connection', from_another_connection, r(0, 1, 2, 3))
    h.check('ids are small numbers that grow', lambda: growing(h, t), True)
    h.check('scannerGetList: 0 rows', lambda: zero(h, t), ([], r(0)))
    h.check('C01 scannerClose twice', lambda: twice(h, t), INVALID)
    h.check('scannerGetList: after close', lambda: after_close(h, t), INVALID)


def growing(h, t):
    opened = [h.client.scannerOpen(t.name, b'', [], {}) for _ in range(3)]
    for scanner in opened:
        h.client.scannerClose(scanner)
    return opened == sorted(opened) and len(set(opened)) == 3 and 0 <= opened[0] < 1 << 31


def zero(h, t):
    scanner = h.client.scannerOpen(t.name, b'', [], {})
    got = h.client.scannerGetList(scanner, 0), [x.row for x in h.client.scannerGetList(scanner, 1)]
    h.client.scannerClose(scanner)
    return got


def twice(h, t):
    scanner = h.client.scannerOpen(t.name, b'', [], {})
    h.client.scannerClose(scanner)
    h.client.scannerClose(scanner)


def after_close(h, t):
    scanner = h.client.scannerOpen(t.name, b'', [], {})
    h.client.scannerClose(scanner)
    h.client.scannerGetList(scanner, 1)


def faults(h, t):
    c = lambda: h.client
    missing = h.raw('missing')
    a_number = That('an id', lambda got: isinstance(got, int) and not isinstance(got, bool))
    h.check('scannerGet: unknown id', lambda: c().scannerGet(987654), INVALID)
    h.check('scannerGetList: unknown id', lambda: c().scannerGetList(987654, 10), INVALID)
    h.check('scannerClose: unknown id', lambda: c().scannerClose(987654), INVALID)
    h.check('scannerGetList: negative id', lambda: c().scannerGetList(-1, 10), INVALID)
    h.check('scannerOpen: a missing table opens', lambda: c().scannerOpen(missing, b'', [], {}), a_number)
    h.check('scannerOpenWithScan: a missing table opens', lambda: c().scannerOpenWithScan(missing, thrift.TScan(), {}), a_number)
    h.check('scannerGetList: of a missing table', lambda: c().scannerGetList(c().scannerOpen(missing, b'', [], {}), 1),
            Raises(IOError_, b'org.apache.hadoop.hbase.TableNotFoundException'))
    h.check('scannerOpen: a missing family opens', lambda: c().scannerOpen(t.name, b'', [b'nofam'], {}), a_number)
    h.check('scannerGetList: of a missing family', lambda: c().scannerGetList(c().scannerOpen(t.name, b'', [b'nofam'], {}), 1),
            Raises(IOError_, b'NoSuchColumnFamilyException'))
    h.check('scannerGetList: -1 rows', lambda: c().scannerGetList(c().scannerOpen(t.name, b'', [], {}), -1),
            Raises(IllegalArgument), real=Closed())
