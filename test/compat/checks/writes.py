"""Puts: single, in batches, in transactions, with and without log; and what is refused."""
import contextlib

from .harness import SAME, Closed, IllegalArgument, IOError_, Raises, That, thrift


def run(h):
    t = h.make('w', {'cf': dict(max_versions=3), 'f1': dict(max_versions=3)})
    single(h, t)
    binary(h, t)
    batches(h, t)
    order_in_batch(h, t)
    qualifiers(h, t)
    refusals(h, t)
    unknown_family(h)


def single(h, t):
    h.check('put', lambda: t.put(b'r1', {b'cf:a': b'1', b'f1:x': b'x1'}), None)
    h.check('put is read back', lambda: t.row(b'r1'), {b'cf:a': b'1', b'f1:x': b'x1'})
    h.check('put: timestamp', lambda: (
        t.put(b'ts', {b'cf:a': b'old'}, timestamp=1234), t.row(b'ts', include_timestamp=True)),
        (None, {b'cf:a': (b'old', 1234)}))
    h.check('put: timestamp 0', lambda: (
        t.put(b'ts0', {b'cf:a': b'0'}, timestamp=0), t.row(b'ts0', include_timestamp=True)),
        (None, {b'cf:a': (b'0', 0)}))
    h.check('put: an older timestamp does not hide a newer one', lambda: (
        t.put(b'ts', {b'cf:a': b'new'}, timestamp=2000), t.put(b'ts', {b'cf:a': b'late'}, timestamp=1500), t.row(b'ts')),
        (None, None, {b'cf:a': b'new'}))
    h.check('put: the same timestamp again replaces', lambda: (
        t.put(b'ts', {b'cf:a': b'new2'}, timestamp=2000), t.cells(b'ts', b'cf:a')), (None, [b'new2', b'late', b'old']))
    h.check('put: wal=False', lambda: (t.put(b'nowal', {b'cf:a': b'1'}, wal=False), t.row(b'nowal')), (None, {b'cf:a': b'1'}))
    h.check('put: now is the time in milliseconds', lambda: close_to_now(t), True)
    h.check('put: one mutation has one timestamp', lambda: len({v[1] for v in t.row(b'r1', include_timestamp=True).values()}), 1)
    h.check('put: 1,000 columns', lambda: (t.put(b'wide', {b'cf:%04d' % i: b'%d' % i for i in range(1000)}), len(t.row(b'wide'))), (None, 1000))
    h.check('put: 1 MiB value', lambda: (t.put(b'large', {b'cf:a': b'x' * (1 << 20)}), t.row(b'large')), (None, {b'cf:a': b'x' * (1 << 20)}))
    h.check('put: overwrites', lambda: (t.put(b'over', {b'cf:a': b'1'}), t.put(b'over', {b'cf:a': b'2'}), t.row(b'over')),
            (None, None, {b'cf:a': b'2'}))


def close_to_now(t):
    import time
    t.put(b'now', {b'cf:a': b'1'})
    at = t.row(b'now', include_timestamp=True)[b'cf:a'][1]
    return abs(at - time.time() * 1000) < 60000


def binary(h, t):
    octets = bytes(range(256))
    h.check('binary: value', lambda: (t.put(b'bin', {b'cf:v': octets}), t.row(b'bin')), (None, {b'cf:v': octets}))
    h.check('binary: qualifier', lambda: (t.put(b'binq', {b'cf:' + octets: b'1'}), t.row(b'binq')), (None, {b'cf:' + octets: b'1'}))
    h.check('binary: row', lambda: (t.put(octets[1:] + b'\0\0', {b'cf:v': b'1'}), t.row(octets[1:] + b'\0\0')), (None, {b'cf:v': b'1'}))
    h.check('binary: rows that differ in trailing zeros', lambda: (
        t.put(b'z', {b'cf:v': b'0'}), t.put(b'z\0', {b'cf:v': b'1'}), t.put(b'z\0\0', {b'cf:v': b'2'}),
        [t.row(k)[b'cf:v'] for k in (b'z', b'z\0', b'z\0\0')]), (None, None, None, [b'0', b'1', b'2']))
    h.check('binary: a row of 32,767 bytes', lambda: (
        t.put(b'k' * 32767, {b'cf:v': b'1'}), t.row(b'k' * 32767)), (None, {b'cf:v': b'1'}))


