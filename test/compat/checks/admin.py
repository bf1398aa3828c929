"""Tables: create, list, describe, enable, disable, compact, regions, delete."""
from .harness import AlreadyExists, Closed, IllegalArgument, IOError_, Raises, Skip, That, thrift

DEFAULTS = {
    'max_versions': 3, 'compression': b'NONE', 'in_memory': False, 'bloom_filter_type': b'NONE',
    'bloom_filter_vector_size': 0, 'bloom_filter_nb_hashes': 0, 'block_cache_enabled': False,
    'time_to_live': 2147483647,
}


def family(name, **more):
    return dict(DEFAULTS, name=name, **more)


def run(h):
    create(h)
    refusals(h)
    missing(h)
    states(h)
    regions(h)
    compactions(h)
    drop(h)


def create(h):
    h.check('tables of an empty server', lambda: ours(h), [])
    h.check('create_table', lambda: h.conn.create_table(h.name('t'), {
        'cf': {}, 'f1:': dict(max_versions=5), 'ttl': dict(time_to_live=3600),
        'all': dict(max_versions=7, compression='GZ', in_memory=True, bloom_filter_type='ROWCOL',
                    block_cache_enabled=True, time_to_live=86400)}), None)
    h.check('tables', lambda: ours(h), [h.raw('t')])
    h.check('families', lambda: h.table('t').families(), {
        b'cf': family(b'cf:'),
        b'f1': family(b'f1:') | {'max_versions': 5},
        b'ttl': family(b'ttl:') | {'time_to_live': 3600},
        b'all': family(b'all:') | dict(max_versions=7, compression=b'GZ', in_memory=True,
                                       bloom_filter_type=b'ROWCOL', block_cache_enabled=True, time_to_live=86400),
    })
    h.check('a new table is enabled', lambda: h.conn.is_table_enabled(h.name('t')), True)
    h.check('createTable: family without a colon', lambda: (
        h.client.createTable(h.raw('bare'), [thrift.ColumnDescriptor(name=b'a')]),
        sorted(h.client.getColumnDescriptors(h.raw('bare')))), (None, [b'a:']))
    h.check('createTable: what follows the colon is not part of the name', lambda: (
        h.client.createTable(h.raw('tail'), [thrift.ColumnDescriptor(name=b'a:b')]),
        sorted(h.client.getColumnDescriptors(h.raw('tail')))), (None, [b'a:']))
    h.check('tables are sorted by name', lambda: ours(h), [h.raw('bare'), h.raw('t'), h.raw('tail')])


def ours(h):
    return [n for n in h.conn.tables() if n.startswith(h.options.prefix.encode())]


def refusals(h):
    def make(*families):
        return lambda: h.client.createTable(h.raw('refused'), list(families))

    column = thrift.ColumnDescriptor
    h.check('C16 create_table: name in use', lambda: h.conn.create_table(h.name('t'), {'cf': {}}),
            Raises(AlreadyExists, b'table name already in use'))
    h.check('createTable: no families', make(),
            Raises(IOError_, b'org.apache.hadoop.hbase.DoNotRetryIOException', b'Table should have at least one column family'))
    h.check('createTable: the same family twice', make(column(name=b'a:'), column(name=b'a:')),
            Raises(IllegalArgument, b"Family 'a' already exists so cannot be added"))
    h.check('createTable: unknown compression', make(column(name=b'a:', compression=b'LZ9')),
            Raises(IllegalArgument, b'Unsupported compression algorithm name: lz9'))
    h.check('createTable: unknown bloom filter', make(column(name=b'a:', bloomFilterType=b'ZZ')),
            Raises(IllegalArgument, b'No enum constant org.apache.hadoop.hbase.regionserver.BloomType.ZZ'))
    h.check('createTable: no versions', make(column(name=b'a:', maxVersions=0)),
            Raises(IllegalArgument, b'Maximum versions must be positive'))
    h.check('createTable: empty family name', make(column(name=b'')),
            Raises(IllegalArgument, b'column name is empty'))
    h.check('C16 create_table: unknown namespace', lambda: h.conn.create_table('nosuch:t', {'cf': {}}),
            Raises(IOError_, b'NamespaceNotFoundException', b'nosuch'))
    h.check('create_table: a space in the name', lambda: h.conn.create_table('bad name', {'cf': {}}),
            Raises(IllegalArgument, b'bad name'), real=Closed())
    h.check('nothing refused was made', lambda: ours(h), [h.raw('bare'), h.raw('t'), h.raw('tail')])


