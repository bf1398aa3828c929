"""Scans with filters, in HBase's filter language."""
from .harness import Closed, IOError_, Raises, Skip, thrift


def run(h):
    t = h.make('fl', {'cf': dict(max_versions=3), 'f1': {}})
    for i in range(20):
        t.put(b'a%02d' % i if i % 2 else b'b%02d' % i,
              {b'cf:n': b'%d' % i, b'cf:parity': b'odd' if i % 2 else b'even', b'f1:Name': b'Name%d' % i}, timestamp=100 + i)
    t.put(b'c', {b'cf:other': b'x'}, timestamp=500)
    rows(h, t)
    cells(h, t)
    values(h, t)
    combined(h, t)
    counted(h)
    refused(h, t)


def keys(t, text, **more):
    return b' '.join(k for k, _ in t.scan(filter=text, **more))


def cellnames(t, text, **more):
    """The columns of the rows found, a row each."""
    return [(k, sorted(d)) for k, d in t.scan(filter=text, **more)]


ODD = b' '.join(b'a%02d' % i for i in range(1, 20, 2))
EVEN = b' '.join(b'b%02d' % i for i in range(0, 20, 2))


def rows(h, t):
    h.check('filter: PrefixFilter', lambda: keys(t, b"PrefixFilter('a')"), ODD)
    h.check('filter: PrefixFilter and limit', lambda: keys(t, b"PrefixFilter('b')", limit=3), b'b00 b02 b04')
    h.check('filter: RowFilter, binary', lambda: keys(t, b"RowFilter(=, 'binary:a07')"), b'a07')
    h.check('filter: RowFilter, above', lambda: keys(t, b"RowFilter(>, 'binary:b15')"), b'b16 b18 c')
    h.check('filter: RowFilter, not below', lambda: keys(t, b"RowFilter(>=, 'binary:b16')"), b'b16 b18 c')
    h.check('filter: RowFilter, binaryprefix', lambda: keys(t, b"RowFilter(=, 'binaryprefix:b1')"), b'b10 b12 b14 b16 b18')
    h.check('filter: RowFilter, substring', lambda: keys(t, b"RowFilter(=, 'substring:9')"), b'a09 a19')
    h.check('C14 filter: RowFilter, regexstring', lambda: keys(t, b"RowFilter(=, 'regexstring:^a')"), ODD)
    h.check('filter: RowFilter, regexstring within', lambda: keys(t, b"RowFilter(=, 'regexstring:[ab]0[78]')"), b'a07 b08')
    h.check('filter: RowFilter, not regexstring', lambda: keys(t, b"RowFilter(!=, 'regexstring:^[ab]')"), b'c')
    h.check('filter: InclusiveStopFilter', lambda: keys(t, b"InclusiveStopFilter('a05')"), b'a01 a03 a05')
    h.check('filter: PageFilter', lambda: keys(t, b'PageFilter(3)'), b'a01 a03 a05')
    h.check('filter: reverse', lambda: keys(t, b"PrefixFilter('a')", row_start=b'a99', reverse=True, limit=2), b'a19 a17')
    h.check('filter: a quote in a value', lambda: keys(t, b"PrefixFilter('it''s')"), b'')


def cells(h, t):
    one = lambda text: cellnames(t, text, row_start=b'a01', row_stop=b'a02')
    h.check('filter: FamilyFilter', lambda: one(b"FamilyFilter(=, 'binary:f1')"), [(b'a01', [b'f1:Name'])])
    h.check('filter: QualifierFilter', lambda: one(b"QualifierFilter(=, 'binary:n')"), [(b'a01', [b'cf:n'])])
    h.check('filter: QualifierFilter, below', lambda: one(b"QualifierFilter(<, 'binary:n')"), [(b'a01', [b'f1:Name'])])
    h.check('filter: ColumnPrefixFilter', lambda: one(b"ColumnPrefixFilter('par')"), [(b'a01', [b'cf:parity'])])
    h.check('filter: MultipleColumnPrefixFilter', lambda: one(b"MultipleColumnPrefixFilter('N','par')"), [(b'a01', [b'cf:parity', b'f1:Name'])])
    h.check('filter: ColumnRangeFilter', lambda: one(b"ColumnRangeFilter('n', true, 'parity', false)"), [(b'a01', [b'cf:n'])])
    h.check('filter: ColumnRangeFilter, inclusive', lambda: one(b"ColumnRangeFilter('n', false, 'parity', true)"), [(b'a01', [b'cf:parity'])])
    h.check('filter: FirstKeyOnlyFilter', lambda: one(b'FirstKeyOnlyFilter()'), [(b'a01', [b'cf:n'])])
    h.check('filter: KeyOnlyFilter', lambda: list(t.scan(filter=b'KeyOnlyFilter()', limit=1)), [(b'a01', {b'cf:n': b'', b'cf:parity': b'', b'f1:Name': b''})])
    h.check('filter: KeyOnlyFilter with lengths', lambda: list(t.scan(filter=b'KeyOnlyFilter(true)', columns=[b'cf:parity'], limit=1)),
            [(b'a01', {b'cf:parity': b'\0\0\0\x03'})])
    h.check('filter: ColumnPaginationFilter', lambda: one(b'ColumnPaginationFilter(1, 1)'), [(b'a01', [b'cf:parity'])])
    h.check('filter: TimestampsFilter', lambda: keys(t, b'TimestampsFilter(101, 104, 999)'), b'a01 b04')
    h.check('C14 filter: KeyOnlyFilter AND FirstKeyOnlyFilter', lambda: list(t.scan(filter=b'KeyOnlyFilter() AND FirstKeyOnlyFilter()', limit=2)),
            [(b'a01', {b'cf:n': b''}), (b'a03', {b'cf:n': b''})])