def batches(h, t):
    h.check('batch: 250 rows in sends of 100', lambda: fill(t), None)
    h.check('batch: all rows are there', lambda: sum(1 for _ in t.scan(row_prefix=b'k0')), 250)
    h.check('batch: a row of it', lambda: t.row(b'k0017'), {b'cf:n': b'17', b'f1:m': b'v' * 20})
    h.check('batch: timestamp', lambda: stamped(t), {b'cf:a': (b'1', 77), b'cf:b': (b'2', 77)})
    h.check('batch: empty', lambda: t.batch().send(), None)
    h.check('batch: transaction that ends well', lambda: (transaction(t, b'tx1', False), t.row(b'tx1')), (None, {b'cf:a': b'1'}))
    h.check('batch: transaction that fails sends nothing', lambda: (transaction(t, b'tx2', True), t.row(b'tx2')), (None, {}))
    h.check('batch: several puts to one row', lambda: several(t), {b'cf:a': b'1', b'cf:b': b'2', b'f1:c': b'3'})
    h.check('batch: wal=False, and one put with', lambda: mixed_wal(t), [{b'cf:a': b'1'}, {b'cf:a': b'2'}])
    h.check('batch: 20,000 rows at once', lambda: (many(t), sum(1 for _ in t.scan(row_prefix=b'm0'))), (None, 20000))


def fill(t):
    with t.batch(batch_size=100) as b:
        for i in range(250):
            b.put(b'k%04d' % i, {b'cf:n': b'%d' % i, b'f1:m': b'v' * 20})


def stamped(t):
    with t.batch(timestamp=77) as b:
        b.put(b'bts', {b'cf:a': b'1'})
        b.put(b'bts', {b'cf:b': b'2'})
    return t.row(b'bts', include_timestamp=True)


def transaction(t, row, fail):
    with contextlib.suppress(ZeroDivisionError):
        with t.batch(transaction=True) as b:
            b.put(row, {b'cf:a': b'1'})
            if fail:
                1 // 0


def several(t):
    with t.batch() as b:
        b.put(b'sev', {b'cf:a': b'1'})
        b.put(b'sev', {b'cf:b': b'2', b'f1:c': b'3'})
    return t.row(b'sev')


def mixed_wal(t):
    with t.batch(wal=False) as b:
        b.put(b'mw1', {b'cf:a': b'1'})
        b.put(b'mw2', {b'cf:a': b'2'}, wal=True)
    return [t.row(b'mw1'), t.row(b'mw2')]


def many(t):
    with t.batch() as b:
        for i in range(20000):
            b.put(b'm%06d' % i, {b'cf:n': b'%d' % i})


def order_in_batch(h, t):
    """A delete and a put of one row in one call: mutateRows deletes last, mutateRow first."""
    def batch():
        t.put(b'c05a', {b'cf:d': b'old'})
        with t.batch() as b:
            b.delete(b'c05a')
            b.put(b'c05a', {b'cf:d': b'v'})
        return t.row(b'c05a')

    def single_call():
        t.put(b'c05b', {b'cf:d': b'old'}, timestamp=1000)
        h.client.mutateRow(t.name, b'c05b', [
            thrift.Mutation(isDelete=True, column=b'cf'), thrift.Mutation(column=b'cf:d', value=b'v')], {})
        return t.row(b'c05b')

    def at_one_timestamp():
        t.put(b'c05c', {b'cf:d': b'old'}, timestamp=1000)
        h.client.mutateRowTs(t.name, b'c05c', [
            thrift.Mutation(column=b'cf:d', value=b'v'), thrift.Mutation(isDelete=True, column=b'cf:d')], 2000, {})
        return t.row(b'c05c')

    def put_later():
        with t.batch() as b:
            b.put(b'c05d', {b'cf:d': b'v'})
            b.delete(b'c05d', [b'cf:other'])
        return t.row(b'c05d')

    h.check('C05 mutateRows: delete and put of one row leave nothing', batch, {})
    h.check('C05 mutateRow: delete and put of one row leave the put', single_call, {b'cf:d': b'v'})
    h.check('C05 mutateRowTs: at one timestamp the delete wins', at_one_timestamp, {})
    h.check('C05 mutateRows: a delete of another column does not hide the put', put_later, {b'cf:d': b'v'})