def missing(h):
    not_found = b'org.apache.hadoop.hbase.TableNotFoundException: '
    name = h.name('missing')
    h.check('is_table_enabled: missing table', lambda: h.conn.is_table_enabled(name), Raises(IOError_, not_found + name.encode()))
    h.check('families: missing table', lambda: h.table('missing').families(), Raises(IOError_, not_found + name.encode()))
    h.check('disable_table: missing table', lambda: h.conn.disable_table(name), Raises(IOError_, not_found + name.encode()))
    h.check('enable_table: missing table', lambda: h.conn.enable_table(name), Raises(IOError_, not_found + name.encode()))
    h.check('regions: missing table', lambda: h.table('missing').regions(), [])
    h.check('C16 delete_table: missing table', lambda: h.conn.delete_table(name), Raises(IOError_, b'table does not exist'))


def states(h):
    name, t = h.name('t'), h.table('t')
    t.put(b'before', {b'cf:a': b'1'})
    h.check('delete_table: enabled', lambda: h.conn.delete_table(name), Raises(IOError_, b'TableNotDisabledException', name.encode()))
    h.check('enable_table: enabled', lambda: h.conn.enable_table(name), Raises(IOError_, b'TableNotDisabledException', name.encode()))
    h.check('disable_table', lambda: h.conn.disable_table(name), None)
    h.check('a disabled table is not enabled', lambda: h.conn.is_table_enabled(name), False)
    h.check('disable_table: disabled', lambda: h.conn.disable_table(name), Raises(IOError_, b'TableNotEnabledException', name.encode()))
    h.check('a disabled table is listed', lambda: name.encode() in h.conn.tables(), True)
    h.check('a disabled table has families', lambda: sorted(t.families()), [b'all', b'cf', b'f1', b'ttl'])
    h.check('scan: disabled table', lambda: list(t.scan()), Raises(IOError_, b'TableNotEnabledException', name.encode()))
    slow = Skip('its client tries again for minutes')
    h.check('put: disabled table', lambda: t.put(b'r', {b'cf:a': b'1'}), Raises(IOError_, b'TableNotEnabledException'), real=slow)
    h.check('row: disabled table', lambda: t.row(b'before'), Raises(IOError_, b'TableNotEnabledException'), real=slow)
    h.check('counter_inc: disabled table', lambda: t.counter_inc(b'r', b'cf:a'), Raises(IOError_, b'TableNotEnabledException'), real=slow)
    h.check('enable_table', lambda: h.conn.enable_table(name), None)
    h.check('data survives disable and enable', lambda: t.row(b'before'), {b'cf:a': b'1'})
    h.check('nothing was put while disabled', lambda: t.row(b'r'), {})


def regions(h):
    t, name = h.table('t'), h.raw('t')
    h.check('regions: one, over all keys', lambda: [(r['start_key'], r['end_key']) for r in t.regions()], [(b'', b'')])
    h.check('regions: fields', lambda: t.regions()[0], That('name TABLE,,ID.MD5., version 1, a host and a port', lambda r: (
        r['version'] == 1 and r['server_name'] and 0 < r['port'] < 65536 and r['id'] > 10**12 and
        r['name'].startswith(name + b',,%d.' % r['id']) and r['name'].endswith(b'.') and len(r['name']) == len(name) + 2 + 13 + 34)))
    h.check('regions: the same when asked again', lambda: t.regions() == t.regions(), True)
    h.check('getRegionInfo', lambda: h.client.getRegionInfo(name + b',k,99999999999999').name == t.regions()[0]['name'], True)


def compactions(h):
    t, name = h.table('t'), h.name('t')
    t.put(b'kept', {b'cf:a': b'1'})
    h.check('compact_table', lambda: h.conn.compact_table(name), None)
    h.check('compact_table: major', lambda: h.conn.compact_table(name, major=True), None)
    h.check('compact a region by name', lambda: h.client.compact(t.regions()[0]['name']), None)
    h.check('compact a region by name, major', lambda: h.client.majorCompact(t.regions()[0]['name']), None)
    h.check('data survives compactions', lambda: t.row(b'kept'), {b'cf:a': b'1'})
    h.check('compact_table: missing table', lambda: h.conn.compact_table(h.name('missing')), Raises(IOError_, b'TableNotFoundException'))


def drop(h):
    h.check('delete_table: disable=True', lambda: h.conn.delete_table(h.name('t'), disable=True), None)
    h.check('delete_table: after disable_table', lambda: (
        h.conn.disable_table(h.name('bare')), h.conn.delete_table(h.name('bare'))), (None, None))
    h.check('tables: the deleted are gone', lambda: ours(h), [h.raw('tail')])
    h.check('a table made again is empty', lambda: (
        h.conn.create_table(h.name('t'), {'cf': {}}), list(h.table('t').scan())), (None, []))
