"""Counters, and the other calls that read before they write."""
from .harness import IOError_, Raises, That, thrift

LONG = 2**63 - 1


def run(h):
    t = h.make('c', {'cf': {}})
    counters(h, t)
    edges(h, t)
    structs(h, t)
    appends(h, t)
    checks(h, t)


def counters(h, t):
    h.check('counter_inc', lambda: t.counter_inc(b'n', b'cf:c'), 1)
    h.check('counter_inc: by 10', lambda: t.counter_inc(b'n', b'cf:c', 10), 11)
    h.check('counter_dec', lambda: t.counter_dec(b'n', b'cf:c'), 10)
    h.check('counter_dec: by 3', lambda: t.counter_dec(b'n', b'cf:c', 3), 7)
    h.check('counter_get', lambda: t.counter_get(b'n', b'cf:c'), 7)
    h.check('counter_set', lambda: (t.counter_set(b'n', b'cf:c', 5), t.counter_get(b'n', b'cf:c')), (None, 5))
    h.check('a counter is 8 bytes, big endian', lambda: t.row(b'n'), {b'cf:c': b'\0\0\0\0\0\0\0\x05'})
    h.check('counter_inc: after a set', lambda: t.counter_inc(b'n', b'cf:c', 2), 7)
    h.check('counter_inc: empty qualifier', lambda: (t.counter_inc(b'nq', b'cf:', 4), t.row(b'nq')), (4, {b'cf:': b'\0\0\0\0\0\0\0\x04'}))
    h.check('counter_inc: after a delete starts at nothing', lambda: restart(t), 3)
    h.check('a delete right after increments hides them', lambda: deleted(t), {})
    h.check('counter_inc: 200 times', lambda: [t.counter_inc(b'many', b'cf:c') for _ in range(200)], list(range(1, 201)))


def deleted(t):
    for _ in range(20):
        t.counter_inc(b'nd', b'cf:c')
    t.delete(b'nd', columns=[b'cf:c'])
    return t.row(b'nd')


def restart(t):
    t.put(b'nr', {b'cf:c': (41).to_bytes(8, 'big')}, timestamp=1000)
    t.delete(b'nr', columns=[b'cf:c'], timestamp=2000)
    return t.counter_inc(b'nr', b'cf:c', 3)


def edges(h, t):
    t.put(b'text', {b'cf:n': b'1'})
    h.check('C07 counter_inc: on one byte', lambda: t.counter_inc(b'text', b'cf:n'),
            Raises(IOError_, b'org.apache.hadoop.hbase.DoNotRetryIOException', b"Field is not a long, it's 1 bytes wide"))
    h.check('C07 counter_inc: the byte is as it was', lambda: t.row(b'text'), {b'cf:n': b'1'})
    h.check('C07 counter_inc: absent cell, 5 then -7', lambda: (t.counter_inc(b'e', b'cf:n', 5), t.counter_inc(b'e', b'cf:n', -7)), (5, -2))
    h.check('C07 counter_inc: wraps', lambda: (t.counter_set(b'w', b'cf:n', LONG), t.counter_inc(b'w', b'cf:n')), (None, -LONG - 1))
    h.check('C07 counter_dec: wraps', lambda: t.counter_dec(b'w', b'cf:n'), LONG)
    h.check('C07 counter_get: absent cell', lambda: t.counter_get(b'zero', b'cf:n'), 0)
    h.check('C07 counter_get: makes the cell', lambda: t.row(b'zero'), {b'cf:n': b'\0' * 8})
    h.check('counter_inc: missing family', lambda: t.counter_inc(b'e', b'nofam:n'), Raises(IOError_, b'NoSuchColumnFamilyException'))
    h.check('counter_inc: missing table', lambda: h.table('missing').counter_inc(b'e', b'cf:n'), Raises(IOError_, b'TableNotFoundException'))


def structs(h, t):
    def inc(column, amount):
        return thrift.TIncrement(table=t.name, row=b'st', column=column, ammount=amount)

    h.check('increment', lambda: (h.client.increment(inc(b'cf:n', 3)), t.counter_get(b'st', b'cf:n')), (None, 3))
    h.check('incrementRows', lambda: (
        h.client.incrementRows([inc(b'cf:n', 4), inc(b'cf:m', 1), inc(b'cf:n', 5)]),
        t.counter_get(b'st', b'cf:n'), t.counter_get(b'st', b'cf:m')), (None, 12, 1))


def appends(h, t):
    def append(row, columns, values):
        return [c.value for c in h.client.append(thrift.TAppend(table=t.name, row=row, columns=columns, values=values))]

    h.check('append: to an absent cell', lambda: append(b'ap', [b'cf:a'], [b'abc']), [b'abc'])
    h.check('append: again', lambda: append(b'ap', [b'cf:a'], [b'def']), [b'abcdef'])
    h.check('append: is read back', lambda: t.row(b'ap'), {b'cf:a': b'abcdef'})
    h.check('append: two columns', lambda: append(b'ap', [b'cf:a', b'cf:b'], [b'!', b'x']), [b'abcdef!', b'x'])
    h.check('append: missing family', lambda: append(b'ap', [b'nofam:a'], [b'1']), Raises(IOError_, b'NoSuchColumnFamilyException'))


def checks(h, t):
    def put(row, value, new, column=b'cf:n'):
        return h.client.checkAndPut(t.name, row, column, value, thrift.Mutation(column=column, value=new), {})

    t.put(b'cp', {b'cf:n': b'1'})
    h.check('checkAndPut: another value', lambda: (put(b'cp', b'zzz', b'q'), t.row(b'cp')), (False, {b'cf:n': b'1'}))
    h.check('checkAndPut: the value', lambda: (put(b'cp', b'1', b'q'), t.row(b'cp')), (True, {b'cf:n': b'q'}))
    h.check('checkAndPut: absence, absent', lambda: (put(b'cpn', None, b'q'), t.row(b'cpn')), (True, {b'cf:n': b'q'}))
    h.check('checkAndPut: absence, present', lambda: (put(b'cpn', None, b'r'), t.row(b'cpn')), (False, {b'cf:n': b'q'}))
    h.check('checkAndPut: missing family', lambda: put(b'cp', b'1', b'q', b'nofam:n'), Raises(IOError_, b'NoSuchColumnFamilyException'))