def qualifiers(h, t):
    whole = {b'cf:a:b:c': b'1', b'cf:': b'2'}
    h.check('C17 put: colons in the qualifier, empty qualifier', lambda: (t.put(b'c17', whole), t.row(b'c17')), (None, whole))
    h.check('C17 row: cf: is the empty qualifier', lambda: t.row(b'c17', columns=[b'cf:']), {b'cf:': b'2'})
    h.check('C17 row: cf is the family', lambda: t.row(b'c17', columns=[b'cf']), whole)
    h.check('C17 row: the whole name after the first colon', lambda: t.row(b'c17', columns=[b'cf:a:b:c']), {b'cf:a:b:c': b'1'})
    h.check('C17 row: no part of a qualifier', lambda: t.row(b'c17', columns=[b'cf:a']), {})
    h.check('C17 cells: empty qualifier', lambda: t.cells(b'c17', b'cf:'), [b'2'])
    h.check('C17 put: an empty value is a cell', lambda: (t.put(b'c17e', {b'cf:': b''}), t.row(b'c17e')), (None, {b'cf:': b''}))
    h.check('C17 scan: an empty value is a cell', lambda: list(t.scan(row_prefix=b'c17e')), [(b'c17e', {b'cf:': b''})])
    h.check('C17 put: no colon', lambda: t.put(b'c17n', {b'cf': b'1'}), Raises(IllegalArgument), real=Closed())
    h.check('C17 mutateRow: a put without colon does nothing', lambda: (
        h.client.mutateRow(t.name, b'c17m', [thrift.Mutation(column=b'cf', value=b'1')], {}), t.row(b'c17m')), (None, {}))


def refusals(h, t):
    mutation = thrift.Mutation
    missing = h.table('missing')
    h.check('put: missing table', lambda: missing.put(b'r', {b'cf:a': b'1'}),
            Raises(IOError_, b'org.apache.hadoop.hbase.client.RetriesExhaustedWithDetailsException: Failed 1 action'))
    h.check('put: missing family', lambda: t.put(b'r', {b'nofam:a': b'1'}), Raises(IOError_, b'NoSuchColumnFamilyException', b'nofam'))
    h.check('put: empty row', lambda: t.put(b'', {b'cf:a': b'1'}), Raises(IllegalArgument, b'Row length is 0'), real=Closed())
    h.check('put: row of 32,768 bytes', lambda: t.put(b'k' * 32768, {b'cf:a': b'1'}), Raises(IllegalArgument, b'32768'), real=Closed())
    h.check('put: 12 MB value', lambda: t.put(b'big', {b'cf:a': b'x' * (12 << 20)}), Raises(IllegalArgument, b'KeyValue size too large'),
            real=Closed() if h.options.transport == 'framed' else SAME)  # its frames end at 2 MB
    h.check('put: nothing of the large value was stored', lambda: t.row(b'big'), {})
    h.check('mutateRow: no mutations', lambda: h.client.mutateRow(t.name, b'r', [], {}), None)
    h.check('mutateRows: no rows', lambda: h.client.mutateRows(t.name, [], {}), None)
    h.check('mutateRow: without value', lambda: (
        h.client.mutateRow(t.name, b'nov', [mutation(column=b'cf:z')], {}), t.row(b'nov')), (None, {b'cf:z': b''}))
    h.check('mutateRow: without column', lambda: h.client.mutateRow(t.name, b'r', [mutation(value=b'z')], {}),
            Raises(IllegalArgument), real=Closed())
    h.check('mutateRow: missing family', lambda: h.client.mutateRow(t.name, b'r', [mutation(column=b'nofam:a', value=b'1')], {}),
            Raises(IOError_, b'NoSuchColumnFamilyException', b'nofam'))
    h.check('mutateRow: negative timestamp', lambda: h.client.mutateRowTs(t.name, b'r', [mutation(column=b'cf:a', value=b'1')], -5, {}),
            Raises(IllegalArgument, b'Timestamp cannot be negative'))
    h.check('the table is as it was', lambda: (t.row(b'r'), t.row(b'r1')), That(
        'row r empty, row r1 whole', lambda r: r == ({}, {b'cf:a': b'1', b'f1:x': b'x1'})))


def unknown_family(h):
    """A family in the wrong case, in a batch with a good one."""
    t = h.make('c16', {'ips': {}})

    def batch():
        with t.batch() as b:
            b.put(b'good', {b'ips:a': b'1'})
            b.put(b'bad', {b'IPS:a': b'1'})

    h.check('C16 batch: a family in the wrong case is named', batch, Raises(IOError_, b'NoSuchColumnFamilyException', b'IPS'))
    h.check('C16 batch: the good row is stored, the bad one is not', lambda: list(t.scan()), [(b'good', {b'ips:a': b'1'})])
