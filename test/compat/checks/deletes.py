"""Deletes: of rows, families, columns, up to timestamps."""
from .harness import IOError_, Raises, thrift


def run(h):
    t = h.make('d', {'cf': dict(max_versions=5), 'f1': dict(max_versions=5)})
    by_happybase(h, t)
    up_to(h, t)
    raw(h, t)
    later(h, t)


def fresh(t, row):
    """A row with a column of three versions, and two more columns."""
    for at in (10, 20, 30):
        t.put(row, {b'cf:a': b'a%d' % at}, timestamp=at)
    t.put(row, {b'cf:b': b'b', b'f1:c': b'c'}, timestamp=20)


def after(t, row, action):
    fresh(t, row)
    action()
    return t.row(row)


def by_happybase(h, t):
    h.check('delete: a row', lambda: after(t, b'd1', lambda: t.delete(b'd1')), {})
    h.check('delete: a deleted row is not scanned', lambda: list(t.scan(row_prefix=b'd1')), [])
    h.check('delete: a column', lambda: after(t, b'd2', lambda: t.delete(b'd2', columns=[b'cf:a'])), {b'cf:b': b'b', b'f1:c': b'c'})
    h.check('delete: a column loses all its versions', lambda: t.cells(b'd2', b'cf:a'), [])
    h.check('delete: two columns', lambda: after(t, b'd3', lambda: t.delete(b'd3', columns=[b'cf:a', b'f1:c'])), {b'cf:b': b'b'})
    h.check('delete: a family', lambda: after(t, b'd4', lambda: t.delete(b'd4', columns=[b'cf'])), {b'f1:c': b'c'})
    h.check('delete: cf: is the empty qualifier', lambda: after(t, b'd5', lambda: t.delete(b'd5', columns=[b'cf:'])),
            {b'cf:a': b'a30', b'cf:b': b'b', b'f1:c': b'c'})
    h.check('delete: a row that is not there', lambda: t.delete(b'never'), None)
    h.check('delete: a column that is not there', lambda: after(t, b'd6', lambda: t.delete(b'd6', columns=[b'cf:zzz'])),
            {b'cf:a': b'a30', b'cf:b': b'b', b'f1:c': b'c'})
    h.check('delete: wal=False', lambda: after(t, b'd7', lambda: t.delete(b'd7', wal=False)), {})
    h.check('delete: in a batch', lambda: (fresh(t, b'd8'), fresh(t, b'd9'), batch(t), t.rows([b'd8', b'd9'])),
            (None, None, None, [(b'd9', {b'cf:b': b'b', b'f1:c': b'c'})]))
    h.check('delete: missing family', lambda: t.delete(b'd9', columns=[b'nofam:a']), Raises(IOError_, b'NoSuchColumnFamilyException', b'nofam'))


def batch(t):
    with t.batch() as b:
        b.delete(b'd8')
        b.delete(b'd9', columns=[b'cf:a'])


def up_to(h, t):
    h.check('delete: a row up to a timestamp', lambda: after(t, b'u1', lambda: t.delete(b'u1', timestamp=20)), {b'cf:a': b'a30'})
    h.check('C28 delete: a column up to a timestamp, inclusive', lambda: (
        after(t, b'u2', lambda: t.delete(b'u2', columns=[b'cf:a'], timestamp=20)), t.cells(b'u2', b'cf:a')),
        ({b'cf:a': b'a30', b'cf:b': b'b', b'f1:c': b'c'}, [b'a30']))
    h.check('delete: a column before all versions', lambda: (
        after(t, b'u3', lambda: t.delete(b'u3', columns=[b'cf:a'], timestamp=9)), t.cells(b'u3', b'cf:a'))[1], [b'a30', b'a20', b'a10'])
    h.check('delete: a family up to a timestamp', lambda: after(t, b'u4', lambda: t.delete(b'u4', columns=[b'cf'], timestamp=25)),
            {b'cf:a': b'a30', b'f1:c': b'c'})


def raw(h, t):
    c, mutation = lambda: h.client, thrift.Mutation
    h.check('deleteAll: a column', lambda: after(t, b'a1', lambda: c().deleteAll(t.name, b'a1', b'cf:a', {})), {b'cf:b': b'b', b'f1:c': b'c'})
    h.check('deleteAll: a family', lambda: after(t, b'a2', lambda: c().deleteAll(t.name, b'a2', b'cf', {})), {b'f1:c': b'c'})
    h.check('deleteAllTs: inclusive', lambda: (
        after(t, b'a3', lambda: c().deleteAllTs(t.name, b'a3', b'cf:a', 20, {})), t.cells(b'a3', b'cf:a'))[1], [b'a30'])
    h.check('deleteAllTs: a family', lambda: after(t, b'a4', lambda: c().deleteAllTs(t.name, b'a4', b'cf', 20, {})), {b'cf:a': b'a30', b'f1:c': b'c'})
    h.check('deleteAllRow', lambda: after(t, b'a5', lambda: c().deleteAllRow(t.name, b'a5', {})), {})
    h.check('deleteAllRowTs: inclusive', lambda: after(t, b'a6', lambda: c().deleteAllRowTs(t.name, b'a6', 20, {})), {b'cf:a': b'a30'})
    h.check('mutateRow: delete of a family', lambda: after(
        t, b'a7', lambda: c().mutateRow(t.name, b'a7', [mutation(isDelete=True, column=b'cf')], {})), {b'f1:c': b'c'})
    h.check('mutateRowTs: delete of a column', lambda: after(
        t, b'a8', lambda: c().mutateRowTs(t.name, b'a8', [mutation(isDelete=True, column=b'cf:a')], 30, {})), {b'cf:b': b'b', b'f1:c': b'c'})
    h.check('deleteAll: missing table', lambda: c().deleteAll(h.raw('missing'), b'r', b'cf:a', {}), Raises(IOError_, b'TableNotFoundException'))


def later(h, t):
    """What is written under a marker's timestamp stays hidden; above it, it shows."""
    def below():
        t.delete(b'l1', columns=[b'cf:a'], timestamp=100)
        t.put(b'l1', {b'cf:a': b'below'}, timestamp=100)
        return t.row(b'l1')

    def above():
        t.delete(b'l2', columns=[b'cf:a'], timestamp=100)
        t.put(b'l2', {b'cf:a': b'above'}, timestamp=101)
        return t.row(b'l2')

    def again():
        fresh(t, b'l3')
        h.client.deleteAllRowTs(t.name, b'l3', 1000, {})
        t.put(b'l3', {b'f1:c': b'again'})
        return t.row(b'l3')

    h.check('a put at the timestamp of a delete stays hidden', below, {})
    h.check('a put after a delete shows', above, {b'cf:a': b'above'})
    h.check('a row put again after its delete has the new cells only', again, {b'f1:c': b'again'})