def values(h, t):
    h.check('filter: ValueFilter', lambda: cellnames(t, b"ValueFilter(=, 'binary:7')"), [(b'a07', [b'cf:n'])])
    h.check('filter: ValueFilter, substring takes any case', lambda: keys(t, b"ValueFilter(=, 'substring:NAME18')"), b'b18')
    h.check('filter: SingleColumnValueFilter', lambda: cellnames(t, b"SingleColumnValueFilter('cf','n',=,'binary:7')"),
            [(b'a07', [b'cf:n', b'cf:parity', b'f1:Name']), (b'c', [b'cf:other'])])
    h.check('filter: SingleColumnValueFilter, not without the column', lambda: keys(t, b"SingleColumnValueFilter('cf','n',=,'binary:7',true,true)"), b'a07')
    h.check('filter: SingleColumnValueExcludeFilter', lambda: cellnames(t, b"SingleColumnValueExcludeFilter('cf','n',=,'binary:7',true,true)"),
            [(b'a07', [b'cf:parity', b'f1:Name'])])
    h.check('filter: DependentColumnFilter', lambda: cellnames(t, b"DependentColumnFilter('f1','Name')", row_prefix=b'a01'),
            [(b'a01', [b'cf:n', b'cf:parity', b'f1:Name'])])


def combined(h, t):
    h.check('filter: AND', lambda: keys(t, b"PrefixFilter('a') AND ValueFilter(=, 'binary:7')"), b'a07')
    h.check('filter: OR', lambda: keys(t, b"RowFilter(=, 'binary:a01') OR RowFilter(=, 'binary:b18')"), b'a01 b18')
    h.check('filter: AND before OR', lambda: keys(t, b"RowFilter(=,'binary:c') OR PrefixFilter('a') AND ValueFilter(=,'binary:3')"), b'a03 c')
    h.check('filter: parentheses', lambda: keys(t, b"(RowFilter(=,'binary:a01') OR RowFilter(=,'binary:a03')) AND QualifierFilter(=,'binary:n')"), b'a01 a03')
    h.check('filter: SKIP', lambda: keys(t, b"SKIP ValueFilter(!=, 'binary:odd')"), EVEN + b' c')
    h.check('filter: WHILE', lambda: keys(t, b"WHILE RowFilter(!=, 'binary:a07')"), b'a01 a03 a05')


def counted(h):
    """Few rows among many: no short batch before the last, and no empty one."""
    t = h.make('c01', {'cf': {}})
    with t.batch() as b:
        for i in range(10000):
            b.put(b'r%05d' % i, {b'cf:n': b'edge' if i in (0, 9999) else b'inside'})

    def batches():
        scan = thrift.TScan(filterString=b"SingleColumnValueFilter('cf','n',=,'binary:edge')", caching=2)
        scanner = h.client.scannerOpenWithScan(t.name, scan, {})
        got = [[r.row for r in h.client.scannerGetList(scanner, 2)] for _ in range(2)]
        h.client.scannerClose(scanner)
        return got

    h.check('C01 filter: two rows of 10,000 in one batch', batches, [[b'r00000', b'r09999'], []])
    v = h.make('c04', {'cf': {}})
    for row, value in ((b'1', b'v1'), (b'2', b'v2'), (b'3', b'v1')):
        v.put(row, {b'cf:a': value})
    text = b"SingleColumnValueFilter('cf','a',=,'binary:v1')"
    h.check('C04 filter: of whole rows', lambda: keys(v, text), b'1 3')
    h.check('C04 filter: of whole rows cannot be cut', lambda: keys(v, text, scan_batching=1),
            Raises(IOError_, b'Cannot set batch on a scan using a filter that returns true for filter.hasFilterRow'),
            real=Skip('it answers so, but its client tries again for a minute first'))
    h.check('C04 filter: the connection lives', lambda: keys(v, text, limit=1), b'1')


def refused(h, t):
    for text in (b"RowFilter(RegexStringComparator, '^a')", b"NoSuchFilter('x')", b"PrefixFilter('a'", b'(', b"PrefixFilter(a)",
                 b"RowFilter(=, 'null:a')", b"RowFilter(<, 'substring:a')", b"PageFilter('2')"):
        h.check('C14 filter: %s is refused' % text.decode(), lambda: list(t.scan(filter=text)), Raises(IOError_), real=Closed())
    h.check('C14 filter: the connection lives', lambda: keys(t, None, limit=1), b'a01')
