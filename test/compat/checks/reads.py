"""Reads of rows that are named: row, rows, cells and the calls beneath them."""
from .harness import Closed, IllegalArgument, IOError_, Raises, That, thrift


def run(h):
    t = h.make('r', {'cf': dict(max_versions=3), 'f1': dict(max_versions=5)})
    for at in (10, 20, 30, 40):
        t.put(b'v', {b'cf:a': b'a%d' % at, b'f1:b': b'b%d' % at}, timestamp=at)
    t.put(b'r1', {b'cf:a': b'1', b'cf:b': b'2', b'f1:c': b'3'}, timestamp=100)
    t.put(b'r2', {b'cf:a': b'4'}, timestamp=200)
    row(h, t)
    rows(h, t)
    cells(h, t)
    raw(h, t)
    refusals(h, t)


def row(h, t):
    h.check('row', lambda: t.row(b'r1'), {b'cf:a': b'1', b'cf:b': b'2', b'f1:c': b'3'})
    h.check('row: absent', lambda: t.row(b'nope'), {})
    h.check('row: include_timestamp', lambda: t.row(b'r1', include_timestamp=True),
            {b'cf:a': (b'1', 100), b'cf:b': (b'2', 100), b'f1:c': (b'3', 100)})
    h.check('row: one column', lambda: t.row(b'r1', columns=[b'cf:b']), {b'cf:b': b'2'})
    h.check('row: one family', lambda: t.row(b'r1', columns=[b'cf']), {b'cf:a': b'1', b'cf:b': b'2'})
    h.check('row: a column and a family', lambda: t.row(b'r1', columns=[b'cf:a', b'f1']), {b'cf:a': b'1', b'f1:c': b'3'})
    h.check('row: a column and its own family', lambda: t.row(b'r1', columns=[b'cf:a', b'cf']), {b'cf:a': b'1', b'cf:b': b'2'})
    h.check('row: a column that it has not', lambda: t.row(b'r1', columns=[b'cf:zzz']), {})
    h.check('row: no columns is all', lambda: t.row(b'r1', columns=[]), {b'cf:a': b'1', b'cf:b': b'2', b'f1:c': b'3'})
    h.check('row: timestamp is exclusive', lambda: t.row(b'v', timestamp=30), {b'cf:a': b'a20', b'f1:b': b'b20'})
    h.check('row: timestamp just after', lambda: t.row(b'v', timestamp=31), {b'cf:a': b'a30', b'f1:b': b'b30'})
    h.check('row: timestamp and columns', lambda: t.row(b'v', columns=[b'f1:b'], timestamp=21, include_timestamp=True), {b'f1:b': (b'b20', 20)})
    h.check('row: timestamp before all', lambda: t.row(b'v', timestamp=10), {})
    h.check('row: an older surplus version shows through a narrow range', lambda: t.row(b'v', columns=[b'cf:a'], timestamp=20), {b'cf:a': b'a10'})


def rows(h, t):
    one, two = (b'r1', {b'cf:a': b'1', b'cf:b': b'2', b'f1:c': b'3'}), (b'r2', {b'cf:a': b'4'})
    h.check('C08 rows: a missing row leaves no place', lambda: t.rows([b'r1', b'nope', b'r2']), [one, two])
    h.check('C08 rows: in the order of the request', lambda: t.rows([b'r2', b'r1']), [two, one])
    h.check('C08 rows: a row asked twice comes twice', lambda: t.rows([b'r1', b'r1']), [one, one])
    h.check('C08 rows: all missing', lambda: t.rows([b'nope', b'nope2']), [])
    h.check('rows: a tuple of keys', lambda: t.rows((b'r1', b'r2')), [one, two])
    h.check('rows: columns', lambda: t.rows([b'r1', b'r2'], columns=[b'cf:a']), [(b'r1', {b'cf:a': b'1'}), two])
    h.check('rows: a row without the column leaves no place', lambda: t.rows([b'r1', b'r2'], columns=[b'f1']), [(b'r1', {b'f1:c': b'3'})])
    h.check('rows: timestamp', lambda: t.rows([b'r1', b'r2'], timestamp=200), [one])
    h.check('rows: timestamp and columns', lambda: t.rows([b'r1', b'v'], columns=[b'cf:a'], timestamp=31, include_timestamp=True),
            [(b'v', {b'cf:a': (b'a30', 30)})])
    h.check('rows: 1,000 keys', lambda: len(t.rows([b'r1', b'r2'] * 500)), 1000)


def cells(h, t):
    h.check('cells: as many as the family keeps', lambda: t.cells(b'v', b'cf:a'), [b'a40', b'a30', b'a20'])
    h.check('cells: a family that keeps five', lambda: t.cells(b'v', b'f1:b'), [b'b40', b'b30', b'b20', b'b10'])
    h.check('cells: versions', lambda: t.cells(b'v', b'f1:b', versions=2), [b'b40', b'b30'])
    h.check('cells: include_timestamp', lambda: t.cells(b'v', b'cf:a', versions=2, include_timestamp=True), [(b'a40', 40), (b'a30', 30)])
    h.check('cells: timestamp is exclusive', lambda: t.cells(b'v', b'f1:b', timestamp=30), [b'b20', b'b10'])
    h.check('cells: timestamp and versions', lambda: t.cells(b'v', b'f1:b', versions=1, timestamp=40), [b'b30'])
    h.check('cells: absent column', lambda: t.cells(b'v', b'cf:zzz'), [])
    h.check('cells: absent row', lambda: t.cells(b'nope', b'cf:a'), [])
    h.check('cells: a family', lambda: sorted(t.cells(b'r1', b'cf')), [b'1', b'2'])


def raw(h, t):
    """Calls that happybase does not make but other clients do."""
    cell, result = thrift.TCell, thrift.TRowResult
    c, name = h.client, t.name
    r2 = result(row=b'r2', columns={b'cf:a': cell(b'4', 200)})
    h.check('get', lambda: h.client.get(name, b'r2', b'cf:a', {}), [cell(b'4', 200)])
    h.check('get: a family', lambda: h.client.get(name, b'r2', b'cf', {}), [cell(b'4', 200)])
    h.check('get: absent', lambda: h.client.get(name, b'nope', b'cf:a', {}), [])
    h.check('getVer', lambda: h.client.getVer(name, b'v', b'cf:a', 2, {}), [cell(b'a40', 40), cell(b'a30', 30)])
    h.check('getVer: more than there are', lambda: len(h.client.getVer(name, b'v', b'cf:a', 100, {})), 3)
    h.check('getVer: 0 versions', lambda: h.client.getVer(name, b'r2', b'cf:a', 0, {}), Raises(IOError_, b'maxVersions must be positive'))
    h.check('getVerTs', lambda: h.client.getVerTs(name, b'v', b'cf:a', 31, 2, {}), [cell(b'a30', 30), cell(b'a20', 20)])
    h.check('getRow', lambda: h.client.getRow(name, b'r2', {}), [r2])
    h.check('C08 getRow: absent', lambda: h.client.getRow(name, b'nope', {}), [])
    h.check('getRowTs: exclusive', lambda: (h.client.getRowTs(name, b'r2', 200, {}), h.client.getRowTs(name, b'r2', 201, {})), ([], [r2]))
    h.check('getRows', lambda: h.client.getRows(name, [b'r2', b'nope', b'r2'], {}), [r2, r2])
    h.check('getRows: no keys', lambda: h.client.getRows(name, [], {}), [])
    h.check('getRowsTs', lambda: h.client.getRowsTs(name, [b'r2', b'r1'], 201, {})[0], r2)
    h.check('getRowWithColumns: absent list', lambda: h.client.getRowWithColumns(name, b'r2', None, {}), [r2])
    h.check('attributes that mean nothing are ignored', lambda: h.client.getRow(name, b'r2', {b'a': b'b', b'': b''}), [r2])


def refusals(h, t):
    missing = h.table('missing')
    not_found = Raises(IOError_, b'org.apache.hadoop.hbase.TableNotFoundException: Table \'' + missing.name + b"' was not found")
    no_family = Raises(IOError_, b'NoSuchColumnFamilyException', b'nofam')
    h.check('row: missing table', lambda: missing.row(b'r'), not_found)
    h.check('rows: missing table', lambda: missing.rows([b'r']), Raises(IOError_, b'TableNotFoundException'), real=Raises(IOError_))
    h.check('cells: missing table', lambda: missing.cells(b'r', b'cf:a'), not_found)
    h.check('row: missing family', lambda: t.row(b'r1', columns=[b'nofam:x']), no_family)
    h.check('rows: missing family', lambda: t.rows([b'r1'], columns=[b'nofam']), no_family)
    h.check('cells: missing family', lambda: t.cells(b'r1', b'nofam:x'), no_family)
    h.check('getRow: empty key', lambda: h.client.getRow(t.name, b'', {}), Raises(IOError_, b'java.lang.IllegalArgumentException', b'Row length is 0'), real=Closed())
